package engine

import (
	"context"
	"sync"

	"emberd/memory"
	"emberd/stm"
)

// adding are the additions under way. Two of one thing wait for one another, so that the
// second finds what the first has stored; all others go on side by side.
type adding struct {
	mu    sync.Mutex // guards under
	under map[*underWay]bool
}

// underWay is one addition.
type underWay struct {
	text    string
	wording stm.Wording
	done    chan struct{} // closed when it is over
}

// begin waits for the additions of what is at least so similar, and returns what ends this
// one. like says of another text how alike it is; it is not called under the lock.
func (a *adding) begin(ctx context.Context, text string, like func(other string) float64, similar float64) (end func(), err error) {
	mine := &underWay{text: text, wording: stm.WordingOf(text), done: make(chan struct{})}
	others := make(map[*underWay]bool) // that are about something else
	for {
		next := a.enter(mine, others)
		switch {
		case next == nil:
			return func() { a.leave(mine) }, nil
		case next.wording != mine.wording && like(next.text) < similar:
			others[next] = true
			continue
		}
		select {
		case <-next.done:
		case <-ctx.Done():
			return nil, memory.Errorf(memory.Busy, "gave up waiting for another addition of the same; try again")
		}
	}
}

// enter takes an addition in unless there is one beside the others that are given.
func (a *adding) enter(mine *underWay, others map[*underWay]bool) (next *underWay) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for one := range a.under {
		if !others[one] {
			return one
		}
	}
	if a.under == nil {
		a.under = make(map[*underWay]bool)
	}
	a.under[mine] = true
	return nil
}

func (a *adding) leave(mine *underWay) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.under, mine)
	close(mine.done)
}

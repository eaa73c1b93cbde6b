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
// one.
func (a *adding) begin(ctx context.Context, like *likeness, text string, similar float64) (end func(), err error) {
	mine := &underWay{text: text, wording: stm.WordingOf(text), done: make(chan struct{})}
	for {
		other := a.enter(mine, like, similar)
		if other == nil {
			return func() { a.leave(mine) }, nil
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, memory.Errorf(memory.Busy, "gave up waiting for another addition of the same; try again")
		}
	}
}

// enter takes an addition in unless there is one that it has to wait for.
func (a *adding) enter(mine *underWay, like *likeness, similar float64) (other *underWay) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for one := range a.under {
		if one.wording == mine.wording {
			return one
		}
		if alike, _ := like.to(one.text); alike >= similar {
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

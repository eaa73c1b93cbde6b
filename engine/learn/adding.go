package learn

import (
	"context"
	"sync"

	"emberd/memory"
	"emberd/stm"
)

// PendingAdds are the additions in progress. An addition waits for one of a similar text, so
// that it finds what that one stored. Others run at the same time.
type PendingAdds struct {
	mu    sync.Mutex // guards Under
	Under map[*pendingAdd]bool
}

// pendingAdd is one addition.
type pendingAdd struct {
	text    string
	wording stm.NormalizedText
	done    chan struct{} // closed at its end
}

// Begin waits for the additions of similar texts and returns the function that ends this one.
// like returns the similarity of another text; Begin calls it without holding mu.
func (a *PendingAdds) Begin(ctx context.Context, text string, like func(other string) float64,
	similar float64) (end func(), err error) {
	mine := &pendingAdd{text: text, wording: stm.NormalizeText(text), done: make(chan struct{})}
	others := make(map[*pendingAdd]bool) // additions of other texts
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
			return nil, memory.Errorf(memory.Busy, "another save of the same text is in progress; try again")
		}
	}
}

// enter adds an addition, unless there is one that is not among others; then it returns that
// one.
func (a *PendingAdds) enter(mine *pendingAdd, others map[*pendingAdd]bool) (next *pendingAdd) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for one := range a.Under {
		if !others[one] {
			return one
		}
	}
	if a.Under == nil {
		a.Under = make(map[*pendingAdd]bool)
	}
	a.Under[mine] = true
	return nil
}

func (a *PendingAdds) leave(mine *pendingAdd) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.Under, mine)
	close(mine.done)
}

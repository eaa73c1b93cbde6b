package watcher

import (
	"sync"
	"time"
)

// inbox is where events end up until Run looks. Filling it never waits for a
// scan or a delivery, so that the kernel's queue is drained at all times.
type inbox struct {
	wake chan struct{} // holds a token when there is something new to consider

	mu        sync.Mutex // guards what follows
	settler   settler
	events    uint64
	overflows int
	broken    bool // no further events will come
}

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1)}
}

// poke makes Run consider what there is to do.
func (in *inbox) poke() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// mark notes a dirty path. Only the first of a batch wakes Run, which then
// sleeps until the batch can have settled.
func (in *inbox) mark(p string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.events++
	if in.settler.first.IsZero() {
		defer in.poke()
	}
	in.settler.mark(p, time.Now())
}

// markAll notes that events were lost.
func (in *inbox) markAll() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.settler.markAll(time.Now())
	in.poke()
}

// overflow notes that the kernel dropped events.
func (in *inbox) overflow() {
	in.mu.Lock()
	in.overflows++
	in.mu.Unlock()
	in.markAll()
}

// broke notes that the source of events is no more.
func (in *inbox) broke() {
	in.mu.Lock()
	in.broken = true
	in.mu.Unlock()
	in.markAll()
}

// repaired tells whether the source broke since the last call.
func (in *inbox) repaired() (was bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	was, in.broken = in.broken, false
	return was
}

func (in *inbox) due() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.settler.due()
}

// take returns what has settled by now.
func (in *inbox) take(now time.Time) work {
	in.mu.Lock()
	defer in.mu.Unlock()
	if due := in.settler.due(); due.IsZero() || due.After(now) {
		return work{}
	}
	return in.settler.take()
}

// heard tells how many events came, and how often some were lost.
func (in *inbox) heard() (events uint64, overflows int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.events, in.overflows
}

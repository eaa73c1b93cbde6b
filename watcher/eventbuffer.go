package watcher

import (
	"sync"
	"time"
)

// eventBuffer collects events until Run looks. Adding to it never waits for a scan or a delivery,
// so that the kernel's queue is always drained.
type eventBuffer struct {
	wake chan struct{} // holds a token when there is something new to consider

	// mu guards the fields below, between Run and the goroutine that drains events. It is held
	// for one call, never while the disk is read.
	mu        sync.Mutex
	debouncer debouncer
	events    uint64
	overflows int
	broken    bool // no further events will come
}

func newEventBuffer() *eventBuffer {
	return &eventBuffer{wake: make(chan struct{}, 1)}
}

// poke makes Run consider what there is to do.
func (in *eventBuffer) poke() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// mark records a changed path. Only the first of a batch wakes Run, which then
// sleeps until the batch can be quiet.
func (in *eventBuffer) mark(p string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.events++
	if in.debouncer.first.IsZero() {
		defer in.poke()
	}
	in.debouncer.mark(p, time.Now())
}

// markAll records that events were lost.
func (in *eventBuffer) markAll() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.debouncer.markAll(time.Now())
	in.poke()
}

// overflow records that the kernel dropped events.
func (in *eventBuffer) overflow() {
	in.mu.Lock()
	in.overflows++
	in.mu.Unlock()
	in.markAll()
}

// broke records that no further events will come.
func (in *eventBuffer) broke() {
	in.mu.Lock()
	in.broken = true
	in.mu.Unlock()
	in.markAll()
}

// repaired reports whether the source broke since the last call.
func (in *eventBuffer) repaired() (was bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	was, in.broken = in.broken, false
	return was
}

func (in *eventBuffer) due() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.debouncer.due()
}

// take returns what is quiet by now.
func (in *eventBuffer) take(now time.Time) work {
	in.mu.Lock()
	defer in.mu.Unlock()
	if due := in.debouncer.due(); due.IsZero() || due.After(now) {
		return work{}
	}
	return in.debouncer.take()
}

// heard returns how many events came, and how often some were lost.
func (in *eventBuffer) heard() (events uint64, overflows int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.events, in.overflows
}

package core

import (
	"sync"
	"time"

	"emberd/op"
)

// KeptEvents is how many events a reader can resume after, and how far it may fall behind.
const KeptEvents = 1000

// events passes events to any number of readers. A reader has only a position, and no buffer
// is kept for it. A slow reader costs no memory and delays no writer: it loses its position
// when the ring overwrites it.
type events struct {
	mu     sync.Mutex // guards the fields below
	ring   []op.Event // event number n is at n % keptEvents
	next   int        // number of the next event
	wake   chan struct{}
	closed bool
}

// NewEvents returns an empty ring of events.
func NewEvents() *events { return &events{wake: make(chan struct{})} }

// Publish adds an event and wakes up the readers.
func (v *events) Publish(ev op.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.ring) < KeptEvents {
		v.ring = append(v.ring, ev)
	} else {
		v.ring[v.next%KeptEvents] = ev
	}
	v.next++
	close(v.wake)
	v.wake = make(chan struct{})
}

// Close ends all readers.
func (v *events) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	close(v.wake)
}

// Start returns the number of the first event after the one with this ID, and false if that
// one is unknown or overwritten. An empty ID stands for the newest event.
func (v *events) Start(after string) (int, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if after == "" {
		return v.next, true
	}
	// The transactions of a batch share their journal entry. Resuming after the first one
	// repeats some events instead of losing any.
	for n := max(0, v.next-KeptEvents); n < v.next; n++ {
		if v.ring[n%KeptEvents].ID == after {
			return n + 1, true
		}
	}
	return max(0, v.next-KeptEvents), false
}

// Since returns the events from number n on. If there are none yet, it returns a channel that
// closes when there may be more. It returns false if n is overwritten or the stream has ended.
func (v *events) Since(n int) (batch []op.Event, wake <-chan struct{}, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch oldest := v.next - KeptEvents; {
	case n < oldest:
		return nil, nil, false
	case n < v.next:
		for ; n < v.next; n++ {
			batch = append(batch, v.ring[n%KeptEvents])
		}
		return batch, nil, true
	}
	return nil, v.wake, !v.closed
}

// Notice returns an event about the stream itself.
func (e *View) Notice(text string) op.Event {
	return op.Event{Type: "status", At: e.Opt.Now().UTC().Truncate(time.Millisecond), Text: text}
}

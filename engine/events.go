package engine

import (
	"context"
	"iter"
	"sync"
	"time"

	"emberd/op"
	"emberd/stm"
)

// keptEvents is how many events can be resumed after, and how far behind a
// reader may fall.
const keptEvents = 1000

// events hands what happens to any number of readers. Readers hold a position
// and nothing is held for them, so a slow one costs no memory and delays nobody:
// it loses its place when the ring comes round.
type events struct {
	mu     sync.Mutex // guards what follows
	ring   []op.Event // event number n is at n % keptEvents
	next   int        // number of the next event
	wake   chan struct{}
	closed bool
}

func newEvents() *events { return &events{wake: make(chan struct{})} }

// publish adds an event and wakes the readers.
func (v *events) publish(ev op.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.ring) < keptEvents {
		v.ring = append(v.ring, ev)
	} else {
		v.ring[v.next%keptEvents] = ev
	}
	v.next++
	close(v.wake)
	v.wake = make(chan struct{})
}

// close ends all readers.
func (v *events) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	close(v.wake)
}

// start returns the number of the first event to read after the one with this
// id, and false when that one is not known (any more). No id means from now on.
func (v *events) start(after string) (int, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if after == "" {
		return v.next, true
	}
	// The transactions of a batch share their journal entry. Resuming after the first of
	// them repeats some rather than lose any.
	for n := max(0, v.next-keptEvents); n < v.next; n++ {
		if v.ring[n%keptEvents].ID == after {
			return n + 1, true
		}
	}
	return max(0, v.next-keptEvents), false
}

// since returns the events from number n on; none and a channel that is closed
// when there may be more; or false when n is gone or there will be no more.
func (v *events) since(n int) (batch []op.Event, wake <-chan struct{}, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch oldest := v.next - keptEvents; {
	case n < oldest:
		return nil, nil, false
	case n < v.next:
		for ; n < v.next; n++ {
			batch = append(batch, v.ring[n%keptEvents])
		}
		return batch, nil, true
	}
	return nil, v.wake, !v.closed
}

// Events yields what happens from now on or, with after set, from the event
// after that id, until ctx is done or the engine is closed. The last 1,000 are
// kept: when after is older or unknown, an event of type status says so before
// the oldest there is, and a reader that falls behind further is dropped with a
// last one that says so. The sequence can be used once.
func (e *Engine) Events(ctx context.Context, after string) iter.Seq[op.Event] {
	n, known := e.events.start(after)
	return func(yield func(op.Event) bool) {
		if !known && !yield(e.notice("events after this id are no longer all here; read again what matters")) {
			return
		}
		for {
			batch, wake, ok := e.events.since(n)
			if !ok {
				yield(e.notice(e.endOfEvents()))
				return
			}
			for _, ev := range batch {
				if ctx.Err() != nil || !yield(ev) {
					return
				}
			}
			n += len(batch)
			if wake == nil {
				continue
			}
			select {
			case <-ctx.Done():
				return
			case <-wake:
			}
		}
	}
}

func (e *Engine) endOfEvents() string {
	select {
	case <-e.closing:
		return "emberd is stopping"
	default:
		return "this reader fell more than 1,000 events behind and was dropped; connect again and read again what matters"
	}
}

// notice makes an event about the stream itself.
func (e *Engine) notice(text string) op.Event {
	return op.Event{Type: "status", At: e.opt.Now().UTC().Truncate(time.Millisecond), Text: text}
}

// committed publishes a transaction. The store calls it, so that events come in
// the order of the log, before the answer, and also for a change whose caller
// gave up waiting.
func (e *Engine) committed(t stm.Entry) {
	e.revision.Add(1)
	e.reports.changed.Add(uint64(len(t.IDs)))
	e.changed()
	e.touched(t.IDs)
	e.mirror.committed()
	e.meaning.committed(&t)
	e.caring.committed(&t)
	e.countChange(&t)
	if e.truth != nil {
		e.truth.committed(&t)
		e.lists.committed(&t)
	}
	e.events.publish(op.Event{ID: t.Tx, Type: t.Verb, At: t.At, IDs: t.IDs})
}

package engine

import (
	"context"
	"iter"

	"emberd/op"
	"emberd/stm"
)

// Events yields events until ctx is done or the engine is closed: from now on, or from the
// event after the given ID. The engine keeps the last 1,000 events. If after is older or
// unknown, the sequence starts with an event of type status that reports it, and continues
// with the oldest event. A reader that falls further behind gets a last event of type status.
// The sequence can be used once.
func (e *Engine) Events(ctx context.Context, after string) iter.Seq[op.Event] {
	n, known := e.EventLog.Start(after)
	return func(yield func(op.Event) bool) {
		if !known && !yield(e.Notice("events after this ID are incomplete; read the memories again")) {
			return
		}
		for {
			batch, wake, ok := e.EventLog.Since(n)
			if !ok {
				yield(e.Notice(e.endOfEvents()))
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
	case <-e.Closing:
		return "the daemon is stopping"
	default:
		return "the daemon disconnected this client, which was more than 1,000 events behind; connect again and read " +
			"the memories again"
	}
}

// committed publishes a transaction. The store calls it before it answers, so that events have
// the order of the log, and also when the caller no longer waits.
func (e *Engine) committed(t stm.Entry) {
	e.Revision.Add(1)
	e.Health.Reports.Changed.Add(uint64(len(t.IDs)))
	e.Changed()
	e.touched(t.IDs)
	e.Review.Mirror.Committed()
	e.Semantic.Meaning.Committed(&t)
	e.Agents.AgentScheduler.Committed(&t)
	e.Admin.CountChange(&t)
	if e.Sync.Sync != nil {
		e.Sync.Sync.Committed(&t)
		e.Lists.Lists.Committed(&t)
		e.Links.Known.Committed(e.Notes.Vault.Carriers, &t)
	}
	e.EventLog.Publish(op.Event{ID: t.Tx, Type: t.Verb, At: t.At, IDs: t.IDs})
}

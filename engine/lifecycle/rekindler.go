package lifecycle

import (
	"context"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/stm"
)

// unasked restores what a caller uses or opens. No caller asked for it, so an undo of the newest change skips it.
var unasked = memory.Actor{Via: stm.Itself, Client: "search"}

// RunRekindler rekindles the memories that were requested by their use.
func (e *Lifecycle) RunRekindler(ctx context.Context) {
	for {
		select {
		case id := <-e.Notes.Wishes:
			e.rekindleNow(ctx, id)
		case <-ctx.Done():
			return
		}
	}
}

// rekindleNow writes the restored memory, unless it is warm already: several uses may have requested it. The use is
// counted already.
func (e *Lifecycle) rekindleNow(ctx context.Context, id memory.ID) {
	row, ok := e.Stm.Get(id)
	if !ok || !core.Cold(row) {
		return
	}
	if _, err := e.rekindle(ctx, id, unasked, waking{stage: memory.Active}); err != nil && ctx.Err() == nil {
		e.Opt.Logger.Warn("memory not restored", "memory", id, "error", err)
	}
}

// openPatience is how long a request that opens a memory waits for its text. It is longer than a search waits, because
// the request asks for this memory.
const openPatience = time.Second

// Open counts that a whole memory is about to be shown, and returns it. One whose text is in a note is demoted, with
// its text, if a search found it relevant lately; that is not a use.
func (e *Lifecycle) Open(ctx context.Context, row *stm.Row) *stm.Row {
	now := e.Opt.Now()
	if core.Cold(row) && e.CanWrite(row) && e.rekindles(row) {
		open, cancel := context.WithTimeout(ctx, max(e.Opt.Patience, openPatience))
		_, err := e.rekindle(open, row.ID(), unasked, waking{stage: memory.Demoted})
		cancel()
		if err != nil {
			e.Opt.Logger.Debug("full text of an opened memory not restored", "memory", row.ID(), "error", err)
		}
	}
	if is, live := e.Stm.Get(row.ID()); live {
		row = is
	}
	e.Opened(row, now)
	return row
}

// rekindles reports whether opening or using a cold memory brings it back.
func (e *Lifecycle) rekindles(row *stm.Row) bool {
	return e.Opt.Rekindle == core.RekindleAuto && e.Notes.Vault != nil && e.Notes.Offered.Has(e.Opt.Now(), row.ID())
}

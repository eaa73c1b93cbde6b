package engine

import (
	"context"
	"slices"

	"emberd/memory"
	"emberd/stm"
)

// mostWishes is how many cold memories may wait to be brought back. A search that means
// one more leaves it as it is.
const mostWishes = 64

// wish is a cold memory that a search means, and where its text is waited for: it gets
// one answer, or is closed without one.
type wish struct {
	memory.Memory
	text chan<- lookup
}

// wake asks for a cold memory back. It never waits, and is false when too much is asked
// for already.
func (e *Engine) wake(m memory.Memory) (<-chan lookup, bool) {
	text := make(chan lookup, 1)
	select {
	case e.wishes <- wish{m, text}:
		return text, true
	default:
		return nil, false
	}
}

// keepWaking brings back what searches mean. Texts come first, since somebody waits for
// them; the log is told when nobody does.
func (e *Engine) keepWaking(ctx context.Context) {
	var due []memory.ID
	for ctx.Err() == nil {
		w, ok := e.nextWish(ctx, len(due) == 0)
		switch {
		case ok && e.fulfil(ctx, &w) && !slices.Contains(due, w.ID):
			due = append(due, w.ID)
		case !ok && len(due) > 0:
			e.wakeOne(ctx, due[0])
			due = due[1:]
		}
	}
}

// nextWish returns the next wish, and false when there is none now or, with wait, none
// came before ctx ended.
func (e *Engine) nextWish(ctx context.Context, wait bool) (wish, bool) {
	if wait {
		select {
		case w := <-e.wishes:
			return w, true
		case <-ctx.Done():
			return wish{}, false
		}
	}
	select {
	case w := <-e.wishes:
		return w, true
	default:
		return wish{}, false
	}
}

// fulfil answers a wish and reports whether the memory has a text to come back with.
func (e *Engine) fulfil(ctx context.Context, w *wish) bool {
	defer close(w.text)
	l, err := e.textFor(ctx, &w.Memory, false)
	if err != nil {
		e.opt.Logger.Debug("text of a cold memory not read", "memory", w.ID, "error", err)
		return false
	}
	w.text <- l
	return l.Body != ""
}

// wakeOne writes that a memory is back, unless it is already: several searches may have
// meant it at once.
func (e *Engine) wakeOne(ctx context.Context, id memory.ID) {
	row, ok := e.stm.Get(id)
	if !ok || !cold(row) {
		return
	}
	// Nobody asked for it by name, so that undo without an entry passes it over.
	by := memory.Actor{Via: stm.Itself, Client: "search"}
	if _, err := e.rekindleMemory(ctx, id, by); err != nil && ctx.Err() == nil {
		e.opt.Logger.Warn("memory not brought back", "memory", id, "error", err)
	}
}

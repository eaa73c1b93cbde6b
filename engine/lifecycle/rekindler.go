package lifecycle

import (
	"context"
	"slices"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/contain"
	"emberd/memory"
	"emberd/stm"
)

// RunRekindler restores the texts of memories that searches matched. It reads all texts first,
// because searches wait for them, and writes to the log when no request waits.
func (e *Lifecycle) RunRekindler(ctx context.Context) {
	var due []memory.ID
	for ctx.Err() == nil {
		w, ok := e.nextRequest(ctx, len(due) == 0)
		switch {
		case ok && e.processRekindle(ctx, &w) && !slices.Contains(due, w.ID):
			due = append(due, w.ID)
		case !ok && len(due) > 0:
			e.rekindleNow(ctx, due[0])
			due = due[1:]
		}
	}
}

// nextRequest returns the next request. It returns false if there is none now or, with wait, none
// before ctx ended.
func (e *Lifecycle) nextRequest(ctx context.Context, wait bool) (notes.RekindleRequest, bool) {
	if wait {
		select {
		case w := <-e.Notes.Wishes:
			return w, true
		case <-ctx.Done():
			return notes.RekindleRequest{}, false
		}
	}
	select {
	case w := <-e.Notes.Wishes:
		return w, true
	default:
		return notes.RekindleRequest{}, false
	}
}

// processRekindle answers a request and reports whether the memory's text can be restored.
func (e *Lifecycle) processRekindle(ctx context.Context, w *notes.RekindleRequest) bool {
	defer close(w.Text)
	var l notes.TextLookup
	err := contain.Do(e.Opt.Logger, contain.Note, string(w.ID), func() (err error) {
		l, err = e.textFor(ctx, &w.Memory, false)
		return err
	})
	if err != nil {
		e.Opt.Logger.Debug("text of a cold memory not read", "memory", w.ID, "error", err)
		return false
	}
	w.Text <- l
	return l.Body != ""
}

// rekindleNow writes the restored memory, unless it is warm already: several searches may have
// matched it at once.
func (e *Lifecycle) rekindleNow(ctx context.Context, id memory.ID) {
	row, ok := e.Stm.Get(id)
	if !ok || !core.Cold(row) {
		return
	}
	// No caller named it, so an undo of the newest change skips it.
	by := memory.Actor{Via: stm.Itself, Client: "search"}
	if _, err := e.RekindleMemory(ctx, id, by); err != nil && ctx.Err() == nil {
		e.Opt.Logger.Warn("memory not brought back", "memory", id, "error", err)
	}
}

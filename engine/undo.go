package engine

import (
	"context"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// undo takes one journal entry back, memory by memory. What was changed again
// since is left and listed, unless forced.
func (e *Engine) undo(ctx context.Context, req *op.UndoRequest) (*op.UndoResult, error) {
	if e.cleanups.changing.Load() {
		return nil, memory.Errorf(memory.Busy, "a run of the cleanup is writing its journal entry; try again when emberd cleanup history says that it is done")
	}
	entry, err := e.ownEntry(ctx, req.Tx)
	if err != nil {
		return nil, err
	}
	u := stm.Undo{Entry: entry, Force: req.Force, DryRun: req.DryRun, By: op.CallerFrom(ctx)}
	var notes []undoneNote
	if e.notes != nil {
		would, err := e.stm.Undo(ctx, stm.Undo{Entry: u.Entry, Force: u.Force, DryRun: true})
		if err == nil && req.Tx == "" && e.grant == nil {
			err = e.lossesFirst(would.Entry.At)
		}
		if err == nil {
			u.Entry = would.Entry.Tx // the newest one, as it is now
			err = e.noteStands(would)
		}
		if err == nil {
			notes, err = e.notesToUndo(ctx, would)
		}
		if err != nil {
			return nil, err
		}
	}
	done, err := e.stm.Undo(ctx, u)
	if err != nil {
		return nil, err
	}
	res := &op.UndoResult{
		Entry:  op.Entry{Tx: done.Entry.Tx, Verb: done.Entry.Verb, At: done.Entry.At, By: done.Entry.By, IDs: len(done.Entry.IDs)},
		Tx:     done.Tx,
		DryRun: req.DryRun,
		Items:  make([]op.UndoItem, 0, len(done.Items)),
	}
	for _, it := range inTheEnd(done.Items) {
		res.Items = append(res.Items, op.UndoItem{ID: it.ID, Action: it.Action, Reason: it.Reason})
	}
	if !req.DryRun && len(notes) > 0 {
		e.undoNotes(ctx, notes, res)
	}
	return res, nil
}

// lossesFirst refuses to take for the newest change one that was made before losses of
// notes were confirmed, which have no entry yet.
func (e *Engine) lossesFirst(newest time.Time) error {
	since, waits := e.truth.confirming()
	if !waits || newest.After(since) {
		return nil
	}
	return memory.Errorf(memory.Busy, "what emberd vault confirm let go of is not in the trash yet, so it cannot be taken back; wait until emberd history lists the entry %q, or name another entry", goneVerb)
}

// inTheEnd keeps of several steps that an entry took with a memory what came of it, and
// why something of it was left.
func inTheEnd(items []stm.UndoneItem) []stm.UndoneItem {
	last := make(map[memory.ID]int, len(items))
	for i, it := range items {
		last[it.ID] = i
	}
	var out []stm.UndoneItem
	for i, it := range items {
		if last[it.ID] == i || it.Action == stm.Left {
			out = append(out, it)
		}
	}
	return out
}

// noteStands refuses to take back what came from a note that is there: it would be taken
// over again.
func (e *Engine) noteStands(would stm.Undone) error {
	if would.Entry.Verb != noteVerb {
		return nil
	}
	for _, id := range would.Entry.IDs {
		if paths := e.notes.carriers.of(id); len(paths) > 0 {
			return memory.Errorf(memory.Conflict, "entry %s took over what the note %q says, and would take it over again; edit the note (Obsidian's file recovery has its earlier text)", would.Entry.Tx, paths[0]).At("tx")
		}
	}
	return nil
}

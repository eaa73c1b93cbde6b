package engine

import (
	"context"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// undo takes one journal entry back, memory by memory. What was changed again
// since is left and listed, unless forced.
func (e *Engine) undo(ctx context.Context, req *op.UndoRequest) (*op.UndoResult, error) {
	if err := e.noteStands(ctx, req); err != nil {
		return nil, err
	}
	done, err := e.stm.Undo(ctx, stm.Undo{Entry: req.Tx, Force: req.Force, DryRun: req.DryRun, By: op.CallerFrom(ctx)})
	if err != nil {
		return nil, err
	}
	res := &op.UndoResult{
		Entry:  op.Entry{Tx: done.Entry.Tx, Verb: done.Entry.Verb, At: done.Entry.At, By: done.Entry.By, IDs: len(done.Entry.IDs)},
		Tx:     done.Tx,
		DryRun: req.DryRun,
		Items:  make([]op.UndoItem, 0, len(done.Items)),
	}
	for _, it := range done.Items {
		res.Items = append(res.Items, op.UndoItem{ID: it.ID, Action: it.Action, Reason: it.Reason})
	}
	return res, nil
}

// noteStands refuses to take back what came from a note that is there: it would be taken
// over again.
func (e *Engine) noteStands(ctx context.Context, req *op.UndoRequest) error {
	if e.notes == nil || req.Tx == "" {
		return nil // unasked for, emberd's own doings are not undone
	}
	would, err := e.stm.Undo(ctx, stm.Undo{Entry: req.Tx, DryRun: true})
	if err != nil || would.Entry.Verb != noteVerb {
		return err
	}
	for _, id := range would.Entry.IDs {
		if paths := e.notes.carriers.of(id); len(paths) > 0 {
			return memory.Errorf(memory.Conflict, "entry %s took over what the note %q says, and would take it over again; edit the note (Obsidian's file recovery has its earlier text)", would.Entry.Tx, paths[0]).At("tx")
		}
	}
	return nil
}

package engine

import (
	"context"

	"emberd/op"
	"emberd/stm"
)

// undo takes one journal entry back, memory by memory. What was changed again
// since is left and listed, unless forced.
func (e *Engine) undo(ctx context.Context, req *op.UndoRequest) (*op.UndoResult, error) {
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

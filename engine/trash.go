package engine

import (
	"context"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// trashList pages through the trash, newest first. Only the memories of the
// page are read from the log.
func (e *Engine) trashList(_ context.Context, req *op.TrashListRequest) (*op.TrashListResult, error) {
	p, err := newPage[stm.TrashItem](req.Cursor, byForgotten, req.Limit, defaultPage, e.opt.Now())
	if err != nil {
		return nil, err
	}
	for _, it := range e.stm.Trash() {
		p.add(float64(it.Forgotten.UnixMilli()), it.ID, it)
	}
	items, next := p.finish()
	res := &op.TrashListResult{Items: make([]op.Trashed, 0, len(items)), Total: p.total, NextCursor: next}
	for left := items; len(left) > 0; {
		ids := make([]memory.ID, len(left))
		for i, it := range left {
			ids[i] = it.ID
		}
		found, n, err := e.stm.Unearth(ids)
		if err != nil {
			return nil, err
		}
		for _, it := range left[:n] {
			if b, ok := found[it.ID]; ok {
				res.Items = append(res.Items, op.Trashed{Memory: b.Memory, Forgotten: it.Forgotten, Until: it.Until, Tx: it.Entry})
			}
		}
		left = left[n:]
	}
	return res, nil
}

// trashRestore brings memories back from the trash, all of them or none.
func (e *Engine) trashRestore(ctx context.Context, req *op.TrashRestoreRequest) (*op.TrashRestoreResult, error) {
	ids, err := e.resolveAll(req.IDs, "ids", memory.MaxIDs)
	if err != nil {
		return nil, err
	}
	receipt, err := e.stm.Restore(ctx, ids, op.CallerFrom(ctx))
	if err != nil {
		return nil, err
	}
	restored, err := e.views(&e.stm.Memories, receipt.Rows, e.opt.Now())
	return &op.TrashRestoreResult{Restored: restored, Tx: receipt.Entry}, err
}

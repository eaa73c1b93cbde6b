package history

import (
	"context"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// TrashList returns a page of the trash, newest first. It reads only the memories of the page
// from the log.
func (e *History) TrashList(_ context.Context, req *op.TrashListRequest) (*op.TrashListResult, error) {
	p, err := core.NewPage[stm.TrashItem](req.Cursor, memories.ByForgotten, req.Limit, memories.DefaultPage,
		e.Opt.Now())
	if err != nil {
		return nil, err
	}
	for _, it := range e.Stm.Trash() {
		p.Add(float64(it.Forgotten.UnixMilli()), it.ID, it)
	}
	items, next := p.Finish()
	res := &op.TrashListResult{Items: make([]op.Trashed, 0, len(items)), Total: p.Total, NextCursor: next,
		Textless: e.Stm.BareTrash()}
	for left := items; len(left) > 0; {
		ids := make([]memory.ID, len(left))
		for i, it := range left {
			ids[i] = it.ID
		}
		found, n, err := e.Stm.ReadTrash(ids)
		if err != nil {
			return nil, err
		}
		for _, it := range left[:n] {
			if b, ok := found[it.ID]; ok {
				res.Items = append(res.Items,
					op.Trashed{Memory: b.Memory, Forgotten: it.Forgotten, Until: it.Until, Tx: it.Entry})
			}
		}
		left = left[n:]
	}
	return res, nil
}

// TrashRestore restores memories from the trash, all of them or none.
func (e *History) TrashRestore(ctx context.Context, req *op.TrashRestoreRequest) (*op.TrashRestoreResult, error) {
	ids, err := e.ResolveAll(req.IDs, "ids", memory.MaxIDs)
	if err != nil {
		return nil, err
	}
	receipt, err := e.Stm.Restore(ctx, ids, op.CallerFrom(ctx))
	if err != nil {
		return nil, err
	}
	restored, err := e.Views(&e.Stm.MemorySet, receipt.Rows, e.Opt.Now())
	return &op.TrashRestoreResult{Restored: restored, Tx: receipt.Entry}, err
}

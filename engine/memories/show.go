package memories

import (
	"context"

	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/op"
)

// Show returns one whole memory and counts that it was opened. The answer has its state
// before that.
func (e *Memories) Show(ctx context.Context, req *op.ShowRequest) (*op.ShowResult, error) {
	if !req.AsOf.IsZero() {
		return e.Search.ShowThen(ctx, req)
	}
	row, err := e.Find(req.ID)
	if err != nil {
		return nil, err
	}
	now := e.Opt.Now()
	m, err := e.MemoryView(row, now)
	if err != nil {
		return nil, err
	}
	if search.ValueOrTrue(req.Track) {
		e.Lifecycle.Opened(row, now)
	}
	return &op.ShowResult{Memory: m, Relations: core.RelationsIn(&e.Stm.MemorySet, row)}, nil
}

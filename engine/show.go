package engine

import (
	"context"

	"emberd/op"
)

// show opens one memory whole, which counts as a use of it. The answer shows
// the memory as it was found.
func (e *Engine) show(ctx context.Context, req *op.ShowRequest) (*op.ShowResult, error) {
	if !req.AsOf.IsZero() {
		return e.showThen(ctx, req)
	}
	row, err := e.find(req.ID)
	if err != nil {
		return nil, err
	}
	now := e.opt.Now()
	m, err := e.view(row, now)
	if err != nil {
		return nil, err
	}
	if valueOrTrue(req.Track) {
		e.used(row, now)
	}
	return &op.ShowResult{Memory: m, Relations: relationsIn(&e.stm.Memories, row)}, nil
}

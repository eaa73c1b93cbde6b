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
	rekindled := false
	if search.ValueOrTrue(req.Track) {
		if now := e.Lifecycle.Open(ctx, row); now.Stage() != row.Stage() {
			rekindled = core.Cold(row) && !core.Cold(now)
			row = now
		}
	}
	m, err := e.MemoryView(row, e.Opt.Now())
	if err != nil {
		return nil, err
	}
	return &op.ShowResult{Memory: m, Relations: core.RelationsIn(&e.Stm.MemorySet, row), Rekindled: rekindled}, nil
}

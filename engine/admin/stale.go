package admin

import (
	"context"

	"emberd/memory"
	"emberd/op"
)

// StaleList returns the memories that wait for a decision.
func (e *Admin) StaleList(context.Context, *op.StaleListRequest) (*op.StaleListResult, error) {
	res := &op.StaleListResult{Memories: []op.StaleMemory{}}
	for _, w := range e.Stm.Stale() {
		res.Memories = append(res.Memories,
			op.StaleMemory{ID: w.ID, Device: w.Device.String(), Changes: w.Changes, At: w.At})
	}
	return res, nil
}

// StaleDecide keeps such a memory, or leaves it deleted.
func (e *Admin) StaleDecide(ctx context.Context, req *op.StaleDecideRequest) (*op.StaleDecideResult, error) {
	if req.Keep == nil {
		return nil, memory.Errorf(memory.Invalid,
			"missing keep; use true to restore memory %.80q, or false to leave it deleted", req.ID).At("keep")
	}
	id, err := e.Stm.ResolveStale(req.ID)
	if memory.CodeOf(err) == memory.Ambiguous {
		return nil, err
	}
	for _, w := range e.Stm.Stale() {
		if w.ID == id {
			got, err := e.Stm.DecideStale(ctx, id, *req.Keep, op.CallerFrom(ctx))
			if err != nil {
				return nil, err
			}
			e.Changed()
			return &op.StaleDecideResult{ID: id, Tx: got.Entry}, nil
		}
	}
	return nil, memory.Errorf(memory.NotFound,
		"memory %.80q has no pending decision; run: emberd doctor offline-device list", req.ID).At("id")
}

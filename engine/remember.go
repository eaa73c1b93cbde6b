package engine

import (
	"context"

	"emberd/memory"
	"emberd/op"
)

func (e *Engine) add(ctx context.Context, req *op.AddRequest) (*op.AddResult, error) {
	return nil, notYet()
}

func (e *Engine) verify(ctx context.Context, req *op.VerifyRequest) (*op.VerifyResult, error) {
	return nil, notYet()
}

func (e *Engine) reinforce(ctx context.Context, req *op.ReinforceRequest) (*op.ReinforceResult, error) {
	return nil, notYet()
}

func notYet() error { return memory.Errorf(memory.Unavailable, "this is not built yet") }

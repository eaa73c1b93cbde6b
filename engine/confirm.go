package engine

import (
	"context"

	"emberd/op"
)

func (e *Engine) confirm(ctx context.Context, req *op.ConfirmRequest) (*op.ConfirmResult, error) {
	return nil, notYet()
}

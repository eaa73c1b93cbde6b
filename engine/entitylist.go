package engine

import (
	"context"

	"emberd/op"
)

func (e *Engine) entityList(ctx context.Context, req *op.EntityListRequest) (*op.EntityListResult, error) {
	return nil, notYet()
}

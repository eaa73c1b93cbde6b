package engine

import (
	"context"

	"emberd/op"
)

func (e *Engine) query(ctx context.Context, req *op.QueryRequest) (*op.QueryResult, error) {
	return nil, notYet()
}

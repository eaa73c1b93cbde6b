package engine

import (
	"context"

	"emberd/op"
)

func (e *Engine) knowledge(ctx context.Context, req *op.KnowledgeRequest) (*op.KnowledgeResult, error) {
	return nil, notYet()
}

package engine

import (
	"cmp"
	"context"

	"emberd/internal/knowledge"
	"emberd/memory"
	"emberd/op"
)

const defaultEntities = 20

// entityList gives a page of entities.
func (e *Engine) entityList(ctx context.Context, req *op.EntityListRequest) (*op.EntityListResult, error) {
	limit, err := checkLimit(req.Limit, defaultEntities)
	if err == nil {
		err = firstError(
			memory.CheckRange("offset", float64(req.Offset), 0, op.MaxOffset),
			checkQuery(req.Query),
			checkNames(name{"project", req.Project}),
		)
	}
	if err != nil {
		return nil, err
	}
	order := cmp.Or(knowledge.Order(req.Sort), knowledge.ByMentions)
	switch order {
	case knowledge.ByMentions, knowledge.ByRecent, knowledge.ByName:
	default:
		return nil, memory.Errorf(memory.Invalid, "sort %.40q is unknown; use mentions, recent or name", req.Sort).At("sort")
	}
	page, total := e.graphSoon(ctx).List(knowledge.Listing{Words: req.Query, Project: req.Project, Order: order, Skip: req.Offset, Limit: limit})
	res := &op.EntityListResult{Entities: []op.Entity{}, Total: total, Partial: e.partial()}
	for i := range page {
		res.Entities = append(res.Entities, entityView(&page[i]))
	}
	return res, nil
}

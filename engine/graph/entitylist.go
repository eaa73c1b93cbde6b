package graph

import (
	"cmp"
	"context"

	"emberd/engine/core"
	"emberd/internal/entity/knowledge"
	"emberd/memory"
	"emberd/op"
)

const defaultEntities = 20

// EntityList returns a page of entities.
func (e *Graph) EntityList(ctx context.Context, req *op.EntityListRequest) (*op.EntityListResult, error) {
	limit, err := core.CheckLimit(req.Limit, defaultEntities)
	if err == nil {
		err = core.FirstError(
			memory.CheckRange("offset", float64(req.Offset), 0, op.MaxOffset),
			core.CheckQuery(req.Query),
			core.CheckNames(core.Name{Field: "project", Value: req.Project}),
		)
	}
	if err != nil {
		return nil, err
	}
	order := cmp.Or(knowledge.Order(req.Sort), knowledge.ByMentions)
	switch order {
	case knowledge.ByMentions, knowledge.ByRecent, knowledge.ByName:
	default:
		return nil, memory.Errorf(memory.Invalid, "invalid sort %.40q; use mentions, recent or name",
			req.Sort).At("sort")
	}
	page, total := e.GraphSoon(ctx).List(knowledge.Listing{Words: req.Query, Project: req.Project, Order: order,
		Skip: req.Offset, Limit: limit})
	res := &op.EntityListResult{Entities: []op.Entity{}, Total: total, Partial: e.Partial()}
	for i := range page {
		res.Entities = append(res.Entities, entityView(&page[i]))
	}
	return res, nil
}

package learn

import (
	"context"

	"emberd/memory"
	"emberd/op"
)

// querySessions returns the past sessions that answer a query. If none fits, there are no results, and what comes
// nearest is apart.
func (e *Learn) querySessions(ctx context.Context, req *op.QueryRequest, limit int) (*op.QueryResult, error) {
	found, err := e.Search.Search(ctx, &op.SearchRequest{Query: req.Query, Scope: req.Scope, Limit: limit,
		Offset: req.Offset, Filter: op.Filter{Tags: req.Tags, Project: req.Project, Collection: req.Collection,
			WindowDays: req.WindowDays}})
	if typed, ok := err.(*memory.Error); ok && typed.Field == "q" {
		return nil, typed.At("query")
	}
	if err != nil {
		return nil, err
	}
	res := &op.QueryResult{Results: []op.QueryHit{}, Compared: op.ComparedByWords, Total: found.Total,
		AtLeast: found.AtLeast, Similar: found.Similar}
	for i := range found.Hits {
		h := &found.Hits[i]
		res.Results = append(res.Results, op.QueryHit{Scope: req.Scope, Relevance: h.Relevance, Hit: h,
			Source: "session of " + h.Session.Agent})
	}
	if found.Nearest {
		res.Nearest, res.Results = res.Results[:min(nearestShown, len(res.Results))], []op.QueryHit{}
		res.Total, res.AtLeast = 0, false
	}
	if res.Total == 0 {
		res.Message = queryNothing
	}
	return res, nil
}

package engine

import (
	"cmp"
	"context"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const defaultPage = 20

// The orders of lists, as their cursors name them. They never change.
const (
	byCreated   = 'c'
	byUsed      = 'u'
	byScore     = 's'
	byUses      = 'n'
	byAccesses  = 'a'
	byForgotten = 'f'
)

// list pages through the memories that a filter selects. A memory whose sort
// value changes while somebody pages (it is used, say) may be met twice or not
// at all; all others are met exactly once.
func (e *Engine) list(ctx context.Context, req *op.ListRequest) (*op.ListResult, error) {
	order, err := parseSort(req.Sort)
	if err != nil {
		return nil, err
	}
	then, err := e.moment(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	now := then.at
	p, err := newPage[*stm.Row](req.Cursor, order, req.Limit, defaultPage, now)
	if err != nil {
		return nil, err
	}
	filter, err := e.filter(req.Filter, p.at)
	if err == nil {
		err = checkContains(req.Contains)
	}
	if err != nil {
		return nil, err
	}
	if then.past != nil && !p.at.Equal(now) {
		return nil, memory.Errorf(memory.Invalid, "cursor belongs to a list as of another moment; use it with the same as_of, or start again without it").At("cursor")
	}
	part := stm.NewPart(req.Contains)
	for r := range then.Rows() {
		if filter.accepts(r) && r.Holds(part) {
			p.add(e.sortValue(r, order, p.at), r.ID(), r)
		}
	}
	if p.total == 0 && req.Contains == "" {
		if err := checkCollection(then.Memories, filter.Collection); err != nil {
			return nil, err
		}
	}
	rows, next := p.finish()
	memories, err := e.views(then.Memories, rows, now)
	return &op.ListResult{Memories: memories, Total: p.total, NextCursor: next, AsOf: then.told()}, err
}

func checkContains(text string) error {
	if len(text) > memory.MaxQueryBytes {
		return memory.Errorf(memory.TooLarge, "contains has %d bytes, more than %d; ask for a part of it", len(text), memory.MaxQueryBytes).At("contains")
	}
	return nil
}

func parseSort(name string) (byte, error) {
	switch cmp.Or(name, "created") {
	case "created":
		return byCreated, nil
	case "used":
		return byUsed, nil
	case "score":
		return byScore, nil
	case "uses":
		return byUses, nil
	case "accesses":
		return byAccesses, nil
	}
	return 0, memory.Errorf(memory.Invalid, "sort %.20q is unknown; use created, used, score, uses or accesses", name).At("sort")
}

// sortValue is exact: milliseconds and counts stay below 2^53.
func (e *Engine) sortValue(r *stm.Row, order byte, at time.Time) float64 {
	switch order {
	case byUsed:
		return float64(r.LastUsed().UnixMilli())
	case byScore:
		return e.score(r, at)
	case byUses:
		return float64(r.UseCount())
	case byAccesses:
		return float64(r.AccessCount())
	default:
		return float64(r.CreatedAt().UnixMilli())
	}
}

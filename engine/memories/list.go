package memories

import (
	"cmp"
	"context"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const DefaultPage = 20

// The orders of lists in cursors. They never change.
const (
	byCreated   = 'c'
	ByUsed      = 'u'
	byScore     = 's'
	ByUses      = 'n'
	byAccesses  = 'a'
	ByForgotten = 'f'
)

// List returns a page of the memories that a filter selects. A memory whose sort value changes
// between pages, for example by a use, may occur twice or not at all; all others occur exactly
// once.
func (e *Memories) List(ctx context.Context, req *op.ListRequest) (*op.ListResult, error) {
	order, err := parseSort(req.Sort)
	if err != nil {
		return nil, err
	}
	then, err := e.Search.Moment(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	now := then.At
	p, err := core.NewPage[*stm.Row](req.Cursor, order, req.Limit, DefaultPage, now)
	if err != nil {
		return nil, err
	}
	filter, err := e.Filter(req.Filter, p.At)
	if err == nil {
		err = checkContains(req.Contains)
	}
	if err != nil {
		return nil, err
	}
	if then.Past != nil && !p.At.Equal(now) {
		return nil, memory.Errorf(memory.Invalid,
			"invalid cursor; use the as_of time of the previous page, or omit the cursor").At(
			"cursor")
	}
	part := stm.NewPart(req.Contains)
	for r := range then.Rows() {
		if filter.Accepts(r) && r.Holds(part) {
			p.Add(e.sortValue(r, order, p.At), r.ID(), r)
		}
	}
	if p.Total == 0 && req.Contains == "" {
		if err := core.CheckCollection(then.MemorySet, filter.Collection); err != nil {
			return nil, err
		}
	}
	rows, next := p.Finish()
	memories, err := e.Views(then.MemorySet, rows, now)
	return &op.ListResult{Memories: memories, Total: p.Total, NextCursor: next, AsOf: then.Description()}, err
}

func checkContains(text string) error {
	if len(text) > memory.MaxQueryBytes {
		return memory.Errorf(memory.TooLarge,
			"too many bytes in the parameter \"contains\": %d (limit %d); shorten the value", len(text),
			memory.MaxQueryBytes).At("contains")
	}
	return nil
}

func parseSort(name string) (byte, error) {
	switch cmp.Or(name, "created") {
	case "created":
		return byCreated, nil
	case "used":
		return ByUsed, nil
	case "score":
		return byScore, nil
	case "uses":
		return ByUses, nil
	case "accesses":
		return byAccesses, nil
	}
	return 0, memory.Errorf(memory.Invalid, "invalid sort %.20q; use created, used, score, uses or accesses",
		name).At("sort")
}

// sortValue returns the value to sort by. It is exact, because milliseconds and counts stay
// below 2^53.
func (e *Memories) sortValue(r *stm.Row, order byte, at time.Time) float64 {
	switch order {
	case ByUsed:
		return float64(r.LastUsed().UnixMilli())
	case byScore:
		return e.Score(r, at)
	case ByUses:
		return float64(r.UseCount())
	case byAccesses:
		return float64(r.AccessCount())
	default:
		return float64(r.CreatedAt().UnixMilli())
	}
}

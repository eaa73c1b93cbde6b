package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Bounds of a graph. Relations of a page are cut only between two memories, so that a
// page of one has all that start at it.
const (
	maxGraph       = 10_000 // memories that a request may name as its limit
	maxGraphPage   = 1_000_000
	graphPage      = 10
	graphRelations = 2_000
)

// graph gives a page of memories, newest first, and what of relations between selected
// memories starts at them.
func (e *Engine) graph(_ context.Context, req *op.GraphRequest) (*op.GraphResult, error) {
	page, size := cmp.Or(req.Page, 1), cmp.Or(req.PageSize, graphPage)
	err := firstError(
		memory.CheckRange("limit", float64(req.Limit), 0, maxGraph),
		memory.CheckRange("page", float64(page), 1, maxGraphPage),
		memory.CheckRange("page_size", float64(size), 1, memory.MaxResults),
	)
	if err != nil {
		return nil, err
	}
	now := e.opt.Now()
	s, err := e.selection(req, now)
	if err != nil {
		return nil, err
	}
	res := &op.GraphResult{Relations: []memory.Relation{}, Stats: e.graphStats(s, now), Pagination: paginate(len(s.rows), page, size)}
	rows := s.page(page, size)
	for _, r := range rows {
		within := e.within(s, r)
		if res.Truncated = len(within) > 0 && len(res.Relations) >= graphRelations; res.Truncated {
			break
		}
		res.Relations = append(res.Relations, within...)
	}
	res.Memories, err = e.views(&e.stm.Memories, rows, now)
	return res, err
}

// within are the relations from a memory to selected ones.
func (e *Engine) within(s *selected, r *stm.Row) []memory.Relation {
	return slices.DeleteFunc(e.stm.Relations(r), func(rel memory.Relation) bool {
		to, ok := e.stm.Get(rel.To)
		return !ok || !s.has(to)
	})
}

func (s *selected) page(page, size int) []*stm.Row {
	var out []*stm.Row
	for _, r := range s.rows[min(len(s.rows), (page-1)*size):min(len(s.rows), page*size)] {
		out = append(out, r.Row)
	}
	return out
}

// paginate says where a page of so many memories is.
func paginate(total, page, size int) op.Pagination {
	pages := (total + size - 1) / size
	return op.Pagination{Page: page, PageSize: size, TotalCount: total, TotalPages: pages, HasMore: page < pages}
}

// selected are the memories of a graph, newest first.
type selected struct {
	*filter
	rows []dated
	cut  bool // there are more that fit
}

// selection collects the memories that a request selects.
func (e *Engine) selection(req *op.GraphRequest, now time.Time) (*selected, error) {
	asked := req.Filter
	asked.Status = cmp.Or(strings.ToLower(strings.TrimSpace(req.Status)), "active")
	f, err := e.filter(asked, now)
	if err != nil {
		return nil, err
	}
	s := &selected{filter: f}
	for r := range e.stm.Rows() {
		if s.accepts(r) {
			s.rows = append(s.rows, datedOf(r))
		}
	}
	if len(s.rows) == 0 {
		if err := checkCollection(&e.stm.Memories, f.Collection); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.rows, newerFirst)
	if s.cut = req.Limit > 0 && req.Limit < len(s.rows); s.cut {
		s.rows = s.rows[:req.Limit]
	}
	return s, nil
}

// dated is a memory with when it was made, which is compared often.
type dated struct {
	*stm.Row
	at int64 // Unix milliseconds
}

func datedOf(r *stm.Row) dated { return dated{r, r.CreatedAt().UnixMilli()} }

// newerFirst orders memories made at the same time by descending id.
func newerFirst(a, b dated) int {
	return cmp.Or(cmp.Compare(b.at, a.at), b.CompareID(a.Row))
}

// has reports whether a memory is among those selected.
func (s *selected) has(r *stm.Row) bool {
	return s.accepts(r) && (!s.cut || newerFirst(datedOf(r), s.rows[len(s.rows)-1]) <= 0)
}

// graphStats counts over all pages.
func (e *Engine) graphStats(s *selected, now time.Time) op.GraphStats {
	out := op.GraphStats{TotalMemories: len(s.rows), StatusFilter: s.Status}
	if len(s.rows) == 0 {
		return out
	}
	for _, r := range s.rows {
		out.AvgScore += e.score(r.Row, now)
		out.AvgUseCount += float64(r.UseCount())
	}
	out.AvgScore /= float64(len(s.rows))
	out.AvgUseCount /= float64(len(s.rows))
	out.TotalRelations = e.stm.CountRelations(s.has)
	return out
}

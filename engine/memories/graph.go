package memories

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Limits of a graph. The relations of a page are cut only between two memories, so that a page
// with one memory has all relations that start at it.
const (
	maxGraph       = 10_000 // maximum limit of a request
	maxGraphPage   = 1_000_000
	graphPage      = 10
	graphRelations = 2_000
)

// ReadGraph returns a page of memories, newest first, with their relations to selected
// memories.
func (e *Memories) ReadGraph(_ context.Context, req *op.GraphRequest) (*op.GraphResult, error) {
	page, size := cmp.Or(req.Page, 1), cmp.Or(req.PageSize, graphPage)
	err := core.FirstError(
		memory.CheckRange("limit", float64(req.Limit), 0, maxGraph),
		memory.CheckRange("page", float64(page), 1, maxGraphPage),
		memory.CheckRange("page_size", float64(size), 1, memory.MaxResults),
	)
	if err != nil {
		return nil, err
	}
	now := e.Opt.Now()
	s, err := e.selection(req, now)
	if err != nil {
		return nil, err
	}
	res := &op.GraphResult{Relations: []memory.Relation{}, Stats: e.graphStats(s, now),
		Pagination: Paginate(len(s.rows), page, size)}
	rows := s.page(page, size)
	for _, r := range rows {
		within := e.within(s, r)
		if res.Truncated = len(within) > 0 && len(res.Relations) >= graphRelations; res.Truncated {
			break
		}
		res.Relations = append(res.Relations, within...)
	}
	res.Memories, err = e.Views(&e.Stm.MemorySet, rows, now)
	return res, err
}

// within returns the relations from a memory to selected ones.
func (e *Memories) within(s *graphSelection, r *stm.Row) []memory.Relation {
	return slices.DeleteFunc(e.Stm.Relations(r), func(rel memory.Relation) bool {
		to, ok := e.Stm.Get(rel.To)
		return !ok || !s.has(to)
	})
}

func (s *graphSelection) page(page, size int) []*stm.Row {
	var out []*stm.Row
	for _, r := range s.rows[min(len(s.rows), (page-1)*size):min(len(s.rows), page*size)] {
		out = append(out, r.Row)
	}
	return out
}

// Paginate returns the description of a page.
func Paginate(total, page, size int) op.Pagination {
	pages := (total + size - 1) / size
	return op.Pagination{Page: page, PageSize: size, TotalCount: total, TotalPages: pages, HasMore: page < pages}
}

// graphSelection is the memories of a graph, newest first.
type graphSelection struct {
	*core.Filter
	rows []datedMemory
	cut  bool // more memories match than fit
}

// selection returns the memories that a request selects.
func (e *Memories) selection(req *op.GraphRequest, now time.Time) (*graphSelection, error) {
	asked := req.Filter
	asked.Status = cmp.Or(strings.ToLower(strings.TrimSpace(req.Status)), "active")
	f, err := e.Filter(asked, now)
	if err != nil {
		return nil, err
	}
	s := &graphSelection{Filter: f}
	for r := range e.Stm.Rows() {
		if s.Accepts(r) {
			s.rows = append(s.rows, newDatedMemory(r))
		}
	}
	if len(s.rows) == 0 {
		if err := core.CheckCollection(&e.Stm.MemorySet, f.Collection); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.rows, newerFirst)
	if s.cut = req.Limit > 0 && req.Limit < len(s.rows); s.cut {
		s.rows = s.rows[:req.Limit]
	}
	return s, nil
}

// datedMemory is a memory with its time of creation, which is compared often.
type datedMemory struct {
	*stm.Row
	at int64 // Unix milliseconds
}

func newDatedMemory(r *stm.Row) datedMemory { return datedMemory{r, r.CreatedAt().UnixMilli()} }

// newerFirst orders memories with the same time by descending ID.
func newerFirst(a, b datedMemory) int {
	return cmp.Or(cmp.Compare(b.at, a.at), b.CompareID(a.Row))
}

// has reports whether a memory is selected.
func (s *graphSelection) has(r *stm.Row) bool {
	return s.Accepts(r) && (!s.cut || newerFirst(newDatedMemory(r), s.rows[len(s.rows)-1]) <= 0)
}

// graphStats returns the statistics of all pages.
func (e *Memories) graphStats(s *graphSelection, now time.Time) op.GraphStats {
	out := op.GraphStats{TotalMemories: len(s.rows), StatusFilter: s.Status}
	if len(s.rows) == 0 {
		return out
	}
	for _, r := range s.rows {
		out.AvgScore += e.Score(r.Row, now)
		out.AvgUseCount += float64(r.UseCount())
	}
	out.AvgScore /= float64(len(s.rows))
	out.AvgUseCount /= float64(len(s.rows))
	out.TotalRelations = e.Stm.CountRelations(s.has)
	return out
}

package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"emberd/compaction"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// topTags is how many tags stats names.
const topTags = 20

// stats counts the memories of a project or collection, or all.
func (e *Engine) stats(ctx context.Context, req *op.StatsRequest) (*op.StatsResult, error) {
	filter, err := e.filter(op.Filter{Project: req.Project, Collection: req.Collection}, e.opt.Now())
	if err != nil {
		return nil, err
	}
	c := newCount()
	for r := range e.stm.Rows() {
		if filter.accepts(r) {
			c.add(r, filter.score(r))
		}
	}
	if c.Total == 0 {
		if err := checkCollection(&e.stm.Memories, filter.Collection); err != nil {
			return nil, err
		}
	}
	st := e.stm.Status()
	c.Trash, c.LogBytes, c.Segments = st.Trash, st.Bytes, st.Segments
	if req.Log {
		if c.Log, err = e.logStats(ctx); err != nil {
			return nil, err
		}
	}
	return c.result(), nil
}

// logStats reads the log, which takes a while.
func (e *Engine) logStats(ctx context.Context) (*op.LogStats, error) {
	st, err := e.stm.Stats(ctx)
	if err != nil {
		return nil, err
	}
	segments, err := e.stm.Segments()
	if err != nil {
		return nil, err
	}
	plan := compaction.Defaults().Plan(segments, st.Dead, false)
	return &op.LogStats{Live: st.Live, Tombstones: st.Tombstones, Lines: st.Lines, Duplicates: st.Duplicates,
		Bytes: st.Bytes, Dead: st.Dead, HistoryBytes: st.HistoryBytes, Due: plan.Due, Why: plan.Reason}, nil
}

// count is a result in the making.
type count struct {
	op.StatsResult
	tags        map[string]int
	score, uses float64 // sums
}

func newCount() *count {
	return &count{
		StatsResult: op.StatsResult{
			Stages: make(map[memory.Stage]int), Statuses: make(map[string]int),
			Collections: make(map[string]int), Projects: make(map[string]int),
		},
		tags: make(map[string]int),
	}
}

func (c *count) add(r *stm.Row, score float64) {
	c.Total++
	c.Stages[r.Stage()]++
	c.Statuses[statusOf(r)]++
	c.Collections[r.Collection()]++
	if r.Project() != "" {
		c.Projects[r.Project()]++
	}
	for _, t := range r.Tags() {
		c.tags[t]++
	}
	c.score += score
	c.uses += float64(r.UseCount())
	c.span(r.CreatedAt())
}

func (c *count) span(created time.Time) {
	if c.Oldest.IsZero() || created.Before(c.Oldest) {
		c.Oldest = created
	}
	if created.After(c.Newest) {
		c.Newest = created
	}
}

// statusOf asks memory.Memory, which has the rule, without decoding one.
func statusOf(r *stm.Row) string {
	m := memory.Memory{Stage: r.Stage()}
	if r.Promoted() {
		m.PromotedTo = "a note"
	}
	return m.Status()
}

func (c *count) result() *op.StatsResult {
	c.TopTags = make([]op.TagCount, 0, len(c.tags))
	for t, n := range c.tags {
		c.TopTags = append(c.TopTags, op.TagCount{Tag: t, Count: n})
	}
	slices.SortFunc(c.TopTags, func(a, b op.TagCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tag, b.Tag))
	})
	c.TopTags = c.TopTags[:min(topTags, len(c.TopTags))]
	if c.Total > 0 {
		c.AvgScore, c.AvgUses = c.score/float64(c.Total), c.uses/float64(c.Total)
	}
	return &c.StatsResult
}

package admin

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"emberd/compaction"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// topTags is how many tags the statistics contain.
const topTags = 20

// Stats returns the statistics of a project or collection, or of all memories.
func (e *Admin) Stats(ctx context.Context, req *op.StatsRequest) (*op.StatsResult, error) {
	filter, err := e.Filter(op.Filter{Project: req.Project, Collection: req.Collection}, e.Opt.Now())
	if err != nil {
		return nil, err
	}
	res := e.counted.get(e.Revision.Load(), req, e.Opt.Now())
	if res == nil || e.Grant != nil { // the age of a stored count reveals changes of other memories
		res = e.CountRows(req, filter)
	}
	if res.Total == 0 {
		if err := core.CheckCollection(&e.Stm.MemorySet, filter.Collection); err != nil {
			return nil, err
		}
	}
	if e.Grant != nil { // the trash and the log are about all memories
		return res, core.LogIsWhole(e.Grant, req.Log)
	}
	st := e.Stm.Status()
	res.Trash, res.LogBytes, res.Segments = st.Trash, st.Bytes, st.Segments
	if req.Log {
		if res.Log, err = e.logStats(ctx); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// CountRows counts again. It scans the memories only if a filter is set.
func (e *Admin) CountRows(req *op.StatsRequest, filter *core.Filter) *op.StatsResult {
	revision := e.Revision.Load()
	c := NewCount()
	if filter.Accept() == nil {
		c.all(e.Stm.Counts())
		c.score = e.averaged.of(&e.Stm.MemorySet, filter.Score, e.Opt.Now()) * float64(c.Total)
	} else {
		for r := range e.Stm.Rows() {
			if filter.Accepts(r) {
				c.Add(r, filter.Score(r))
			}
		}
	}
	res := c.Result()
	e.counted.put(cachedCount{revision: revision, project: req.Project, collection: req.Collection, at: e.Opt.Now(),
		result: *res})
	return res
}

// ScoredAnew is up to how many memories the average score is computed after every change,
// which takes a few milliseconds.
const ScoredAnew = 10_000

// LastAverage is the average score of all memories.
type LastAverage struct {
	last atomic.Pointer[average]
}

type average struct {
	score float64
	at    time.Time
}

// of returns the average score. For many memories it may be as old as CountedFor.
func (l *LastAverage) of(all *stm.MemorySet, score func(*stm.Row) float64, now time.Time) float64 {
	if last := l.last.Load(); last != nil && all.Len() > ScoredAnew {
		if age := now.Sub(last.at); age >= 0 && age < CountedFor {
			return last.score
		}
	}
	sum, n := 0.0, 0
	for r := range all.Rows() {
		sum += score(r)
		n++
	}
	fresh := &average{score: sum / float64(max(1, n)), at: now}
	l.last.Store(fresh)
	return fresh.score
}

// CountedFor is how long a count is valid without changes: then only scores change, by less
// than a thousandth.
const CountedFor = time.Minute

// cachedCount is the last count of memories.
type cachedCount struct {
	revision            uint64
	project, collection string
	at                  time.Time
	result              op.StatsResult
}

// LastCount caches the last count of memories. Any goroutine may use it.
type LastCount struct{ last atomic.Pointer[cachedCount] }

func (l *LastCount) put(c cachedCount) {
	c.result = *cloned(&c.result)
	l.last.Store(&c)
}

// get returns a valid count, nil if there is none.
func (l *LastCount) get(revision uint64, req *op.StatsRequest, now time.Time) *op.StatsResult {
	c := l.last.Load()
	if c == nil || c.revision != revision || c.project != req.Project || c.collection != req.Collection {
		return nil
	}
	if age := now.Sub(c.at); age < 0 || age >= CountedFor {
		return nil
	}
	return cloned(&c.result)
}

// cloned returns a copy that the caller may change.
func cloned(r *op.StatsResult) *op.StatsResult {
	out := *r
	out.Stages, out.Statuses = maps.Clone(r.Stages), maps.Clone(r.Statuses)
	out.Collections, out.Projects, out.TopTags = maps.Clone(r.Collections), maps.Clone(r.Projects),
		slices.Clone(r.TopTags)
	return &out
}

// logStats reads the log, which takes a while.
func (e *Admin) logStats(ctx context.Context) (*op.LogStats, error) {
	st, err := e.Stm.Stats(ctx)
	if err != nil {
		return nil, err
	}
	segments, err := e.Stm.Segments()
	if err != nil {
		return nil, err
	}
	plan := compaction.Defaults().Plan(segments, st.Dead, false)
	return &op.LogStats{Live: st.Live, Tombstones: st.Tombstones, Lines: st.Lines, Duplicates: st.Duplicates,
		Bytes: st.Bytes, Dead: st.Dead, HistoryBytes: st.HistoryBytes, Due: plan.Due, Why: plan.Reason}, nil
}

// count is a result in progress.
type count struct {
	op.StatsResult
	tags        map[string]int
	score, uses float64 // sums
}

// NewCount returns an empty count with all stages and statuses.
func NewCount() *count {
	return &count{
		StatsResult: op.StatsResult{
			Stages: map[memory.Stage]int{memory.Active: 0, memory.Demoted: 0, memory.Archived: 0,
				memory.Rehydratable: 0}, Statuses: make(map[string]int),
			Collections: make(map[string]int), Projects: make(map[string]int),
		},
		tags: make(map[string]int),
	}
}

// Add counts one memory.
func (c *count) Add(r *stm.Row, score float64) {
	c.Total++
	c.Stages[r.Stage()]++
	c.Statuses[core.StatusOf(r.Stage(), r.Promoted())]++
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

// all adds all memories without their scores.
func (c *count) all(n stm.Counts) {
	c.Total, c.uses, c.Oldest, c.Newest = n.Total, float64(n.Uses), n.Oldest, n.Newest
	maps.Copy(c.Stages, n.Stages)
	for stage, n := range n.Stages {
		c.Statuses[core.StatusOf(stage, false)] += n
	}
	for stage, n := range n.Promoted {
		c.Statuses[core.StatusOf(stage, false)] -= n
		c.Statuses[core.StatusOf(stage, true)] += n
	}
	maps.DeleteFunc(c.Statuses, func(_ string, n int) bool { return n == 0 })
	c.Collections, c.Projects, c.tags = n.Collections, n.Projects, n.Tags
	delete(c.Projects, "")
}

func (c *count) span(created time.Time) {
	if c.Oldest.IsZero() || created.Before(c.Oldest) {
		c.Oldest = created
	}
	if created.After(c.Newest) {
		c.Newest = created
	}
}

// Result returns the statistics with averages and the most frequent tags.
func (c *count) Result() *op.StatsResult {
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

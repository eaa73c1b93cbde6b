package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync/atomic"
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
	res := e.counted.get(e.revision.Load(), req, e.opt.Now())
	if res == nil || e.grant != nil { // how long a count stands tells that something else changed
		res = e.countRows(req, filter)
	}
	if res.Total == 0 {
		if err := checkCollection(&e.stm.Memories, filter.Collection); err != nil {
			return nil, err
		}
	}
	if e.grant != nil { // the trash and the log are those of everything
		return res, logIsWhole(e.grant, req.Log)
	}
	st := e.stm.Status()
	res.Trash, res.LogBytes, res.Segments = st.Trash, st.Bytes, st.Segments
	if req.Log {
		if res.Log, err = e.logStats(ctx); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// countRows counts anew. Only what is asked of a part of the memories takes a look at
// every one.
func (e *Engine) countRows(req *op.StatsRequest, filter *filter) *op.StatsResult {
	revision := e.revision.Load()
	c := newCount()
	if filter.accept() == nil {
		c.all(e.stm.Counts())
		c.score = e.averaged.of(&e.stm.Memories, filter.score, e.opt.Now()) * float64(c.Total)
	} else {
		for r := range e.stm.Rows() {
			if filter.accepts(r) {
				c.add(r, filter.score(r))
			}
		}
	}
	res := c.result()
	e.counted.put(counted{revision: revision, project: req.Project, collection: req.Collection, at: e.opt.Now(), result: *res})
	return res
}

// scoredAnew is how many memories are looked at for their average score whenever
// something changed, which takes a few milliseconds.
const scoredAnew = 10_000

// lastAverage is the average score of all memories.
type lastAverage struct {
	last atomic.Pointer[average]
}

type average struct {
	score float64
	at    time.Time
}

// of returns the average score, of many memories one that is younger than countedFor.
func (l *lastAverage) of(all *stm.Memories, score func(*stm.Row) float64, now time.Time) float64 {
	if last := l.last.Load(); last != nil && all.Len() > scoredAnew {
		if age := now.Sub(last.at); age >= 0 && age < countedFor {
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

// countedFor is how long a count stands while nothing changes: only scores do then, by
// less than a thousandth.
const countedFor = time.Minute

// counted is the last count of memories.
type counted struct {
	revision            uint64
	project, collection string
	at                  time.Time
	result              op.StatsResult
}

type lastCount struct{ last atomic.Pointer[counted] }

func (l *lastCount) put(c counted) {
	c.result = *cloned(&c.result)
	l.last.Store(&c)
}

// get returns a count that still stands, nil if there is none.
func (l *lastCount) get(revision uint64, req *op.StatsRequest, now time.Time) *op.StatsResult {
	c := l.last.Load()
	if c == nil || c.revision != revision || c.project != req.Project || c.collection != req.Collection {
		return nil
	}
	if age := now.Sub(c.at); age < 0 || age >= countedFor {
		return nil
	}
	return cloned(&c.result)
}

// cloned is a result that its caller may change.
func cloned(r *op.StatsResult) *op.StatsResult {
	out := *r
	out.Stages, out.Statuses = maps.Clone(r.Stages), maps.Clone(r.Statuses)
	out.Collections, out.Projects, out.TopTags = maps.Clone(r.Collections), maps.Clone(r.Projects), slices.Clone(r.TopTags)
	return &out
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
			Stages: map[memory.Stage]int{memory.Active: 0, memory.Demoted: 0, memory.Archived: 0, memory.Rehydratable: 0}, Statuses: make(map[string]int),
			Collections: make(map[string]int), Projects: make(map[string]int),
		},
		tags: make(map[string]int),
	}
}

func (c *count) add(r *stm.Row, score float64) {
	c.Total++
	c.Stages[r.Stage()]++
	c.Statuses[statusOf(r.Stage(), r.Promoted())]++
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

// all takes in all memories but their scores.
func (c *count) all(n stm.Counts) {
	c.Total, c.uses, c.Oldest, c.Newest = n.Total, float64(n.Uses), n.Oldest, n.Newest
	maps.Copy(c.Stages, n.Stages)
	for stage, n := range n.Stages {
		c.Statuses[statusOf(stage, false)] += n
	}
	for stage, n := range n.Promoted {
		c.Statuses[statusOf(stage, false)] -= n
		c.Statuses[statusOf(stage, true)] += n
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

// statusOf asks memory.Memory, which has the rule, without decoding one.
func statusOf(stage memory.Stage, promoted bool) string {
	m := memory.Memory{Stage: stage}
	if promoted {
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

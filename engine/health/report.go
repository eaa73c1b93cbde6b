package health

import (
	"cmp"
	"context"
	"time"

	"emberd/engine/core"
	"emberd/internal/cleanup/quality"
	"emberd/internal/dedupe"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// band is a range of values below a bound.
type band struct {
	name  string
	below float64
}

// scoreBands have their bounds where CortexGraph deletes, starts and stops to remind, and
// promotes.
var scoreBands = []band{{"below 0.05", 0.05}, {"0.05 to 0.15", 0.15}, {"0.15 to 0.35", 0.35}, {"0.35 to 0.65", 0.65}}

const topScore = "0.65 and more"

// accessBands are in days.
var accessBands = []band{{"a day", 1}, {"a week", 7}, {"a month", 30}, {"90 days", 90}}

const longAgo = "longer ago"

// bands counts values by range.
type bands struct {
	of     []band
	counts []op.HealthBand
}

// newBands returns a counter for each range and one for values beyond them.
func newBands(of []band, beyond string) *bands {
	b := &bands{of: of}
	for _, one := range of {
		b.counts = append(b.counts, op.HealthBand{Name: one.name})
	}
	b.counts = append(b.counts, op.HealthBand{Name: beyond})
	return b
}

func (b *bands) add(v float64) {
	i := 0
	for i < len(b.of) && v >= b.of[i].below {
		i++
	}
	b.counts[i].Count++
}

// Health returns a report on a collection, by default on all. It returns a stored report that
// is still valid.
func (e *Health) Health(ctx context.Context, req *op.HealthRequest) (*op.HealthResult, error) {
	s, err := e.scopeOf(req.Collection, core.EveryCollection)
	if err != nil {
		return nil, err
	}
	if !req.Fresh {
		if kept := e.Reports.get(s); kept != nil {
			return kept, nil
		}
	}
	changed := e.Reports.Changed.Load()
	res, err := s.examine(ctx)
	if err != nil {
		return nil, err
	}
	e.Reports.put(s, changed, res)
	return res, nil
}

// examine makes a report.
func (s healthScope) examine(ctx context.Context) (*op.HealthResult, error) {
	began := s.e.Opt.Now()
	res := &op.HealthResult{At: core.StampTime(began), Collection: s.name, Examples: make(map[string][]string)}
	if err := s.count(ctx, res, began); err != nil {
		return nil, err
	}
	if err := s.checkExists(res.Memories); err != nil {
		return nil, err
	}
	if err := s.countUnused(res); err != nil {
		return nil, err
	}
	if err := s.countSimilar(ctx, res); err != nil {
		return nil, err
	}
	for item := range s.e.Review.ReviewItems() {
		if item.Status != memory.ItemClosed && s.concerns(item) {
			res.Review++
		}
	}
	res.Next = nextSteps(res)
	res.Millis = s.e.Opt.Now().Sub(began).Milliseconds()
	return res, nil
}

// concerns reports whether a review item has a memory of the collection.
func (s healthScope) concerns(item memory.ReviewItem) bool {
	for _, id := range item.MemoryIDs {
		if r, live := s.e.Stm.Get(id); live && s.has(r) {
			return true
		}
	}
	return false
}

// count reads every memory once. That is a third of the work of a report.
func (s healthScope) count(ctx context.Context, res *op.HealthResult, now time.Time) error {
	stages := make(map[memory.Stage]int)
	junk := 0
	scores, ages := newBands(scoreBands, topScore), newBands(accessBands, longAgo)
	for r := range s.e.Stm.Rows() {
		if !s.has(r) {
			continue
		}
		if res.Memories++; res.Memories%countedAtOnce == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			op.Report(ctx, res.Memories, 3*s.e.Stm.Len())
		}
		stages[r.Stage()]++
		score := s.e.Score(r, now)
		scores.add(score)
		ages.add(max(0, now.Sub(core.UnusedSince(r)).Hours()/core.HoursOfADay))
		if zone := s.e.Opt.Review; !r.Core() && !r.Stage().Cold() && score >= zone.Min && score < zone.Max {
			res.AtRisk++
		}
		if outdated(r, now) != nil {
			res.Migrate++
		}
		if s.e.junk(r, now) {
			junk++
		}
	}
	for _, stage := range memory.Stages() {
		res.Stages = append(res.Stages, op.StageStatus{Stage: stage, Count: stages[stage]})
	}
	res.Scores, res.Ages, res.Junk = scores.counts, ages.counts, &junk
	return nil
}

// countedAtOnce is after how many memories count checks for a cancellation.
const countedAtOnce = 512

// junk reports whether the quality rules, without a model, rate a memory so low that a cleanup
// would remove it if it were not protected. Archived memories are not rated.
func (e *Health) junk(r *stm.Row, now time.Time) bool {
	if !hasWholeText(r) || r.Core() || r.Promoted() {
		return false
	}
	m, err := r.Memory()
	if err != nil {
		return false
	}
	entry := quality.Entry{ID: m.ID, Text: m.Content, Created: m.CreatedAt, LastUsed: m.LastUsed, UseCount: m.UseCount,
		Confidence: m.Confidence,
		Origin:     m.Origin, Confirmed: !m.ConfirmedAt.IsZero(), Learned: m.Learned(), Superseded: e.Superseded(r)}
	if !m.EntitiesFound {
		entry.Entities = m.Entities
	}
	return quality.Low(&entry, now, e.Opt.Cleanup.Policy.Delete)
}

// exampleIDs is how many IDs of each kind a report has.
const exampleIDs = 3

// countUnused counts unused memories, by the defaults of the lists.
func (s healthScope) countUnused(res *op.HealthResult) error {
	stale, err := s.e.staleAsk(&op.HealthStaleRequest{Collection: s.name})
	if err != nil {
		return err
	}
	low, err := s.e.lowAsk(&op.HealthLowAccessRequest{Collection: s.name})
	if err != nil {
		return err
	}
	old, _ := stale.find()
	few, _ := low.find()
	res.Stale, res.LowAccess = len(old), len(few)
	for _, u := range old[:min(exampleIDs, len(old))] {
		res.Examples["stale"] = append(res.Examples["stale"], string(u.row.ID()))
	}
	for _, r := range few[:min(exampleIDs, len(few))] {
		res.Examples["low_access"] = append(res.Examples["low_access"], string(r.ID()))
	}
	return nil
}

// countSimilar counts clusters, and the pairs in them with the similarity of duplicates, whatever
// keeps them distinct.
func (s healthScope) countSimilar(ctx context.Context, res *op.HealthResult) error {
	g := s.wholeMemories()
	found, err := dedupe.Find(ctx, s.e.Text, g.Items,
		dedupe.Options{Threshold: op.ClusterThreshold, MaxSize: op.MaxClusterSize,
			Vectors: s.e.Merge.ClusterVectors(ctx, g)},
		func(done, total int) { op.Report(ctx, total/2+done, total/2+total) })
	if err != nil {
		return err
	}
	res.Clusters = len(found.Clusters)
	for _, pairs := range [][]dedupe.Pair{found.Alike, found.Apart} {
		for _, p := range pairs {
			if p.Similarity < sameText {
				break // the others are less similar
			}
			if res.Duplicates++; len(res.Examples["duplicates"]) < exampleIDs {
				res.Examples["duplicates"] = append(res.Examples["duplicates"],
					string(g.Items[p.A].ID)+" "+string(g.Items[p.B].ID))
			}
		}
	}
	return nil
}

// nextSteps returns the commands that fix a problem, the safest first.
func nextSteps(res *op.HealthResult) []string {
	out := []string{}
	in := ""
	if res.Collection != core.EveryCollection {
		in = " -c " + res.Collection
	}
	for _, step := range []struct {
		n       int
		command string
	}{
		{res.Review, "emberd review list"},
		{res.Duplicates, "emberd health duplicates" + cmp.Or(in, " -c "+core.EveryCollection)},
		{res.Clusters, "emberd health groups"},
		{orDefault(res.Junk, 0), "emberd health cleanup" + cmp.Or(in, " -c "+core.EveryCollection)},
		{res.Stale, "emberd health stale" + cmp.Or(in, " -c "+core.EveryCollection)},
		{res.LowAccess, "emberd health unused" + cmp.Or(in, " -c "+core.EveryCollection)},
	} {
		if step.n > 0 {
			out = append(out, step.command)
		}
	}
	return out
}

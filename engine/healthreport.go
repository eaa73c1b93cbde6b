package engine

import (
	"cmp"
	"context"
	"time"

	"emberd/internal/cluster"
	"emberd/internal/quality"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// band is a range of a report, up to its bound and without it.
type band struct {
	name  string
	below float64
}

// scoreBands are divided where CortexGraph forgets, begins and ends to remind, and promotes.
var scoreBands = []band{{"below 0.05", 0.05}, {"0.05 to 0.15", 0.15}, {"0.15 to 0.35", 0.35}, {"0.35 to 0.65", 0.65}}

const topScore = "0.65 and more"

// accessBands are in days.
var accessBands = []band{{"a day", 1}, {"a week", 7}, {"a month", 30}, {"90 days", 90}}

const longAgo = "longer ago"

// bands counts what falls where.
type bands struct {
	of     []band
	counts []op.HealthBand
}

// newBands has a place for each range, then one for what is beyond them, and, if it has a
// name, one for what never was.
func newBands(of []band, beyond, never string) *bands {
	b := &bands{of: of}
	for _, one := range of {
		b.counts = append(b.counts, op.HealthBand{Name: one.name})
	}
	b.counts = append(b.counts, op.HealthBand{Name: beyond})
	if never != "" {
		b.counts = append(b.counts, op.HealthBand{Name: never})
	}
	return b
}

func (b *bands) add(v float64) {
	i := 0
	for i < len(b.of) && v >= b.of[i].below {
		i++
	}
	b.counts[i].Count++
}

// health reports on a collection, by default on all. A report of the last day is given
// again unless the store is another one by now.
func (e *Engine) health(ctx context.Context, req *op.HealthRequest) (*op.HealthResult, error) {
	s, err := e.scopeOf(req.Collection, everyCollection)
	if err != nil {
		return nil, err
	}
	if !req.Fresh {
		if kept := e.reports.get(s); kept != nil {
			return kept, nil
		}
	}
	changed := e.reports.changed.Load()
	res, err := s.examine(ctx)
	if err != nil {
		return nil, err
	}
	e.reports.put(s, changed, res)
	return res, nil
}

// examine makes a report.
func (s healthScope) examine(ctx context.Context) (*op.HealthResult, error) {
	began := s.e.opt.Now()
	res := &op.HealthResult{At: stampTime(began), Collection: s.name, Examples: make(map[string][]string)}
	if err := s.count(ctx, res, began); err != nil {
		return nil, err
	}
	if err := s.known(res.Memories); err != nil {
		return nil, err
	}
	if err := s.unusedIn(res); err != nil {
		return nil, err
	}
	if err := s.alikeIn(ctx, res); err != nil {
		return nil, err
	}
	for item := range s.e.reviewItems() {
		if item.Status == memory.ItemOpen && s.concerns(item) {
			res.Review++
		}
	}
	res.Next = nextSteps(res)
	res.Millis = s.e.opt.Now().Sub(began).Milliseconds()
	return res, nil
}

// concerns reports whether a review item is about a memory of the collection.
func (s healthScope) concerns(item memory.ReviewItem) bool {
	for _, id := range item.MemoryIDs {
		if r, live := s.e.stm.Get(id); live && s.has(r) {
			return true
		}
	}
	return false
}

// count looks at every memory once. That is a third of the work of a report.
func (s healthScope) count(ctx context.Context, res *op.HealthResult, now time.Time) error {
	stages := make(map[memory.Stage]int)
	junk := 0
	scores, ages := newBands(scoreBands, topScore, ""), newBands(accessBands, longAgo, neverUsed)
	for r := range s.e.stm.Rows() {
		if !s.has(r) {
			continue
		}
		if res.Memories++; res.Memories%countedAtOnce == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			op.Report(ctx, res.Memories, 3*s.e.stm.Len())
		}
		stages[r.Stage()]++
		score := s.e.score(r, now)
		scores.add(score)
		if at := lastAccess(r); at.IsZero() {
			ages.counts[len(ages.counts)-1].Count++
		} else {
			ages.add(max(0, now.Sub(at).Hours()/hoursOfADay))
		}
		if zone := s.e.opt.Review; !r.Core() && !r.Stage().Cold() && score >= zone.Min && score < zone.Max {
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

// countedAtOnce memories are counted between two looks at whether somebody gave up.
const countedAtOnce = 512

// junk reports whether the rules of quality, without a model, find so little in a memory
// that a cleanup would remove it, were it not protected. What is left of a cold one is not
// judged.
func (e *Engine) junk(r *stm.Row, now time.Time) bool {
	if !wholly(r) || r.Core() || r.Promoted() {
		return false
	}
	m, err := r.Memory()
	if err != nil {
		return false
	}
	entry := quality.Entry{ID: m.ID, Text: m.Content, Created: m.CreatedAt, LastUsed: m.LastUsed, UseCount: m.UseCount, Confidence: m.Confidence,
		Origin: m.Origin, Confirmed: !m.ConfirmedAt.IsZero(), Learned: m.Learned(), Superseded: e.superseded(r)}
	if !m.EntitiesFound {
		entry.Entities = m.Entities
	}
	return quality.Low(&entry, now, e.opt.Cleanup.Policy.Delete)
}

// exampleIDs is how many ids a report has of each kind.
const exampleIDs = 3

// unusedIn counts what nobody asks for, as the lists do by default.
func (s healthScope) unusedIn(res *op.HealthResult) error {
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

// alikeIn counts clusters, and of the pairs that they are made of those that are as alike
// as duplicates, whatever keeps them apart.
func (s healthScope) alikeIn(ctx context.Context, res *op.HealthResult) error {
	g := s.whole()
	found, err := cluster.Find(ctx, s.e.text, g.items, cluster.Options{Threshold: op.ClusterThreshold, MaxSize: op.MaxClusterSize,
		Vectors: s.e.clusterVectors(ctx, g)}, func(done, total int) { op.Report(ctx, total/2+done, total/2+total) })
	if err != nil {
		return err
	}
	res.Clusters = len(found.Clusters)
	for _, pairs := range [][]cluster.Pair{found.Alike, found.Apart} {
		for _, p := range pairs {
			if p.Similarity < sameText {
				break // the others are less alike
			}
			if res.Duplicates++; len(res.Examples["duplicates"]) < exampleIDs {
				res.Examples["duplicates"] = append(res.Examples["duplicates"], string(g.items[p.A].ID)+" "+string(g.items[p.B].ID))
			}
		}
	}
	return nil
}

// nextSteps are the commands that mend something, the safest first.
func nextSteps(res *op.HealthResult) []string {
	out := []string{}
	in := ""
	if res.Collection != everyCollection {
		in = " -c " + res.Collection
	}
	for _, step := range []struct {
		n       int
		command string
	}{
		{res.Migrate, "emberd migrate" + cmp.Or(in, " -c "+everyCollection)},
		{res.Review, "emberd review list"},
		{res.Duplicates, "emberd health duplicates" + cmp.Or(in, " -c "+everyCollection)},
		{res.Clusters, "emberd cluster"},
		{orDefault(res.Junk, 0), "emberd cleanup" + cmp.Or(in, " -c "+everyCollection)},
		{res.Stale, "emberd health stale" + cmp.Or(in, " -c "+everyCollection)},
		{res.LowAccess, "emberd health low-access" + cmp.Or(in, " -c "+everyCollection)},
	} {
		if step.n > 0 {
			out = append(out, step.command)
		}
	}
	return out
}

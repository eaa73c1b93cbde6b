package cleanup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/merge"
	"emberd/internal/cleanup"
	"emberd/internal/cleanup/quality"
	"emberd/internal/cleanup/runstore"
	"emberd/internal/dedupe"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// collectedEntries are the memories of a collection, with the same index in all lists.
type collectedEntries struct {
	merge.ClusterInput
	entries []cleanup.Entry
	judged  []quality.Entry
	changed []time.Time // last change of text or fields
}

// planCleanup plans the cleanup of a collection.
func (e *Cleanup) planCleanup(ctx context.Context, run *runstore.Run) (*runstore.Plan, error) {
	in, err := e.collectEntries(ctx, run.Collection)
	if err != nil {
		return nil, err
	}
	like, err := cleanup.Alike(ctx, e.Text, in.entries,
		dedupe.Options{Threshold: e.Opt.Cleanup.Threshold, MaxSize: op.MaxClusterSize,
			Vectors: e.Merge.ClusterVectors(ctx, &in.ClusterInput)},
		merge.ClusterProgress(runContext(ctx, progressBackup, progressAlike)))
	if err != nil {
		return nil, err
	}
	all := len(in.entries)
	if run.Incremental {
		since, err := e.lastCleanup(run.Collection)
		if err != nil {
			return nil, err
		}
		in.keep(e.changedOrSimilar(in, like, since))
	}
	in.countSimilar(like)
	scores, err := e.judge(runContext(ctx, progressAlike, progressScored), run, in)
	if err != nil {
		return nil, err
	}
	made := cleanup.Make(e.Text, in.entries, like, scores, e.Opt.Cleanup.Policy)
	run.Entries, run.Manual, run.Protected = all, made.Manual, made.Protected
	run.Clusters, run.Conflicts, run.Resolved, run.Limited = made.Clusters, made.Conflicts, made.Resolved, made.Limited
	run.After = made.After + all - len(in.entries)
	return e.newPlan(run, in, &made, scores)
}

// collectEntries returns all memories of a collection.
func (e *Cleanup) collectEntries(ctx context.Context, collection string) (*collectedEntries, error) {
	in := new(collectedEntries)
	asked := e.askedAbout()
	for r := range e.Stm.Rows() {
		if collection != core.EveryCollection && r.Collection() != collection {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		m, err := r.Memory()
		if err != nil {
			continue // reported elsewhere
		}
		in.add(e, r, &m)
		in.entries[len(in.entries)-1].Asked = asked[m.ID]
	}
	return in, nil
}

// add adds one memory. Memories of different collections or projects are not compared: a merge
// would remove one from its collection.
func (in *collectedEntries) add(e *Cleanup, r *stm.Row, m *memory.Memory) {
	unknown := core.UnknownFields(r.Fields())
	group := r.Collection() + "\x00" + r.Project()
	one := cleanup.Entry{ID: m.ID, Group: group, Text: m.Content, Manual: cleanup.Manual(unknown, m.Meta),
		Created: m.CreatedAt,
		Origin:  m.Origin, DataOnly: m.DataOnly(), Confirmed: !m.ConfirmedAt.IsZero()}
	one.Fixed = cleanup.Fixed(m, e.decided(m.ID))
	one.Linked = e.sameHierarchy(r)
	one.HasImplementation, one.ChunkType = cleanup.Chunking(unknown, m.Meta)
	superseded := e.Superseded(r)
	switch {
	case m.Stage.Cold() || r.Has("text_digest"):
		one.Away = "the text of the memory is in a note"
	case superseded:
		one.Away = "another memory supersedes it"
	case m.ConsolidatedInto != "":
		one.Away = "the memory was merged into another one"
	}
	q := quality.Entry{ID: m.ID, Text: m.Content, Created: m.CreatedAt, LastUsed: m.LastUsed, UseCount: m.UseCount,
		Confidence: m.Confidence,
		Origin:     m.Origin, Confirmed: one.Confirmed, Learned: m.Learned(), Superseded: superseded}
	if !m.EntitiesFound {
		q.Entities = m.Entities
	}
	in.Rows = append(in.Rows, r)
	in.Items = append(in.Items, dedupe.Item{ID: m.ID, Group: group, Text: m.Content})
	in.entries, in.judged = append(in.entries, one), append(in.judged, q)
	in.changed = append(in.changed, r.UpdatedAt())
}

// askedAbout returns, for each memory with a contradiction, the contradicting memories that an
// earlier cleanup has filed, or a reviewer has decided about, with no change since. Items of
// other agents do not count, because the cleanup may resolve them.
func (e *Cleanup) askedAbout() map[memory.ID][]memory.ID {
	out := make(map[memory.ID][]memory.ID)
	for item := range e.Review.ReviewItems() {
		decided := item.Status == memory.ItemClosed
		switch {
		case item.Action != core.ContradictionAction, decided &&
			(item.ClosedAt.IsZero() || e.Review.ChangedSince(&item)), !decided && item.Agent != op.ReviewCleanup:
			continue
		}
		for _, id := range item.MemoryIDs {
			out[id] = append(out[id], item.MemoryIDs...)
		}
	}
	return out
}

// decided reports whether a memory is the decision about another one.
func (e *Cleanup) decided(id memory.ID) bool {
	in, _ := e.Stm.RelationsTo(id, core.OpenedRelations)
	for i := range in {
		if in[i].Type == memory.HasDecision {
			return true
		}
	}
	return false
}

// sameHierarchy returns the memories in the same hierarchy.
func (e *Cleanup) sameHierarchy(row *stm.Row) (out []memory.ID) {
	in, _ := e.Stm.RelationsTo(row.ID(), core.OpenedRelations)
	for _, r := range append(in, e.Stm.Relations(row)...) {
		if r.Type == memory.Related && slices.Contains([]string{"version", "platform", core.KindSupersedes}, r.Kind) {
			out = append(out, r.From, r.To)
		}
	}
	return slices.DeleteFunc(out, func(id memory.ID) bool { return id == row.ID() })
}

// countSimilar counts, for each memory, the others with the same words and those that contradict it.
// The rating depends on both.
func (in *collectedEntries) countSimilar(like cleanup.Likeness) {
	place := make(map[memory.ID]int, len(in.judged))
	words := make(map[string]int)
	folded := func(i int) string {
		return in.entries[i].Group + "\x00" + strings.Join(strings.Fields(strings.ToLower(in.entries[i].Text)), " ")
	}
	for i := range in.judged {
		place[in.judged[i].ID] = i
		words[folded(i)]++
	}
	for i := range in.judged {
		in.judged[i].Copies = words[folded(i)] - 1
	}
	for _, p := range like.Pairs {
		for _, id := range []memory.ID{p.A, p.B} {
			if i, there := place[id]; there {
				in.judged[i].Disputed++
			}
		}
	}
}

// changedOrSimilar returns the memories that changed since a time, and those similar to them.
func (e *Cleanup) changedOrSimilar(in *collectedEntries, like cleanup.Likeness, since time.Time) map[memory.ID]bool {
	changed, out := make(map[memory.ID]bool), make(map[memory.ID]bool)
	for i := range in.entries {
		if !in.changed[i].Before(since) {
			changed[in.entries[i].ID], out[in.entries[i].ID] = true, true
		}
	}
	together := func(ids ...memory.ID) {
		news := false
		for _, id := range ids {
			news = news || changed[id]
		}
		for _, id := range ids {
			out[id] = out[id] || news
		}
	}
	for _, c := range like.Clusters {
		together(c.Members...)
	}
	for _, p := range like.Pairs {
		together(p.A, p.B)
	}
	return out
}

// keep removes all other memories.
func (in *collectedEntries) keep(which map[memory.ID]bool) {
	out := new(collectedEntries)
	for i := range in.entries {
		if which[in.entries[i].ID] {
			out.Rows, out.Items = append(out.Rows, in.Rows[i]), append(out.Items, in.Items[i])
			out.entries, out.judged = append(out.entries, in.entries[i]), append(out.judged, in.judged[i])
		}
	}
	*in = *out
}

// lastCleanup returns the start of the last run over a collection that was not undone.
func (e *Cleanup) lastCleanup(collection string) (time.Time, error) {
	runs, err := e.Cleanups.Folder.Runs()
	for i := range runs {
		r := &runs[i]
		over := r.Collection == collection || r.Collection == core.EveryCollection
		if over && (r.State == op.CleanupDone && r.Tx == "" || e.inEffect(r)) {
			return r.Started, nil
		}
	}
	if len(runs) > 0 {
		err = nil // an unreadable run only makes this one check more
	}
	return time.Time{}, err
}

// judge rates the memories that a person wrote.
func (e *Cleanup) judge(ctx context.Context, run *runstore.Run,
	in *collectedEntries) (map[memory.ID]quality.Score, error) {
	var which []quality.Entry
	for i := range in.entries {
		if in.entries[i].Manual && in.entries[i].Away == "" {
			which = append(which, in.judged[i])
		}
	}
	cache := quality.NewCache(0)
	if e.Opt.Cleanup.Ask != nil {
		e.loadScores(cache)
	}
	scorer := quality.NewScorer(quality.Options{Ask: e.Opt.Cleanup.Ask, Model: e.Opt.Cleanup.Model, Cache: cache,
		Calls: e.Opt.Cleanup.Calls})
	scores, usage, err := scorer.Score(ctx, which, e.Opt.Now(), func(done, total int) { op.Report(ctx, done, total) })
	e.saveScores(cache) // also those of an interrupted run
	if err != nil {
		return nil, err
	}
	run.ScorerCalls, run.ScorerNote = usage.Calls, usage.Note
	if usage.Judged > 0 {
		run.Scorer = quality.ByLLM
	}
	out := make(map[memory.ID]quality.Score, len(scores))
	for i := range scores {
		out[which[i].ID] = scores[i]
	}
	return out, nil
}

func (e *Cleanup) loadScores(cache *quality.Cache) {
	f, err := e.Opt.FS.OpenRead(e.Cleanups.cache)
	if err == nil {
		err = errors.Join(cache.Load(f), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.Opt.Logger.Warn("stored quality scores not read, asking the model again", "err", err)
	}
}

func (e *Cleanup) saveScores(cache *quality.Cache) {
	if !cache.Changed() {
		return
	}
	var b bytes.Buffer
	err := cache.Save(&b)
	if err == nil {
		err = durable.ReplaceFile(e.Opt.FS, e.Cleanups.cache, b.Bytes())
	}
	if err != nil {
		e.Opt.Logger.Warn("quality scores not stored, asking the model again in the next run", "err", err)
	}
}

// newPlan returns a plan that can be applied at any time, and again.
func (e *Cleanup) newPlan(run *runstore.Run, in *collectedEntries, made *cleanup.Plan,
	scores map[memory.ID]quality.Score) (*runstore.Plan, error) {
	plan := &runstore.Plan{Actions: made.Actions}
	gone := make(map[memory.ID]bool)
	for i := range plan.Actions {
		a := &plan.Actions[i]
		switch a.Action {
		case op.CleanupUpdate:
			if e.Opt.Cleanup.Ask == nil {
				run.Asked = append(run.Asked, i)
			}
		case op.CleanupMerge, op.CleanupDelete:
			for _, id := range a.MemoryIDs {
				gone[id] = a.Action == op.CleanupMerge || id != a.Keep
			}
		}
	}
	countActions(run, plan)
	for id, score := range scores {
		if score.Below(e.Opt.Cleanup.Policy.Delete) {
			plan.Junk = append(plan.Junk, id)
		}
	}
	if !run.Executing {
		return plan, nil
	}
	for i := range plan.Actions {
		var err error
		if a := &plan.Actions[i]; a.Action == op.CleanupMerge {
			a.Into, err = memory.NewID() // identifies the merge when it is repeated
		}
		if err != nil {
			return nil, err
		}
	}
	in.recordSeen(plan)
	return plan, in.setQuality(plan, scores, gone)
}

// recordSeen records the state of the memories of all actions.
func (in *collectedEntries) recordSeen(plan *runstore.Plan) {
	about := make(map[memory.ID]bool)
	for i := range plan.Actions {
		if a := &plan.Actions[i]; a.Action != op.CleanupPreserve && a.Action != op.CleanupReview {
			for _, id := range a.MemoryIDs {
				about[id] = true
			}
		}
	}
	plan.Seen = make(map[memory.ID]runstore.Seen, len(about))
	for i, row := range in.Rows {
		if id := in.entries[i].ID; about[id] {
			plan.Seen[id] = runstore.Seen{Text: row.TextRev(), Used: row.LastUsed()}
		}
	}
}

// A quality that changes by less than this is not written again: it falls a little every day.
const qualityStep = 0.05

// setQuality sets which ratings are written to their memories.
func (in *collectedEntries) setQuality(plan *runstore.Plan, scores map[memory.ID]quality.Score,
	gone map[memory.ID]bool) error {
	for i, row := range in.Rows {
		score, judged := scores[in.entries[i].ID]
		if !judged || gone[in.entries[i].ID] {
			continue
		}
		var had quality.Score
		before := row.Value(qualityField)
		known := before != nil && json.Unmarshal(before, &had) == nil && had.Digest == score.Digest &&
			had.Scorer == score.Scorer && had.Model == score.Model
		if known && math.Abs(had.Overall-score.Overall) < qualityStep {
			continue
		}
		raw, err := core.Encode(score)
		if err != nil {
			return err
		}
		if plan.Quality == nil {
			plan.Quality = make(map[memory.ID]json.RawMessage)
		}
		plan.Quality[in.entries[i].ID] = raw
	}
	return nil
}

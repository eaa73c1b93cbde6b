package engine

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

	"emberd/internal/cleanrun"
	"emberd/internal/cleanup"
	"emberd/internal/cluster"
	"emberd/internal/durable"
	"emberd/internal/quality"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// collectedEntries are the memories of a collection, each at its place in all of the lists.
type collectedEntries struct {
	gathering
	entries []cleanup.Entry
	judged  []quality.Entry
	changed []time.Time // when text or fields were
}

// planCleanup looks at the collection and says what is to be done.
func (e *Engine) planCleanup(ctx context.Context, run *cleanrun.Run) (*cleanrun.Plan, error) {
	in, err := e.collectEntries(ctx, run.Collection)
	if err != nil {
		return nil, err
	}
	like, err := cleanup.Alike(ctx, e.text, in.entries, cluster.Options{Threshold: e.opt.Cleanup.Threshold, MaxSize: op.MaxClusterSize,
		Vectors: e.clusterVectors(ctx, &in.gathering)}, telling(stretch(ctx, progressBackup, progressAlike)))
	if err != nil {
		return nil, err
	}
	all := len(in.entries)
	if run.Incremental {
		since, err := e.lastCleanup(run.Collection)
		if err != nil {
			return nil, err
		}
		in.keep(e.toLookAt(in, like, since))
	}
	in.weigh(like)
	scores, err := e.judge(stretch(ctx, progressAlike, progressScored), run, in)
	if err != nil {
		return nil, err
	}
	made := cleanup.Make(e.text, in.entries, like, scores, e.opt.Cleanup.Policy)
	run.Entries, run.Manual, run.Protected = all, made.Manual, made.Protected
	run.Clusters, run.Conflicts, run.Resolved, run.Limited = made.Clusters, made.Conflicts, made.Resolved, made.Limited
	run.After = made.After + all - len(in.entries)
	return e.planOf(run, in, &made, scores)
}

// collectEntries takes all memories of a collection.
func (e *Engine) collectEntries(ctx context.Context, collection string) (*collectedEntries, error) {
	in := new(collectedEntries)
	asked := e.askedAbout()
	for r := range e.stm.Rows() {
		if collection != everyCollection && r.Collection() != collection {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		m, err := r.Memory()
		if err != nil {
			continue // it is told elsewhere
		}
		in.add(e, r, &m)
		in.entries[len(in.entries)-1].Asked = asked[m.ID]
	}
	return in, nil
}

// add takes in one memory. What is of another collection or project is compared with
// nothing of this one: merged, it would be missing there.
func (in *collectedEntries) add(e *Engine, r *stm.Row, m *memory.Memory) {
	unknown := unknownFields(r.Fields())
	group := r.Collection() + "\x00" + r.Project()
	one := cleanup.Entry{ID: m.ID, Group: group, Text: m.Content, Manual: cleanup.Manual(unknown, m.Meta), Created: m.CreatedAt,
		Origin: m.Origin, DataOnly: m.DataOnly(), Confirmed: !m.ConfirmedAt.IsZero()}
	one.Fixed = cleanup.Fixed(m, e.decided(m.ID))
	one.Linked = e.settledWith(r)
	one.HasImplementation, one.ChunkType = cleanup.Chunking(unknown, m.Meta)
	superseded := e.superseded(r)
	switch {
	case m.Stage.Cold() || r.Has("text_digest"):
		one.Away = "its text is in a note"
	case superseded:
		one.Away = "another memory took its place"
	case m.ConsolidatedInto != "":
		one.Away = "it was merged into another one"
	}
	q := quality.Entry{ID: m.ID, Text: m.Content, Created: m.CreatedAt, LastUsed: m.LastUsed, UseCount: m.UseCount, Confidence: m.Confidence,
		Origin: m.Origin, Confirmed: one.Confirmed, Learned: m.Learned(), Superseded: superseded}
	if !m.EntitiesFound {
		q.Entities = m.Entities
	}
	in.rows = append(in.rows, r)
	in.items = append(in.items, cluster.Item{ID: m.ID, Group: group, Text: m.Content})
	in.entries, in.judged = append(in.entries, one), append(in.judged, q)
	in.changed = append(in.changed, r.UpdatedAt())
}

// askedAbout are, for each memory that contradicts others, those about which an earlier
// cleanup has asked, or somebody has decided, and none has changed since. What others ask
// may still be settled.
func (e *Engine) askedAbout() map[memory.ID][]memory.ID {
	out := make(map[memory.ID][]memory.ID)
	for item := range e.reviewItems() {
		decided := item.Status == memory.ItemClosed
		switch {
		case item.Action != contradictionAction, decided && (item.ClosedAt.IsZero() || e.changedSince(&item)), !decided && item.Agent != op.ReviewCleanup:
			continue
		}
		for _, id := range item.MemoryIDs {
			out[id] = append(out[id], item.MemoryIDs...)
		}
	}
	return out
}

// decided reports whether a memory is what was decided about another one.
func (e *Engine) decided(id memory.ID) bool {
	in, _ := e.stm.RelationsTo(id, openedRelations)
	for i := range in {
		if in[i].Type == memory.HasDecision {
			return true
		}
	}
	return false
}

// settledWith are the memories that a hierarchy joins one with already.
func (e *Engine) settledWith(row *stm.Row) (out []memory.ID) {
	in, _ := e.stm.RelationsTo(row.ID(), openedRelations)
	for _, r := range append(in, e.stm.Relations(row)...) {
		if r.Type == memory.Related && slices.Contains([]string{"version", "platform", kindSupersedes}, r.Kind) {
			out = append(out, r.From, r.To)
		}
	}
	return slices.DeleteFunc(out, func(id memory.ID) bool { return id == row.ID() })
}

// weigh counts for each memory what says the same in the same words and what contradicts
// it, which the judgement of it depends on.
func (in *collectedEntries) weigh(like cleanup.Likeness) {
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

// toLookAt are the memories that changed since a time, and those that are alike to them.
func (e *Engine) toLookAt(in *collectedEntries, like cleanup.Likeness, since time.Time) map[memory.ID]bool {
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

// keep leaves out all memories but some.
func (in *collectedEntries) keep(which map[memory.ID]bool) {
	out := new(collectedEntries)
	for i := range in.entries {
		if which[in.entries[i].ID] {
			out.rows, out.items = append(out.rows, in.rows[i]), append(out.items, in.items[i])
			out.entries, out.judged = append(out.entries, in.entries[i]), append(out.judged, in.judged[i])
		}
	}
	*in = *out
}

// lastCleanup is when the last run began that went over a collection and stands.
func (e *Engine) lastCleanup(collection string) (time.Time, error) {
	runs, err := e.cleanups.folder.Runs()
	for i := range runs {
		r := &runs[i]
		over := r.Collection == collection || r.Collection == everyCollection
		if over && r.State == op.CleanupDone && (r.Tx == "" || !e.stm.Undone(r.Tx)) {
			return r.Started, nil
		}
	}
	if len(runs) > 0 {
		err = nil // what cannot be read only makes this run look at more
	}
	return time.Time{}, err
}

// judge scores the manual memories.
func (e *Engine) judge(ctx context.Context, run *cleanrun.Run, in *collectedEntries) (map[memory.ID]quality.Score, error) {
	var which []quality.Entry
	for i := range in.entries {
		if in.entries[i].Manual && in.entries[i].Away == "" {
			which = append(which, in.judged[i])
		}
	}
	cache := quality.NewCache(0)
	if e.opt.Cleanup.Ask != nil {
		e.loadScores(cache)
	}
	scorer := quality.NewScorer(quality.Options{Ask: e.opt.Cleanup.Ask, Model: e.opt.Cleanup.Model, Cache: cache, Calls: e.opt.Cleanup.Calls})
	scores, usage, err := scorer.Score(ctx, which, e.opt.Now(), func(done, total int) { op.Report(ctx, done, total) })
	e.saveScores(cache) // also those of a run that was broken off
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

func (e *Engine) loadScores(cache *quality.Cache) {
	f, err := e.opt.FS.OpenRead(e.cleanups.cache)
	if err == nil {
		err = errors.Join(cache.Load(f), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.opt.Logger.Warn("kept scores not read, so that the model is asked again", "err", err)
	}
}

func (e *Engine) saveScores(cache *quality.Cache) {
	if !cache.Changed() {
		return
	}
	var b bytes.Buffer
	err := cache.Save(&b)
	if err == nil {
		err = durable.ReplaceFile(e.opt.FS, e.cleanups.cache, b.Bytes())
	}
	if err != nil {
		e.opt.Logger.Warn("scores not kept, so that the model is asked again", "err", err)
	}
}

// planOf makes a plan ready to be carried out, at any time and again.
func (e *Engine) planOf(run *cleanrun.Run, in *collectedEntries, made *cleanup.Plan, scores map[memory.ID]quality.Score) (*cleanrun.Plan, error) {
	plan := &cleanrun.Plan{Actions: made.Actions}
	gone := make(map[memory.ID]bool)
	for i := range plan.Actions {
		a := &plan.Actions[i]
		switch a.Action {
		case op.CleanupUpdate:
			if e.opt.Cleanup.Ask == nil {
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
		if score.Below(e.opt.Cleanup.Policy.Delete) {
			plan.Junk = append(plan.Junk, id)
		}
	}
	if !run.Executing {
		return plan, nil
	}
	for i := range plan.Actions {
		var err error
		if a := &plan.Actions[i]; a.Action == op.CleanupMerge {
			a.Into, err = memory.NewID() // so that a repeated merge is known by it
		}
		if err != nil {
			return nil, err
		}
	}
	in.see(plan)
	return plan, in.toKeep(plan, scores, gone)
}

// see notes what the memories are like that actions are about.
func (in *collectedEntries) see(plan *cleanrun.Plan) {
	about := make(map[memory.ID]bool)
	for i := range plan.Actions {
		if a := &plan.Actions[i]; a.Action != op.CleanupPreserve && a.Action != op.CleanupReview {
			for _, id := range a.MemoryIDs {
				about[id] = true
			}
		}
	}
	plan.Seen = make(map[memory.ID]cleanrun.Seen, len(about))
	for i, row := range in.rows {
		if id := in.entries[i].ID; about[id] {
			plan.Seen[id] = cleanrun.Seen{Text: row.TextRev(), Used: row.LastUsed()}
		}
	}
}

// Quality that changes by less than this is not written again: it falls a little every day.
const qualityStep = 0.05

// toKeep says which judgements are to be written to their memories.
func (in *collectedEntries) toKeep(plan *cleanrun.Plan, scores map[memory.ID]quality.Score, gone map[memory.ID]bool) error {
	for i, row := range in.rows {
		score, judged := scores[in.entries[i].ID]
		if !judged || gone[in.entries[i].ID] {
			continue
		}
		var had quality.Score
		before := row.Value(qualityField)
		known := before != nil && json.Unmarshal(before, &had) == nil && had.Digest == score.Digest && had.Scorer == score.Scorer && had.Model == score.Model
		if known && math.Abs(had.Overall-score.Overall) < qualityStep {
			continue
		}
		raw, err := encode(score)
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

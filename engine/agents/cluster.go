package agents

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"emberd/engine/core"
	"emberd/engine/merge"
	"emberd/engine/review"
	"emberd/internal/cleanup"
	"emberd/internal/dedupe"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// maxCompared is how many memories are compared with each other, those that were written last: they take two to
	// three kilobytes each while they are.
	maxCompared = 100_000
	// SimilarThreshold is the similarity above which memories are filed or merged once a week (spec
	// "lifecycle and rekindling", consolidate_similar).
	SimilarThreshold = 0.95
	mergeAction      = "merge"
)

// cluster creates items for groups of similar memories and for contradictions.
func (r *agentsRun) cluster(ctx context.Context) error {
	if !r.since.IsZero() {
		return r.fileContradictions(ctx)
	}
	if err := r.gather(ctx); err != nil {
		return err
	}
	var items []memory.ReviewItem
	r.res.Cluster = []op.ClusterResult{}
	r.ran.Found = len(r.g.Clusters)
	for _, c := range r.g.Clusters {
		action := r.set.Ladder.For(c.Cohesion)
		if len(r.res.Cluster) < MaxFound {
			r.res.Cluster = append(r.res.Cluster, op.ClusterResult{ClusterID: c.ID, MemoryIDs: r.g.IDs(c),
				Cohesion: c.Cohesion, Action: string(action)})
		}
		if item, ok := r.clusterItem(c, action); ok {
			items = append(items, item)
		}
	}
	if r.similar && !r.merges {
		items = r.notWithinOthers(items)
	}
	if err := r.file(ctx, items); err != nil || r.similar {
		return err
	}
	if err := r.closeGrown(ctx); err != nil {
		return err
	}
	return r.fileContradictions(ctx)
}

// gather groups the memories, once in a run.
func (r *agentsRun) gather(ctx context.Context) error {
	if r.g != nil {
		return nil
	}
	all := r.e.Merge.GatherOf(r.e.Stm.Latest(maxCompared))
	if r.similar {
		all.Keep(func(row *stm.Row) bool { return row.Stage() == memory.Active })
	}
	g, err := r.e.Merge.Group(ctx, all, dedupe.Options{Threshold: cmp.Or(r.set.Threshold, op.ClusterThreshold),
		MaxSize: min(r.set.MaxSize, merge.MaxClusterSize)})
	if err != nil {
		return err
	}
	g.Clusters = slices.DeleteFunc(g.Clusters, func(c dedupe.Cluster) bool { return len(c.Members) < r.set.MinSize })
	r.g = g
	return nil
}

// clusterItem returns the review item for a cluster, false if none is needed.
func (r *agentsRun) clusterItem(c dedupe.Cluster, action dedupe.Action) (memory.ReviewItem, bool) {
	item := memory.ReviewItem{Agent: op.ReviewCluster, MemoryIDs: r.g.IDs(c), Action: mergeAction,
		Urgency:  op.UrgencyMedium,
		Evidence: fmt.Sprintf("%d memories are similar, with a cohesion of %.2f", len(c.Members), c.Cohesion)}
	if c.ByVectors {
		item.Evidence += " according to their embeddings"
	}
	if action == dedupe.LLMReview {
		item.Action, item.Urgency = "needs_review", op.UrgencyLow
	}
	return item, action != dedupe.KeepSeparate
}

// notWithinOthers removes groups that are part of a group with an undecided item.
func (r *agentsRun) notWithinOthers(items []memory.ReviewItem) []memory.ReviewItem {
	waiting := slices.Collect(r.e.waitingGroups())
	return slices.DeleteFunc(items, func(item memory.ReviewItem) bool {
		return slices.ContainsFunc(waiting,
			func(all memory.ReviewItem) bool { return core.HoldsAll(all.MemoryIDs, item.MemoryIDs) })
	})
}

// waitingGroups yields the undecided items of groups.
func (e *Agents) waitingGroups() iter.Seq[memory.ReviewItem] {
	return func(yield func(memory.ReviewItem) bool) {
		for item := range e.Review.ReviewItems() {
			group := item.Agent == op.ReviewCluster && item.Status != memory.ItemClosed &&
				item.Action != core.ContradictionAction
			if group && !yield(item) {
				return
			}
		}
	}
}

// closeGrown closes the items of groups that are now part of a larger one with an undecided item.
func (r *agentsRun) closeGrown(ctx context.Context) error {
	if r.dry {
		return nil
	}
	waiting := slices.Collect(r.e.waitingGroups())
	larger := make(map[memory.ID][][]memory.ID)
	for _, item := range waiting {
		for _, id := range item.MemoryIDs {
			larger[id] = append(larger[id], item.MemoryIDs)
		}
	}
	for _, item := range waiting {
		within := func(all []memory.ID) bool {
			return len(item.MemoryIDs) < len(all) && core.HoldsAll(all, item.MemoryIDs)
		}
		if item.Status != memory.ItemOpen || !slices.ContainsFunc(larger[item.MemoryIDs[0]], within) {
			continue
		}
		entry, err := r.e.Review.CloseAsListed(ctx, r.by, r.res.Tx, item, "", review.PartReason)
		if err != nil {
			return err
		}
		r.recordTx(entry)
	}
	return nil
}

// fileContradictions relates memories that contradict each other, and creates an item for each pair: no
// rule can decide which of the two is true.
func (r *agentsRun) fileContradictions(ctx context.Context) error {
	g := r.e.Merge.StatementsOf(r.e.Stm.Latest(maxCompared))
	opt := dedupe.Options{Threshold: cmp.Or(r.set.Threshold, op.ClusterThreshold),
		Vectors: r.e.Merge.ClusterVectors(ctx, g)}
	if !r.since.IsZero() {
		opt.Among = func(item int) bool { return g.Rows[item].Born().Time().After(r.since) }
	}
	all, err := dedupe.Contradictions(ctx, r.e.Text, g.Items, opt, r.e.Opt.Known.Related, merge.ClusterProgress(ctx))
	if err != nil {
		return err
	}
	var items []memory.ReviewItem
	similarity := make(map[string]float64) // by item
	for _, c := range all {
		a, b := &g.Items[c.A], &g.Items[c.B]
		if cleanup.Elsewhere(a.Text, b.Text) {
			continue
		}
		ids := []memory.ID{a.ID, b.ID}
		r.ran.Found++
		if len(r.res.Cluster) < MaxFound {
			r.res.Cluster = append(r.res.Cluster, op.ClusterResult{ClusterID: dedupe.IDOf(ids), MemoryIDs: ids,
				Cohesion: c.Similarity, Action: core.ContradictionAction})
		}
		items = append(items, review.ContradictionItem(ids, c.Finding.Why))
		similarity[key(ids)] = c.Similarity
	}
	items = slices.DeleteFunc(items,
		func(item memory.ReviewItem) bool {
			return len(review.WouldFile(r.e.Review, []memory.ReviewItem{item})) == 0
		})
	items = items[:r.allow(len(items))]
	var relations []op.RelateRequest
	for _, item := range items { // unless a user removed the relation
		a, b := item.MemoryIDs[0], item.MemoryIDs[1]
		if !r.e.isRelated(a, b, memory.Contradicts) && !r.e.relationRemoved(a, b, memory.Contradicts) {
			relations = append(relations, op.RelateRequest{From: string(a), To: string(b), Type: memory.Contradicts,
				Strength: new(similarity[key(item.MemoryIDs)])})
		}
	}
	if err := r.relate(ctx, relations); err != nil {
		return err
	}
	return r.fileSome(ctx, items)
}

// isRelated reports whether there is a relation of that type, without a kind, in either
// direction.
func (e *Agents) isRelated(a, b memory.ID, typ string) bool {
	has := func(from, to memory.ID) bool {
		row, live := e.Stm.Get(from)
		return live && row.Has(stm.RelationKey(memory.RelationID(from, to, typ, "")))
	}
	return has(a, b) || has(b, a)
}

// relate creates relations as part of the run.
func (r *agentsRun) relate(ctx context.Context, reqs []op.RelateRequest) error {
	if r.dry || len(reqs) == 0 {
		r.ran.Changed += len(reqs)
		return nil
	}
	made, tx, err := r.e.Memories.RelateAll(op.WithCaller(ctx, r.by), &op.RelateBatchRequest{Tx: r.res.Tx, Items: reqs})
	if err != nil {
		return err
	}
	r.recordTx(tx)
	for _, w := range made {
		if w.Err == nil {
			r.ran.Changed++
		}
	}
	return nil
}

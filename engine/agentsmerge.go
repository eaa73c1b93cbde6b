package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"emberd/internal/cleanup"
	"emberd/internal/cluster"
	"emberd/internal/conflict"
	"emberd/internal/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// similarThreshold is from which similarity on memories are merged once a week (spec
	// "lifecycle and rekindling", consolidate_similar).
	similarThreshold = 0.95
	// mostOpposed is how many of the similar pairs that are not the same are looked at for
	// contradictions, the most similar ones.
	mostOpposed = 2000
	// mostCompared is among how many of the most similar pairs they are looked for.
	mostCompared = 20_000
	// contradictionAction is what is proposed of two memories of which one cannot be true.
	contradictionAction = "contradiction"
	mergeAction         = "merge"
	// mergeClaim is who claims items that are merged without anybody looking.
	mergeClaim = "merge agent"
)

// cluster files groups of similar memories, and what contradicts each other.
func (r *agentsRound) cluster(ctx context.Context) error {
	if err := r.gather(ctx); err != nil {
		return err
	}
	var items []memory.ReviewItem
	r.res.Cluster = []op.ClusterResult{}
	r.ran.Found = len(r.g.Clusters)
	for _, c := range r.g.Clusters {
		action := r.set.Ladder.For(c.Cohesion)
		if len(r.res.Cluster) < mostFound {
			r.res.Cluster = append(r.res.Cluster, op.ClusterResult{ClusterID: c.ID, MemoryIDs: r.g.ids(c), Cohesion: c.Cohesion, Action: string(action)})
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
	if err := r.grown(ctx); err != nil {
		return err
	}
	return r.oppose(ctx)
}

// gather groups the memories, unless the run did before.
func (r *agentsRound) gather(ctx context.Context) error {
	if r.g != nil {
		return nil
	}
	all := r.e.gather(false)
	if r.similar {
		all.keep(func(row *stm.Row) bool { return row.Stage() == memory.Active })
	}
	g, err := r.e.group(ctx, all, cluster.Options{Threshold: cmp.Or(r.set.Threshold, op.ClusterThreshold), MaxSize: min(r.set.MaxSize, largestCluster)})
	if err != nil {
		return err
	}
	g.Clusters = slices.DeleteFunc(g.Clusters, func(c cluster.Cluster) bool { return len(c.Members) < r.set.MinSize })
	r.g = g
	return nil
}

// clusterItem is the review item for a cluster, if it deserves one.
func (r *agentsRound) clusterItem(c cluster.Cluster, action cluster.Action) (memory.ReviewItem, bool) {
	item := memory.ReviewItem{Agent: op.ReviewCluster, MemoryIDs: r.g.ids(c), Action: mergeAction, Urgency: op.UrgencyMedium,
		Evidence: fmt.Sprintf("%d memories say nearly the same, with a cohesion of %.2f", len(c.Members), c.Cohesion)}
	if c.ByVectors {
		item.Evidence += " by their vectors"
	}
	if action == cluster.LLMReview {
		item.Action, item.Urgency = "needs_review", op.UrgencyLow
	}
	return item, action != cluster.KeepSeparate
}

// ids are the members of a cluster, ascending.
func (g *gathering) ids(c cluster.Cluster) []memory.ID {
	ids := make([]memory.ID, len(c.Members))
	for i, m := range c.Members {
		ids[i] = g.items[m].ID
	}
	return ids
}

// notWithinOthers leaves out the groups that are part of one that waits already.
func (r *agentsRound) notWithinOthers(items []memory.ReviewItem) []memory.ReviewItem {
	var waiting [][]memory.ID
	for item := range r.e.reviewItems() {
		if item.Agent == op.ReviewCluster && item.Status != memory.ItemClosed && item.Action != contradictionAction {
			waiting = append(waiting, item.MemoryIDs)
		}
	}
	return slices.DeleteFunc(items, func(item memory.ReviewItem) bool {
		return slices.ContainsFunc(waiting, func(all []memory.ID) bool { return holdsAll(all, item.MemoryIDs) })
	})
}

// grown closes the items of groups that are part of a larger one by now, which has an open
// item of its own, whatever that proposes.
func (r *agentsRound) grown(ctx context.Context) error {
	if r.dry {
		return nil
	}
	asked := func(item memory.ReviewItem) bool {
		return item.Agent == op.ReviewCluster && item.Status != memory.ItemClosed && item.Action != contradictionAction
	}
	larger := make(map[memory.ID][][]memory.ID)
	for item := range r.e.reviewItems() {
		if asked(item) {
			for _, id := range item.MemoryIDs {
				larger[id] = append(larger[id], item.MemoryIDs)
			}
		}
	}
	var old []memory.ReviewItem
	for item := range r.e.reviewItems() {
		within := func(all []memory.ID) bool { return len(item.MemoryIDs) < len(all) && holdsAll(all, item.MemoryIDs) }
		if asked(item) && item.Status == memory.ItemOpen && slices.ContainsFunc(larger[item.MemoryIDs[0]], within) {
			old = append(old, item)
		}
	}
	for _, item := range old {
		entry, err := r.e.closeAsListed(ctx, r.by, r.res.Tx, item, "", partReason)
		if err != nil {
			return err
		}
		r.wrote(entry)
	}
	return nil
}

func holdsAll(all, some []memory.ID) bool {
	return !slices.ContainsFunc(some, func(id memory.ID) bool { return !slices.Contains(all, id) })
}

// opposition is two similar memories of which one cannot be true.
type opposition struct {
	pair cluster.Pair
	item memory.ReviewItem
}

// oppose relates what contradicts each other, and files it: which of them holds is not for
// a rule to say. That two are not the same is no contradiction yet; see package conflict.
func (r *agentsRound) oppose(ctx context.Context) error {
	apart, err := r.apart(ctx)
	if err != nil {
		return err
	}
	var found []opposition
	for i, p := range apart {
		if i%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a, b := r.g.items[p.A].Text, r.g.items[p.B].Text
		findings := conflict.Of(r.e.text, a).Against(conflict.Of(r.e.text, b), p.Similarity, r.e.opt.Known.Related)
		if len(findings) == 0 || cleanup.Elsewhere(a, b) {
			continue
		}
		ids := []memory.ID{r.g.items[p.A].ID, r.g.items[p.B].ID}
		r.ran.Found++
		if len(r.res.Cluster) < mostFound {
			r.res.Cluster = append(r.res.Cluster, op.ClusterResult{ClusterID: cluster.IDOf(ids), MemoryIDs: ids, Cohesion: p.Similarity, Action: contradictionAction})
		}
		found = append(found, opposition{p, memory.ReviewItem{Agent: op.ReviewCluster, Action: contradictionAction, Urgency: op.UrgencyHigh, MemoryIDs: ids,
			Evidence: "both cannot be true: " + findings[0].Why}})
	}
	return r.noteOpposed(ctx, found)
}

// apart are the most similar pairs that do not say the same. They need less in common than
// the members of a group, since what they differ in is rare.
func (r *agentsRound) apart(ctx context.Context) ([]cluster.Pair, error) {
	all, err := cluster.Pairs(ctx, r.e.text, r.g.items, cluster.Options{Threshold: min(r.e.opt.Known.Related, cmp.Or(r.set.Threshold, op.ClusterThreshold)),
		Told: mostCompared, Vectors: r.e.clusterVectors(ctx, r.g)}, telling(ctx))
	all = slices.DeleteFunc(all, func(p cluster.Pair) bool { return p.Why == "" })
	return all[:min(len(all), mostOpposed)], err
}

// noteOpposed files those of which nobody has decided, and relates them first,
// unless somebody has taken that relation away.
func (r *agentsRound) noteOpposed(ctx context.Context, found []opposition) error {
	found = slices.DeleteFunc(found, func(o opposition) bool { return len(r.e.wouldFile([]memory.ReviewItem{o.item})) == 0 })
	var relations []op.RelateRequest
	var items []memory.ReviewItem
	for _, o := range found[:r.take(len(found))] {
		items = append(items, o.item)
		a, b := r.g.items[o.pair.A].ID, r.g.items[o.pair.B].ID
		if !r.e.isRelated(a, b, memory.Contradicts) && !r.e.unrelated(a, b, memory.Contradicts) {
			relations = append(relations, op.RelateRequest{From: string(a), To: string(b), Type: memory.Contradicts, Strength: &o.pair.Similarity})
		}
	}
	if err := r.relate(ctx, relations); err != nil {
		return err
	}
	return r.fileSome(ctx, items)
}

// isRelated reports whether there is a relation of that type and no kind between two
// memories, whichever way.
func (e *Engine) isRelated(a, b memory.ID, typ string) bool {
	has := func(from, to memory.ID) bool {
		row, live := e.stm.Get(from)
		return live && row.Has(stm.RelationKey(memory.RelationID(from, to, typ, "")))
	}
	return has(a, b) || has(b, a)
}

// relate makes relations as part of the run.
func (r *agentsRound) relate(ctx context.Context, reqs []op.RelateRequest) error {
	if r.dry || len(reqs) == 0 {
		r.ran.Changed += len(reqs)
		return nil
	}
	made, tx, err := r.e.relateAll(op.WithCaller(ctx, r.by), &op.RelateBatchRequest{Tx: r.res.Tx, Items: reqs})
	if err != nil {
		return err
	}
	r.wrote(tx)
	for _, w := range made {
		if w.err == nil {
			r.ran.Changed++
		}
	}
	return nil
}

// merge merges the groups that are cohesive enough and of which an item is open, if it may,
// and closes their items; else it tells that they wait.
func (r *agentsRound) merge(ctx context.Context) error {
	if err := r.gather(ctx); err != nil {
		return err
	}
	r.res.Merge = []op.MergeResult{}
	open := r.toMerge()
	var chosen []cluster.Cluster
	for _, c := range r.g.Clusters {
		if _, asked := open[key(r.g.ids(c))]; asked && r.set.Ladder.For(c.Cohesion) == cluster.AutoMerge && !r.parted(c) {
			chosen = append(chosen, c)
		}
	}
	r.ran.Found = len(chosen)
	if why := r.mayMerge(); why != "" {
		for _, c := range chosen[:min(len(chosen), mostFound)] {
			r.res.Merge = append(r.res.Merge, op.MergeResult{SourceIDs: r.g.ids(c), RelationIDs: []string{}, Reason: why})
		}
		return nil
	}
	chosen = chosen[:r.take(len(chosen))]
	for i, c := range chosen {
		if i%mergedAtOnce == 0 && !r.dry {
			r.made = r.e.keepParts(ctx, r.g, chosen[i:])
		}
		if err := r.mergeOne(ctx, c, open[key(r.g.ids(c))]); err != nil {
			return err
		}
	}
	return nil
}

// parted reports whether a merge of a member was taken back. Then it is for somebody to
// say that the memories belong together all the same.
func (r *agentsRound) parted(c cluster.Cluster) bool {
	return r.asked != op.AgentMerge && slices.ContainsFunc(c.Members, func(m int) bool { return !takenBack(r.g.rows[m], "consolidated_into").IsZero() })
}

// mayMerge is why nothing is merged now, "" if it may be.
func (r *agentsRound) mayMerge() string {
	if !r.merges {
		return "it waits for somebody to decide, for consolidation.auto_merge is off"
	}
	return r.e.vaultAway()
}

// toMerge are the items that propose a merge and nobody else has claimed, by what they are
// about, those included that a dry run would have filed.
func (r *agentsRound) toMerge() map[string]memory.ReviewItem {
	open := make(map[string]memory.ReviewItem)
	add := func(item memory.ReviewItem) {
		mine := item.Status == memory.ItemOpen || item.Status == memory.ItemClaimed && item.ClaimedBy == mergeClaim
		if mine && item.Action == mergeAction && (item.Agent == op.ReviewCluster || item.Agent == op.ReviewMerge) {
			open[key(item.MemoryIDs)] = item
		}
	}
	for item := range r.e.reviewItems() {
		add(item)
	}
	for _, item := range r.would {
		add(item)
	}
	return open
}

// key is a set of memories as one text.
func key(ids []memory.ID) string { return cluster.IDOf(ids) }

// mergeOne has the memories of an item merged and itself claimed and closed in one line.
// One of which the memories cannot be merged is closed too, with the reason: else it would
// be tried again in every run.
func (r *agentsRound) mergeOne(ctx context.Context, c cluster.Cluster, item memory.ReviewItem) error {
	result := op.MergeResult{SourceIDs: r.g.ids(c), RelationIDs: []string{}, Success: true}
	if !r.dry {
		if err := r.carryOut(ctx, c, item, &result); err != nil {
			return err
		}
	}
	if result.Success {
		r.ran.Changed++
	}
	if len(r.res.Merge) < mostFound {
		r.res.Merge = append(r.res.Merge, result)
	}
	return nil
}

func (r *agentsRound) carryOut(ctx context.Context, c cluster.Cluster, item memory.ReviewItem, result *op.MergeResult) error {
	was := item
	item.ClaimedBy, item.ClaimedAt = mergeClaim, stampTime(r.now)
	r.e.closeNow(&item, op.DecideMerge, fmt.Sprintf("merged, with a cohesion of %.2f", c.Cohesion))
	one := consolidating{e: r.e, g: r.g, by: r.by, answers: &item, made: r.made, res: op.ConsolidateResult{Tx: r.res.Tx}}
	err := one.apply(ctx, c)
	r.wrote(one.res.Tx)
	switch {
	case err == nil:
		result.NewMemoryID, result.RelationIDs = one.res.Merged[0].NewMemoryID, one.res.Merged[0].RelationIDs
		return nil
	case ctx.Err() != nil, memory.CodeOf(err) == memory.DiskFull, memory.CodeOf(err) == memory.ReadOnly, memory.CodeOf(err) == memory.Busy:
		return err
	}
	result.Success, result.Reason = false, err.Error()
	if r.g.overtaken(r.e, c) || r.e.itemTaken(&item) { // the next run looks again
		return nil
	}
	entry, err := r.e.closeAsListed(ctx, r.by, r.res.Tx, was, "", similarity.Truncate(result.Reason, op.MaxReason-len("...")))
	r.wrote(entry)
	return err
}

// itemTaken reports whether an item is not open any more.
func (e *Engine) itemTaken(item *memory.ReviewItem) bool {
	row, live := e.stm.Get(item.MemoryIDs[0])
	return !live || e.notOpen(row, item) != ""
}

// notOpen is why an item that is about to be answered by a merge is not open, "" if it is.
func (e *Engine) notOpen(row *stm.Row, item *memory.ReviewItem) string {
	for _, there := range row.ReviewItems() {
		if there.ID != item.ID {
			continue
		}
		if there.Status == memory.ItemClaimed && there.ClaimedBy != item.ClaimedBy {
			return there.ClaimedBy + " has claimed the review item"
		}
		if there.Status == memory.ItemClosed {
			return "the review item was closed just now"
		}
		return ""
	}
	return "the review item went just now"
}

// overtaken reports whether a member was changed or used since it was gathered.
func (g *gathering) overtaken(e *Engine, c cluster.Cluster) bool {
	return slices.ContainsFunc(c.Members, func(m int) bool {
		row, live := e.stm.Get(g.items[m].ID)
		return !live || row.Rev() != g.rows[m].Rev() || !row.LastUsed().Equal(g.rows[m].LastUsed())
	})
}

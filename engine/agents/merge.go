package agents

import (
	"context"
	"slices"

	"emberd/engine/core"
	"emberd/engine/merge"
	"emberd/engine/review"
	"emberd/internal/dedupe"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/op"
)

// merge merges the cohesive groups with an open item, if the run may, and closes the items;
// otherwise it reports them.
func (r *agentsRun) merge(ctx context.Context) error {
	if err := r.gather(ctx); err != nil {
		return err
	}
	r.res.Merge = []op.MergeResult{}
	open := r.toMerge()
	var chosen []dedupe.Cluster
	for _, c := range r.g.Clusters {
		if _, asked := open[key(r.g.IDs(c))]; asked && r.set.Ladder.For(c.Cohesion) == dedupe.AutoMerge &&
			!r.mergeUndone(c) {
			chosen = append(chosen, c)
		}
	}
	r.ran.Found = len(chosen)
	if why := r.mayMerge(); why != "" {
		for _, c := range chosen[:min(len(chosen), MaxFound)] {
			r.res.Merge = append(r.res.Merge, op.MergeResult{SourceIDs: r.g.IDs(c), RelationIDs: []string{},
				Reason: why})
		}
		return nil
	}
	runs, err := r.e.Merge.MergesOf(r.g, chosen[:r.allow(len(chosen))], r.by)
	if err != nil {
		return err
	}
	for i, m := range runs {
		if i%merge.MaxMergedAhead == 0 && !r.dry {
			r.e.Merge.KeepMergesAhead(ctx, runs[i:min(i+merge.MaxMergedAhead, len(runs))])
		}
		if err := r.mergeOne(ctx, m, open[key(m.Parts())]); err != nil {
			return err
		}
	}
	return nil
}

// mergeUndone reports whether a merge of a member was undone. Then only the user may merge it
// again.
func (r *agentsRun) mergeUndone(c dedupe.Cluster) bool {
	return r.asked != op.AgentMerge && slices.ContainsFunc(c.Members, func(m int) bool {
		return !review.UndoneAt(r.g.Rows[m], merge.ConsolidatedInto).IsZero()
	})
}

// mayMerge returns why nothing is merged now, "" if the run may merge.
func (r *agentsRun) mayMerge() string {
	if !r.merges {
		return "emberd merges the memories only after your decision, because consolidation.auto_merge is false"
	}
	return r.e.Notes.VaultUnavailable()
}

// toMerge returns the items that propose a merge and that no other reviewer has claimed, by
// their memories. It includes those that a dry run would have created.
func (r *agentsRun) toMerge() map[string]memory.ReviewItem {
	open := make(map[string]memory.ReviewItem)
	add := func(item memory.ReviewItem) {
		mine := item.Status == memory.ItemOpen || item.Status == memory.ItemClaimed &&
			item.ClaimedBy == merge.MergeClaim
		if mine && item.Action == mergeAction && (item.Agent == op.ReviewCluster || item.Agent == op.ReviewMerge) {
			open[key(item.MemoryIDs)] = item
		}
	}
	for item := range r.e.Review.ReviewItems() {
		add(item)
	}
	for _, item := range r.would {
		add(item)
	}
	return open
}

// key returns a set of memories as one text.
func key(ids []memory.ID) string { return dedupe.IDOf(ids) }

// mergeOne applies the merge of a review item, and claims and closes the item in the same log
// line. If the memories cannot be merged, the item is closed with the reason; otherwise every
// run would try again.
func (r *agentsRun) mergeOne(ctx context.Context, m *merge.MergeRun, item memory.ReviewItem) error {
	result := op.MergeResult{SourceIDs: m.Parts(), RelationIDs: []string{}, Success: true}
	if !r.dry {
		if err := r.carryOut(ctx, m, item, &result); err != nil {
			return err
		}
	}
	if result.Success {
		r.ran.Changed++
	}
	if len(r.res.Merge) < MaxFound {
		r.res.Merge = append(r.res.Merge, result)
	}
	return nil
}

func (r *agentsRun) carryOut(ctx context.Context, m *merge.MergeRun, was memory.ReviewItem,
	result *op.MergeResult) error {
	item := was
	item.ClaimedBy, item.ClaimedAt = merge.MergeClaim, core.StampTime(r.now)
	r.e.Review.CloseNow(&item, op.DecideMerge, "")
	m.Answers = &item
	receipt, err := m.Apply(ctx, core.ConsolidateVerb, r.res.Tx)
	r.recordTx(receipt.Entry)
	switch {
	case err == nil:
		result.NewMemoryID, result.RelationIDs = m.Plan.Into, m.Plan.Sources()
		return nil
	case ctx.Err() != nil, memory.CodeOf(err) == memory.DiskFull, memory.CodeOf(err) == memory.ReadOnly,
		memory.CodeOf(err) == memory.Busy:
		return err
	}
	result.Success, result.Reason = false, err.Error()
	if m.PartsChanged() || r.e.itemTaken(&item) { // the next run checks again
		return nil
	}
	entry, err := r.e.Review.CloseAsListed(ctx, r.by, r.res.Tx, was, "",
		similarity.Truncate(result.Reason, op.MaxReason-len("...")))
	r.recordTx(entry)
	return err
}

// itemTaken reports whether an item is no longer open.
func (e *Agents) itemTaken(item *memory.ReviewItem) bool {
	row, live := e.Stm.Get(item.MemoryIDs[0])
	return !live || e.Merge.NotOpenReason(row, item) != ""
}

package cleanup

import (
	"context"

	"emberd/engine/lifecycle"
	"emberd/engine/merge"
	"emberd/internal/dedupe"
	"emberd/stm"
)

// prepareMerge prepares a merge. With a vault the parts are archived, otherwise they move to the
// trash.
func (c *cleanupExecutor) prepareMerge(ctx context.Context, one *cleanupBatch) (*cleanupBatch, error) {
	if _, live := c.e.Stm.Get(one.act.Into); live {
		return nil, nil // before a crash
	}
	var rows []*stm.Row
	for _, id := range one.act.MemoryIDs {
		row, live := c.e.Stm.Get(id)
		if !live {
			return nil, errGone()
		}
		rows = append(rows, row)
		one.size += 2 * row.Size()
	}
	one.merge = &merge.MergeRun{Merge: c.e.Merge,
		Archiver: lifecycle.Archiver{E: c.e.Lifecycle, Reason: merge.MergedReason, By: c.run.By}, Rows: rows,
		Check: c.checkUnchanged,
		Rules: dedupe.Rules{Into: one.act.Into, Cohesion: one.act.Cohesion, Trash: c.e.Notes.Vault == nil}}
	err := one.merge.Prepare(ctx)
	one.ids, one.change = one.merge.IDs, one.merge.Changes
	return one, err
}

// createNotesAhead creates the notes for those merges of a batch that can be applied.
func (c *cleanupExecutor) createNotesAhead(ctx context.Context, batch []cleanupBatch) {
	var runs []*merge.MergeRun
	for _, one := range batch {
		if one.merge != nil {
			runs = append(runs, one.merge)
		}
	}
	c.e.Merge.KeepMergesAhead(ctx, runs)
}

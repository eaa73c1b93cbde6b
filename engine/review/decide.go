package review

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/engine/merge"
	"emberd/engine/promote"
	"emberd/internal/dedupe"
	"emberd/internal/dedupe/contradiction"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// DecideItem applies a decision such as [op.DecidePromote] and closes the item, as one change,
// which it returns. After a crash in between, the decision is applied and the item is open, or
// counts as closed because its memories are gone; deciding the same again completes it. An
// item that is deleted together with its memory is not written: it is in the trash as it was,
// and open again after an undo.
func (e *Review) DecideItem(ctx context.Context, by memory.Actor, id, decision,
	reason string) (memory.ReviewItem, string, error) {
	item, err := e.FindItem(id)
	if err != nil {
		return item, "", err
	}
	d := DecisionRun{E: e, By: by, Item: item, Decision: decision, reason: reason}
	if decision != op.DecideForget || !halfForgotten(&item) {
		err = e.checkDecidable(&item)
	}
	d.Decision = withoutNote(&item, decision)
	if err := core.FirstError(memory.CheckText("reason", reason, op.MaxReason), err,
		mayAdopt(&item, by, d.Decision), checkShown(&item, decision)); err != nil {
		return item, "", err
	}
	decision = d.Decision
	old, supersedes := strings.CutPrefix(decision, op.DecideSupersede)
	switch one, isOne := strings.CutPrefix(decision, op.DecideForgetOne); {
	case item.Agent == op.ReviewText:
		err = d.chooseText(ctx)
	case isOne:
		err = d.forgetOne(ctx, one)
	case supersedes:
		err = d.supersede(ctx, old)
	case decision == op.DecideForget && item.Action == core.ContradictionAction && len(item.MemoryIDs) > 1 &&
		!halfForgotten(&item):
		err = memory.Errorf(memory.Invalid, "the memories contradict each other, but one of them might be "+
			"true; to delete the wrong memory, use forget:ID, such as forget:%s",
			item.MemoryIDs[0].Short()).At("decision")
	case decision == op.DecideForget:
		err = d.forget(ctx, item.MemoryIDs)
	case decision == op.DecidePromote:
		err = d.promote(ctx)
	case decision == op.DecideMerge:
		err = d.merge(ctx)
	case decision != op.DecideKeep:
		err = memory.Errorf(memory.Invalid,
			"invalid decision %.40q; use promote, keep, merge, forget, forget:ID, or supersede:ID",
			decision).At("decision")
	}
	if err == nil {
		err = d.close(ctx)
	}
	return d.Item, d.Entry, err
}

// A DecisionRun is a decision in progress.
type DecisionRun struct {
	E        *Review
	By       memory.Actor
	Item     memory.ReviewItem
	Decision string
	reason   string
	Entry    string
	closed   bool
}

// close closes the item, unless the decision closed it or it is in the trash. Keeping memories
// counts as a use of each.
func (d *DecisionRun) close(ctx context.Context) error {
	if d.closed {
		return nil
	}
	if _, live := d.E.Stm.Get(d.Item.MemoryIDs[0]); !live {
		d.E.CloseNow(&d.Item, d.Decision, d.reason)
		return nil
	}
	var err error
	d.Item, d.Entry, err = d.E.changeFound(ctx, d.By, core.CloseVerb, d.Entry, d.Item, d.shut)
	if err == nil {
		countKept(d.E, &d.Item)
	}
	return err
}

// countKept counts a use of each memory that the decision on an item kept.
func countKept(e *Review, item *memory.ReviewItem) {
	if item.Decision != op.DecideKeep {
		return
	}
	for _, id := range item.MemoryIDs {
		if row, live := e.Stm.Get(id); live {
			e.Lifecycle.Used(row, item.ClosedAt)
		}
	}
}

func (d *DecisionRun) shut(item *memory.ReviewItem) error {
	d.E.CloseNow(item, d.Decision, d.reason)
	return nil
}

// merge merges all memories and closes the item in one log line.
func (d *DecisionRun) merge(ctx context.Context) error {
	closed := d.Item
	d.shut(&closed)
	_, entry, err := d.E.MergeMembers(ctx, d.By, "", closed.MemoryIDs, &closed)
	if err == nil {
		d.Item, d.Entry, d.closed = closed, entry, true
	}
	return err
}

// promote creates a note for each memory, or for none if one of them cannot have one.
func (d *DecisionRun) promote(ctx context.Context) error {
	for _, dry := range []bool{true, false} {
		if err := d.E.Notes.NeedVault(); err != nil {
			return err
		}
		for _, id := range d.Item.MemoryIDs {
			res, err := d.E.Promote.PromoteMemory(ctx,
				promote.Promotion{ID: id, By: d.By, Dry: dry, Force: true, Entry: d.Entry,
					Note: claimedDigest(&d.Item), Shown: shownWith(&d.Item)})
			if err != nil {
				return err
			}
			if res.Tx == "" {
				continue
			}
			d.Entry = res.Tx
			if d.Item.Agent == op.ReviewNote {
				err = d.E.Sync.ApplyConfirmed(ctx, id, d.By, d.Entry)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// forget moves the remaining memories to the trash. If that needs several log lines, it goes
// from the last memory to the first, which has the item with the decision, so that an
// interrupted run can be completed.
func (d *DecisionRun) forget(ctx context.Context, ids []memory.ID) error {
	var live []memory.ID
	for _, id := range slices.Backward(ids) {
		row, is := d.E.Stm.Get(id)
		if is && row.Core() {
			return coreStays(id)
		}
		if is || !d.E.Stm.Trashed(id) {
			live = append(live, id)
		}
	}
	parts, err := d.E.Memories.SplitForLog(live)
	if err == nil && (len(parts) > 1 || halfForgotten(&d.Item)) {
		err = d.Intend(ctx)
	}
	if err != nil {
		return err
	}
	f := memories.ForgetRun{E: d.E.Memories, At: d.E.Opt.Now(), Entry: d.Entry}
	for _, part := range parts {
		err := f.Some(op.WithCaller(ctx, d.By), part)
		d.Entry = f.Entry
		if err != nil {
			return err
		}
	}
	return nil
}

// Intend records in the item the decision that will be applied. An interrupted decision
// continues in its change.
func (d *DecisionRun) Intend(ctx context.Context) error {
	if row, live := d.E.Stm.Get(d.Item.MemoryIDs[0]); live && d.Item.Decision == d.Decision {
		d.Entry = d.E.Stm.EntryOf(row, stm.ReviewKey(d.Item.ID))
		return nil
	}
	var err error
	d.Item, d.Entry, err = d.E.changeFound(ctx, d.By, core.CloseVerb, d.Entry, d.Item,
		func(item *memory.ReviewItem) error {
			item.Decision = d.Decision
			return nil
		})
	return err
}

// halfForgotten reports whether deleting an item's memories was interrupted, so that some may
// be in the trash.
func halfForgotten(item *memory.ReviewItem) bool {
	return item.Decision == op.DecideForget && item.ClosedAt.IsZero()
}

func coreStays(id memory.ID) error {
	return memory.Errorf(memory.Conflict,
		"emberd deleted nothing, because memory %s is a core memory; to delete it, run: emberd forget %s", id,
		id.Short()).At("decision")
}

// member returns which of the memories of the item a decision names.
func (d *DecisionRun) member(short string) (memory.ID, error) {
	id, err := d.E.Stm.ResolveAmong(short, d.Item.MemoryIDs)
	if err != nil {
		return "", core.About(err, "decision")
	}
	if !slices.Contains(d.Item.MemoryIDs, id) {
		return "", memory.Errorf(memory.Invalid, "memory %s does not belong to the review item; to list "+
			"the memories of the item, run: emberd review show %s", id, d.Item.Short()).At("decision")
	}
	return id, nil
}

// forgetOne moves one of the memories to the trash and closes the item in one log line.
func (d *DecisionRun) forgetOne(ctx context.Context, short string) error {
	id, err := d.member(short)
	if err != nil {
		return err
	}
	d.Decision = op.DecideForgetOne + string(id)
	owner := d.Item.MemoryIDs[0]
	if id == owner {
		return d.forget(ctx, []memory.ID{id})
	}
	receipt, err := d.E.Stm.Update(ctx, []memory.ID{id, owner}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		return d.forgettingOne(op.WithCaller(ctx, d.By), []memory.ID{id, owner}, rows)
	})
	d.Entry, d.closed = receipt.Entry, err == nil
	return err
}

func (d *DecisionRun) forgettingOne(ctx context.Context, ids []memory.ID, rows []*stm.Row) (*stm.Tx, error) {
	if rows[0] != nil && rows[0].Core() {
		return nil, coreStays(ids[0])
	}
	f := memories.ForgetRun{E: d.E.Memories}
	tx, err := f.Tx(ctx, ids[:1], rows[:1])
	if err != nil {
		return nil, err
	}
	set, err := d.E.changedItem(rows[1], &d.Item, d.shut)
	if err != nil {
		return nil, err
	}
	tx.Changes = append(tx.Changes, stm.Change{ID: ids[1], Set: set})
	return tx, nil
}

// maxComparedMembers is how many memories of an item are compared in pairs to find out whether
// they can be merged. The merge itself compares the others.
const maxComparedMembers = 12

// ChoicesOf returns the decisions about an item that are possible now, including
// [op.DecideKeep]. A listed merge may still be refused; one that is not listed would be. A
// closed item has none.
func (e *Review) ChoicesOf(item *memory.ReviewItem) []string {
	var rows []*stm.Row
	for _, id := range item.MemoryIDs {
		row, live := e.Stm.Get(id)
		if !live {
			return nil
		}
		rows = append(rows, row)
	}
	if e.checkDecidable(item) != nil {
		return nil
	}
	if item.Agent == op.ReviewText {
		return textChoices(item, rows[0])
	}
	var out []string
	add := func(can bool, decision string) {
		if can {
			out = append(out, decision)
		}
	}
	if item.Agent == op.ReviewNote {
		add(true, adoptDecision(item))
	} else {
		add(item.Action != core.ContradictionAction && e.mayPromote(rows), op.DecidePromote)
	}
	add(true, op.DecideKeep)
	if old := supersededIn(item, rows); old != "" {
		out = append(out, op.DecideSupersede+string(old))
	}
	add(e.mergeRefused(rows) == "", op.DecideMerge)
	if len(rows) > 1 {
		for _, row := range rows {
			add(!row.Core(), op.DecideForgetOne+string(row.ID()))
		}
	}
	both := item.Action == core.ContradictionAction && len(rows) > 1 // of which one may be true
	add(!both && !slices.ContainsFunc(rows, (*stm.Row).Core), op.DecideForget)
	return out
}

// mayPromote reports whether all memories may have notes, and one of them has none.
func (e *Review) mayPromote(rows []*stm.Row) bool {
	some := false
	for _, row := range rows {
		m, err := row.Memory()
		if err != nil || core.Unconfirmed(&m) != nil {
			return false
		}
		some = some || !row.Promoted()
	}
	return some && e.Notes.NeedVault() == nil
}

// mergeRefused returns why a merge of memories would be refused, or "".
func (e *Review) mergeRefused(rows []*stm.Row) string {
	if err := e.Notes.NeedVault(); err != nil {
		return cmp.Or(e.unmergeable(rows), err.Error())
	}
	return cmp.Or(e.unmergeable(rows), e.contradictionIn(rows[:min(len(rows), maxComparedMembers)]))
}

// unmergeable returns why memories cannot be merged, whatever their texts, or "".
func (e *Review) unmergeable(rows []*stm.Row) string {
	if len(rows) < 2 || len(rows) > merge.MaxClusterSize {
		return fmt.Sprintf("a merge requires 2 to %d memories, not %d", merge.MaxClusterSize, len(rows))
	}
	for _, row := range rows {
		if row.Collection() != rows[0].Collection() || row.Project() != rows[0].Project() {
			return fmt.Sprintf("memories %s and %s belong to different collections or projects", rows[0].ID().Short(),
				row.ID().Short())
		}
		if why := e.noMergeReason(row); why != "" {
			return fmt.Sprintf("memory %s cannot be merged, because %s", row.ID().Short(), why)
		}
	}
	return ""
}

// noMergeReason returns why a memory cannot be merged with any other, or "".
func (e *Review) noMergeReason(row *stm.Row) string {
	switch {
	case row.Core():
		return "it is a core memory"
	case row.Promoted():
		return "it has a note, and the text of the memory comes from that note"
	case e.Superseded(row):
		return "another memory supersedes it"
	case row.Stage().Cold() || row.Has("text_digest"):
		return fmt.Sprintf("it is %s, and its text is in a note", row.Stage())
	}
	return ""
}

// MergeMembers merges exactly these memories, as [merge.Merge.Consolidate] does with a
// cluster, and returns the change: entry, or a new one for "". It closes the review item that
// requested it, if there is one. It returns an error of code Conflict if two of the memories
// contradict each other, or one cannot be merged; then nothing has changed.
func (e *Review) MergeMembers(ctx context.Context, by memory.Actor, entry string, ids []memory.ID,
	answers *memory.ReviewItem) (op.MergedCluster, string, error) {
	fail := func(err error) (op.MergedCluster, string, error) { return op.MergedCluster{}, "", err }
	if err := e.Notes.NeedVault(); err != nil {
		return fail(err)
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	rows := make([]*stm.Row, len(ids))
	for i, id := range ids {
		row, live := e.Stm.Get(id)
		if !live {
			return fail(e.Missing(id))
		}
		rows[i] = row
	}
	if why := e.unmergeable(rows); why != "" {
		return fail(memory.Errorf(memory.Conflict, "cannot merge the memories: %s", why))
	}
	g := e.Merge.Gather(false)
	members := make([]int, len(ids))
	for i, id := range ids {
		members[i] = slices.IndexFunc(g.Items, func(item dedupe.Item) bool { return item.ID == id })
		if members[i] < 0 {
			return fail(merge.NotMerged(id, "it just changed"))
		}
	}
	one, why, err := dedupe.Exactly(ctx, e.Text, g.Items, members,
		dedupe.Options{Vectors: e.Merge.ClusterVectors(ctx, g)},
		merge.ClusterProgress(ctx))
	if err == nil && why != "" {
		err = memory.Errorf(memory.Conflict,
			"emberd merged no memories, because the memories differ: %s; edit or delete the wrong memory first", why)
	}
	if err != nil {
		return fail(err)
	}
	runs, err := e.Merge.MergesOf(g, []dedupe.Cluster{one}, by)
	if err != nil {
		return fail(err)
	}
	runs[0].Answers = answers
	receipt, err := runs[0].Apply(ctx, core.ConsolidateVerb, entry)
	if err != nil {
		return fail(err)
	}
	return runs[0].Result(), receipt.Entry, nil
}

// contradictionIn returns a contradiction between two of the memories, or "".
func (e *Review) contradictionIn(rows []*stm.Row) string {
	facts := make([]*contradiction.Facts, len(rows))
	for i, row := range rows {
		facts[i] = contradiction.Of(e.Text, row.Content())
		for j, earlier := range facts[:i] {
			if why := earlier.Differ(facts[i]); why != "" {
				return fmt.Sprintf("memories %s and %s differ: %s", rows[j].ID().Short(), row.ID().Short(),
					why)
			}
		}
	}
	return ""
}

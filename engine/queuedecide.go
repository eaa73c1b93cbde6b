package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"emberd/internal/conflict"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// decideItem carries out a decision about an item, of [op.DecidePromote] and the like, and
// closes it; all of it is one journal entry, which it returns. What a crash leaves in between
// is a decision that was carried out and an item that is still open, or is as closed as one of
// memories that are gone; to decide the same again finishes it. Of an item that is forgotten with
// its memory nothing is written: it is in the trash as it was, and open again once that is
// taken back.
func (e *Engine) decideItem(ctx context.Context, by memory.Actor, id, decision, reason string) (memory.ReviewItem, string, error) {
	item, err := e.findItem(id)
	if err != nil {
		return item, "", err
	}
	d := deciding{e: e, by: by, item: item, decision: decision, reason: reason}
	if decision != op.DecideForget || !halfForgotten(&item) {
		err = e.decidable(&item)
	}
	if err := firstError(memory.CheckText("reason", reason, op.MaxReason), err); err != nil {
		return item, "", err
	}
	switch one, isOne := strings.CutPrefix(decision, op.DecideForgetOne); {
	case isOne:
		err = d.forgetOne(ctx, one)
	case decision == op.DecideForget:
		err = d.forget(ctx, item.MemoryIDs)
	case decision == op.DecidePromote:
		err = d.promote(ctx)
	case decision == op.DecideMerge:
		_, d.entry, err = e.mergeMembers(ctx, by, "", item.MemoryIDs)
	case decision != op.DecideKeep:
		err = memory.Errorf(memory.Invalid, "decision is %.40q; use promote, keep, merge, forget, or forget: and the id of one of the memories", decision).At("decision")
	}
	if err == nil {
		err = d.close(ctx)
	}
	return d.item, d.entry, err
}

// deciding is a decision under way.
type deciding struct {
	e        *Engine
	by       memory.Actor
	item     memory.ReviewItem
	decision string
	reason   string
	entry    string
	closed   bool
}

// close closes the item, unless it was closed with the decision or is in the trash. To keep
// memories is to use each of them.
func (d *deciding) close(ctx context.Context) error {
	if d.closed {
		return nil
	}
	if _, live := d.e.stm.Get(d.item.MemoryIDs[0]); !live {
		d.e.closeNow(&d.item, d.decision, d.reason)
		return nil
	}
	var err error
	d.item, d.entry, err = d.e.changeFound(ctx, d.by, closeVerb, d.entry, d.item, d.shut)
	if err != nil || d.decision != op.DecideKeep {
		return err
	}
	for _, id := range d.item.MemoryIDs {
		if row, live := d.e.stm.Get(id); live {
			d.e.used(row, d.item.ClosedAt)
		}
	}
	return nil
}

func (d *deciding) shut(item *memory.ReviewItem) error {
	d.e.closeNow(item, d.decision, d.reason)
	return nil
}

// promote gives each memory a note. Nothing is done unless all of them may have one.
func (d *deciding) promote(ctx context.Context) error {
	for _, dry := range []bool{true, false} {
		if err := d.e.needVault(); err != nil {
			return err
		}
		for _, id := range d.item.MemoryIDs {
			res, err := d.e.promoteMemory(ctx, promotion{id: id, by: d.by, dry: dry, force: true, entry: d.entry})
			if err != nil {
				return err
			}
			if res.Tx != "" {
				d.entry = res.Tx
			}
		}
	}
	return nil
}

// forget moves all of the memories to the trash that are not there yet. Where that takes several
// lines of the log it goes from the last memory to the first, which has the item and says what
// is being done: so the rest can be forgotten another time.
func (d *deciding) forget(ctx context.Context, ids []memory.ID) error {
	var live []memory.ID
	for _, id := range slices.Backward(ids) {
		row, is := d.e.stm.Get(id)
		if is && row.Core() {
			return coreStays(id)
		}
		if is || !d.e.stm.Trashed(id) {
			live = append(live, id)
		}
	}
	parts, err := d.e.forgettable(live)
	if err == nil && (len(parts) > 1 || halfForgotten(&d.item)) {
		err = d.intend(ctx)
	}
	if err != nil {
		return err
	}
	f := forgetting{e: d.e, at: d.e.opt.Now(), entry: d.entry}
	for _, part := range parts {
		err := f.some(op.WithCaller(ctx, d.by), part)
		d.entry = f.entry
		if err != nil {
			return err
		}
	}
	return nil
}

// intend has the item say what is being done, before it is. What was begun before goes on in
// the entry that it was begun in.
func (d *deciding) intend(ctx context.Context) error {
	if row, live := d.e.stm.Get(d.item.MemoryIDs[0]); live && d.item.Decision == d.decision {
		d.entry = d.e.stm.EntryOf(row, stm.ReviewKey(d.item.ID))
		return nil
	}
	var err error
	d.item, d.entry, err = d.e.changeFound(ctx, d.by, closeVerb, d.entry, d.item, func(item *memory.ReviewItem) error {
		item.Decision = d.decision
		return nil
	})
	return err
}

// halfForgotten reports an item of whose memories some may be in the trash and others not,
// since to forget them was begun and has not ended.
func halfForgotten(item *memory.ReviewItem) bool {
	return item.Decision == op.DecideForget && item.ClosedAt.IsZero()
}

func coreStays(id memory.ID) error {
	return memory.Errorf(memory.Conflict, "nothing was forgotten, for memory %s is core; emberd forget %s does that", id, id.Short()).At("decision")
}

// forgetOne moves one of the memories to the trash, in one line of the log with the close.
func (d *deciding) forgetOne(ctx context.Context, short string) error {
	id, err := d.e.stm.ResolveAmong(short, d.item.MemoryIDs)
	if err != nil {
		return about(err, "decision")
	}
	if !slices.Contains(d.item.MemoryIDs, id) {
		return memory.Errorf(memory.Invalid, "memory %s is none of those that the review item %s is about; emberd review show lists them", id, d.item.ID).At("decision")
	}
	d.decision = op.DecideForgetOne + string(id)
	owner := d.item.MemoryIDs[0]
	if id == owner {
		return d.forget(ctx, []memory.ID{id})
	}
	receipt, err := d.e.stm.Update(ctx, []memory.ID{id, owner}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		return d.forgettingOne(op.WithCaller(ctx, d.by), []memory.ID{id, owner}, rows)
	})
	d.entry, d.closed = receipt.Entry, err == nil
	return err
}

func (d *deciding) forgettingOne(ctx context.Context, ids []memory.ID, rows []*stm.Row) (*stm.Tx, error) {
	if rows[0] != nil && rows[0].Core() {
		return nil, coreStays(ids[0])
	}
	f := forgetting{e: d.e}
	tx, err := f.tx(ctx, ids[:1], rows[:1])
	if err != nil {
		return nil, err
	}
	set, err := d.e.changedItem(rows[1], &d.item, d.shut)
	if err != nil {
		return nil, err
	}
	tx.Changes = append(tx.Changes, stm.Change{ID: ids[1], Set: set})
	return tx, nil
}

// mostComparedMembers is how many memories of an item are compared in pairs to know whether
// they may be merged. What more come to is found when it is tried.
const mostComparedMembers = 12

// choicesOf are the decisions about an item that can be carried out now, [op.DecideKeep]
// among them. A merge that is among them may still be refused; one that is not would be. An
// item that is closed has none.
func (e *Engine) choicesOf(item *memory.ReviewItem) []string {
	var rows []*stm.Row
	for _, id := range item.MemoryIDs {
		row, live := e.stm.Get(id)
		if !live {
			return nil
		}
		rows = append(rows, row)
	}
	if e.decidable(item) != nil {
		return nil
	}
	var out []string
	add := func(can bool, decision string) {
		if can {
			out = append(out, decision)
		}
	}
	add(e.mayPromote(rows), op.DecidePromote)
	add(true, op.DecideKeep)
	add(e.mergeRefused(rows) == "", op.DecideMerge)
	if len(rows) > 1 {
		for _, row := range rows {
			add(!row.Core(), op.DecideForgetOne+string(row.ID()))
		}
	}
	add(!slices.ContainsFunc(rows, (*stm.Row).Core), op.DecideForget)
	return out
}

// mayPromote reports whether memories may have notes, and one of them has none.
func (e *Engine) mayPromote(rows []*stm.Row) bool {
	some := false
	for _, row := range rows {
		m, err := row.Memory()
		if err != nil || unconfirmed(&m) != nil {
			return false
		}
		some = some || !row.Promoted()
	}
	return some && e.needVault() == nil
}

// mergeRefused is why a merge of memories would be refused, "" if it would not be.
func (e *Engine) mergeRefused(rows []*stm.Row) string {
	if len(rows) < 2 {
		return "it takes two memories"
	}
	if len(rows) > largestCluster {
		return fmt.Sprintf("they are %d memories, and at most %d become one", len(rows), largestCluster)
	}
	if err := e.needVault(); err != nil {
		return err.Error()
	}
	for _, row := range rows {
		if row.Collection() != rows[0].Collection() || row.Project() != rows[0].Project() {
			return fmt.Sprintf("memories %s and %s are of different collections or projects", rows[0].ID().Short(), row.ID().Short())
		}
		if why := e.staysApart(row); why != "" {
			return fmt.Sprintf("memory %s stays as it is: %s", row.ID().Short(), why)
		}
	}
	return e.differ(rows[:min(len(rows), mostComparedMembers)])
}

// differ says what two of memories do not agree about, "" if they all do.
func (e *Engine) differ(rows []*stm.Row) string {
	facts := make([]*conflict.Facts, len(rows))
	for i, row := range rows {
		facts[i] = conflict.Of(e.text, row.Content())
		for j, earlier := range facts[:i] {
			if why := earlier.Differ(facts[i]); why != "" {
				return fmt.Sprintf("memories %s and %s do not say the same: %s", rows[j].ID().Short(), row.ID().Short(), why)
			}
		}
	}
	return ""
}

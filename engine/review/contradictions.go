package review

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/internal/dedupe/contradiction"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// ContradictionItem returns an item about two memories that contradict each other, and why.
func ContradictionItem(ids []memory.ID, why string) memory.ReviewItem {
	return memory.ReviewItem{Agent: op.ReviewCluster, Action: core.ContradictionAction, Urgency: op.UrgencyHigh,
		MemoryIDs: ids, Evidence: "the two memories cannot both be true: " + why}
}

// FileContradictions creates items for those of some relations that have none yet: the latest ones, at most so many.
func FileContradictions(ctx context.Context, e *Review, all []memory.Relation, most int) error {
	slices.SortFunc(all, func(x, y memory.Relation) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	items := make([]memory.ReviewItem, 0, len(all))
	for _, rel := range all {
		items = append(items, ContradictionItem([]memory.ID{rel.From, rel.To}, ""))
	}
	items = WouldFile(e, items)
	items = items[:min(len(items), most)]
	for i := range items { // a reason needs both texts analyzed, so only these get one
		ids := items[i].MemoryIDs
		at := slices.IndexFunc(all, func(rel memory.Relation) bool {
			return slices.Contains(ids, rel.From) && slices.Contains(ids, rel.To)
		})
		items[i].Evidence = ContradictionItem(ids, contradictionReason(e, &all[at])).Evidence
	}
	_, _, err := e.FileItems(ctx, op.CallerFrom(ctx), "", items)
	return err
}

// contradictionReason returns in what the two memories of a relation contradict each other.
func contradictionReason(e *Review, rel *memory.Relation) string {
	from, live := e.Stm.Get(rel.From)
	to, also := e.Stm.Get(rel.To)
	if live && also {
		for _, found := range contradiction.Of(e.Text, from.Content()).Find(contradiction.Of(e.Text, to.Content())) {
			return found.Why
		}
	}
	return "a relation says that they contradict each other"
}

// UndecidedContradictions returns the undecided items about contradicting memories, the latest first.
func UndecidedContradictions(e *Review) (all []memory.ReviewItem) {
	for item := range e.ReviewItems() {
		if hasStatus(&item, "") && item.Action == core.ContradictionAction {
			all = append(all, item)
		}
	}
	slices.SortFunc(all, func(a, b memory.ReviewItem) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// supersededIn returns the older of two memories that contradict each other, or "" if the newer one cannot
// supersede it.
func supersededIn(item *memory.ReviewItem, rows []*stm.Row) memory.ID {
	if item.Action != core.ContradictionAction || len(rows) != 2 {
		return ""
	}
	old, current := rows[0], rows[1]
	if cmp.Or(current.CreatedAt().Compare(old.CreatedAt()), current.CompareID(old)) < 0 {
		old, current = current, old
	}
	if m, err := current.Memory(); err != nil || m.Stage.Cold() || core.Unconfirmed(&m) != nil {
		return ""
	}
	return old.ID()
}

// supersede marks one of two memories as superseded by the other and closes the item in one log line.
func (d *DecisionRun) supersede(ctx context.Context, short string) error {
	ids := d.Item.MemoryIDs
	old, err := d.member(short)
	if err != nil {
		return err
	}
	if len(ids) != 2 {
		return memory.Errorf(memory.Invalid, "supersede:ID requires an item with 2 memories, not %d", len(ids)).
			At("decision")
	}
	d.Decision = op.DecideSupersede + string(old)
	receipt, err := d.E.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		return d.superseding(op.WithCaller(ctx, d.By), rows, slices.Index(ids, old))
	})
	d.Entry, d.closed = receipt.Entry, err == nil
	return err
}

// superseding returns the transaction by which the other of two locked memories supersedes the one at old.
func (d *DecisionRun) superseding(ctx context.Context, rows []*stm.Row, old int) (*stm.Tx, error) {
	for i, row := range rows {
		if row == nil {
			return nil, d.E.Missing(d.Item.MemoryIDs[i])
		}
	}
	tx, err := memories.SupersedeTx(ctx, d.E.Memories, rows[1-old], rows[old])
	if err != nil {
		return nil, err
	}
	set, err := d.E.changedItem(rows[0], &d.Item, d.shut)
	if err != nil {
		return nil, err
	}
	owner := slices.IndexFunc(tx.Changes, func(c stm.Change) bool { return c.ID == rows[0].ID() })
	if owner < 0 {
		tx.Changes = append(tx.Changes, stm.Change{ID: rows[0].ID(), Set: set})
	} else {
		maps.Copy(tx.Changes[owner].Set, set)
	}
	return tx, nil
}

// UndoneAt returns when a value of a memory was undone or removed, zero if it was not. An
// agent does not repeat what the user undid.
func UndoneAt(row *stm.Row, key string) time.Time {
	if row.Has(key) {
		return time.Time{}
	}
	return row.Changed(key)
}

// WouldFile returns the items that [Review.FileItems] would create now, complete. It leaves out items
// that were undone and whose memories have not changed since.
func WouldFile(e *Review, items []memory.ReviewItem) []memory.ReviewItem {
	var out []memory.ReviewItem
	shelves := make(map[memory.ID]*ReviewItems)
	for _, item := range items {
		if e.CompleteItem(&item) != nil {
			continue
		}
		id := item.MemoryIDs[0]
		row, live := e.Stm.Get(id)
		if !live {
			continue
		}
		if shelves[id] == nil {
			shelves[id] = &ReviewItems{E: e, Row: row, Items: row.ReviewItems(),
				Set: make(map[string]json.RawMessage)}
		}
		item.ClosedAt = UndoneAt(row, stm.ReviewKey(item.ID))
		undone := !item.ClosedAt.IsZero() && !e.ChangedSince(&item)
		item.ClosedAt = time.Time{}
		if !undone && shelves[id].Add(item) {
			out = append(out, item)
		}
	}
	return out
}

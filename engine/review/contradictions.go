package review

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"emberd/engine/core"
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

// FileContradictions creates items for those of some relations that have none yet, the latest first, at most so many.
func (e *Review) FileContradictions(ctx context.Context, all []memory.Relation, most int) error {
	slices.SortFunc(all, func(x, y memory.Relation) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	items := make([]memory.ReviewItem, 0, len(all))
	for _, rel := range all {
		items = append(items, ContradictionItem([]memory.ID{rel.From, rel.To}, e.contradictionReason(&rel)))
	}
	items = e.WouldFile(items)
	_, _, err := e.FileItems(ctx, op.CallerFrom(ctx), "", items[:min(len(items), most)])
	return err
}

// contradictionReason returns in what the two memories of a relation contradict each other.
func (e *Review) contradictionReason(rel *memory.Relation) string {
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
func (e *Review) UndecidedContradictions() (all []memory.ReviewItem) {
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
func (e *Review) WouldFile(items []memory.ReviewItem) []memory.ReviewItem {
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

package review

import (
	"cmp"
	"context"
	"slices"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

const PartReason = "a later review item includes these memories"

// closeParts closes open items of an agent whose memories are a part of a new item of the same
// agent with the same action. It keeps claimed items and those of the user. It returns the
// change.
func (e *Review) closeParts(ctx context.Context, by memory.Actor, entry string,
	filed []memory.ReviewItem) (string, error) {
	larger := make(map[memory.ID][]memory.ReviewItem)
	for _, item := range filed {
		if len(item.MemoryIDs) > 1 && item.Agent != op.ReviewUser {
			for _, id := range item.MemoryIDs {
				larger[id] = append(larger[id], item)
			}
		}
	}
	if len(larger) == 0 {
		return entry, nil
	}
	var parts []memory.ReviewItem
	for item := range e.ReviewItems() {
		partOf := func(all memory.ReviewItem) bool {
			return all.Agent == item.Agent && all.Action == item.Action && len(item.MemoryIDs) < len(all.MemoryIDs) &&
				core.HoldsAll(all.MemoryIDs, item.MemoryIDs)
		}
		if item.Status == memory.ItemOpen && slices.ContainsFunc(larger[item.MemoryIDs[0]], partOf) {
			parts = append(parts, item)
		}
	}
	slices.SortFunc(parts, func(a, b memory.ReviewItem) int { return cmp.Compare(a.ID, b.ID) })
	for _, item := range parts {
		var err error
		if entry, err = e.CloseAsListed(ctx, by, entry, item, "", PartReason); err != nil {
			return entry, err
		}
	}
	return entry, nil
}

package engine

import (
	"cmp"
	"context"
	"slices"

	"emberd/memory"
	"emberd/op"
)

const partReason = "a later item is about these memories and others"

// closeParts closes what new items of an agent ask once more with further memories: the open
// items of the same agent that propose the same about some of their memories. One that
// somebody has claimed stays, and so do those of people. It returns the journal entry.
func (e *Engine) closeParts(ctx context.Context, by memory.Actor, entry string, filed []memory.ReviewItem) (string, error) {
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
	for item := range e.reviewItems() {
		partOf := func(all memory.ReviewItem) bool {
			return all.Agent == item.Agent && all.Action == item.Action && len(item.MemoryIDs) < len(all.MemoryIDs) && holdsAll(all.MemoryIDs, item.MemoryIDs)
		}
		if item.Status == memory.ItemOpen && slices.ContainsFunc(larger[item.MemoryIDs[0]], partOf) {
			parts = append(parts, item)
		}
	}
	slices.SortFunc(parts, func(a, b memory.ReviewItem) int { return cmp.Compare(a.ID, b.ID) })
	for _, item := range parts {
		var err error
		if entry, err = e.closeAsListed(ctx, by, entry, item, "", partReason); err != nil {
			return entry, err
		}
	}
	return entry, nil
}

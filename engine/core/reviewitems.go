package core

import (
	"errors"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// CheckReviewItems returns an error if the record has an invalid review item. The other
// memories of an item may be missing, because the import may add them later.
func CheckReviewItems(r *op.Record) error {
	n := 0
	for key, value := range r.Fields {
		if !stm.IsReviewKey(key) {
			continue
		}
		item, err := stm.ParseReviewItem(key, value)
		if err == nil && (item.MemoryIDs[0] != r.ID || !slices.IsSorted(item.MemoryIDs) ||
			item.ID != memory.ReviewItemID(item.Agent, item.MemoryIDs)) {
			err = errors.New("the review item is about other memories, or another agent created it")
		}
		if err == nil &&
			!slices.Contains([]string{memory.ItemOpen, memory.ItemClaimed, memory.ItemClosed}, item.Status) {
			err = errors.New("the status of the review item is not open, claimed or closed")
		}
		if err == nil {
			err = CheckItem(&item)
		}
		if err != nil {
			return memory.Errorf(memory.Invalid,
				"cannot read the field %.60s of the memory: %w; send the output of emberd export", key,
				err).At("memory")
		}
		n++
	}
	if n > MaxItemsOpen+MaxItemsClosed {
		return memory.Errorf(memory.TooLarge, "too many review items of the memory: %d (limit %d); remove closed items",
			n, MaxItemsOpen+MaxItemsClosed).At("memory")
	}
	return nil
}

// Journal verbs of review items.
const (
	FileVerb  = "file review"
	ClaimVerb = "claim review"
	CloseVerb = "close review"
)

// Limits of the review items whose first memory is the same.
const (
	MaxItemsOpen   = 64
	MaxItemsClosed = 20
)

// StandardLabels returns the labels that every item has.
func StandardLabels(item *memory.ReviewItem) []string {
	return []string{"consolidation:" + item.Agent, "urgency:" + item.Urgency}
}

// CheckItem returns an error if a field of the item is out of bounds.
func CheckItem(item *memory.ReviewItem) error {
	switch {
	case len(item.MemoryIDs) == 0:
		return memory.Errorf(memory.Invalid, "missing memory IDs; pass at least one").At("memory_ids")
	case len(item.MemoryIDs) > memory.MaxIDs:
		return memory.Errorf(memory.TooLarge, "too many memories: %d (limit %d); create several review items",
			len(item.MemoryIDs), memory.MaxIDs).At("memory_ids")
	case !slices.Contains(op.ReviewAgents(), item.Agent):
		return memory.Errorf(memory.Invalid, "invalid agent %.40q; use one of %s", item.Agent,
			strings.Join(op.ReviewAgents(), ", ")).At("agent")
	case item.Action == "":
		return memory.Errorf(memory.Invalid, "missing action; pass one word, for example needs_review").At("action")
	case !slices.Contains([]string{op.UrgencyHigh, op.UrgencyMedium, op.UrgencyLow}, item.Urgency):
		return memory.Errorf(memory.Invalid, "invalid urgency %.20q; use high, medium or low",
			item.Urgency).At("urgency")
	case len(item.Labels) > op.MaxLabels+len(StandardLabels(item)):
		return memory.Errorf(memory.TooLarge, "too many labels of the review item: %d (limit %d); omit some labels",
			len(item.Labels), op.MaxLabels).At("labels")
	}
	for _, label := range item.Labels {
		if strings.TrimSpace(label) == "" {
			return memory.Errorf(memory.Invalid, "a label is empty; omit the label").At("labels")
		}
		if err := memory.CheckText("labels", label, memory.MaxName); err != nil {
			return err
		}
	}
	return FirstError(memory.CheckText("action", item.Action, memory.MaxName),
		memory.CheckText("evidence", item.Evidence, op.MaxEvidence+len("...")))
}

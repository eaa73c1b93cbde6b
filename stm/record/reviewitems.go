package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"emberd/memory"
)

// A review item is a key of the first memory that it is about: review. and the 32 hex
// digits of its id. So it is a register of its own, as a relation is, of which the latest
// write of any device counts, and goes to the trash and comes back with that memory. It
// is no edit: the memory keeps its revision. Keys that only look like one are kept, and
// are none.
const ReviewPrefix = "review."

// OtherTexts is in the value of an item that has texts of its own, and in no other.
const OtherTexts = `"texts":[{"text":`

// reviewDigits is how many hex digits the id of an item has.
const reviewDigits = 32

// heldItem is the value of such a key, which has the id.
type heldItem struct {
	memory.ReviewItem
	ID string `json:"id,omitempty"` // hides the item's
}

// ReviewKey is the key that holds a review item, by its id.
func ReviewKey(id string) string { return ReviewPrefix + strings.TrimPrefix(id, "rev-") }

// IsReviewKey reports whether a key is where a review item belongs, well formed or not.
func IsReviewKey(key string) bool { return strings.HasPrefix(key, ReviewPrefix) }

// ReviewValue is what that key holds.
func ReviewValue(item *memory.ReviewItem) json.RawMessage {
	return Encode(heldItem{ReviewItem: *item})
}

// ParseReviewItem reads a key of a memory. The caller owns the result.
func ParseReviewItem(key string, value []byte) (memory.ReviewItem, error) {
	if !isItem([]byte(key)) {
		return memory.ReviewItem{}, fmt.Errorf("invalid review item %.60q", key)
	}
	var held heldItem
	if err := json.Unmarshal(value, &held); err != nil {
		return memory.ReviewItem{}, fmt.Errorf("invalid review item %s: %w", key, err)
	}
	for _, id := range held.MemoryIDs {
		if _, err := memory.ParseID(string(id)); err != nil {
			return memory.ReviewItem{}, fmt.Errorf("invalid review item %s: %w", key, err)
		}
	}
	if len(held.MemoryIDs) == 0 {
		return memory.ReviewItem{}, fmt.Errorf("review item %s has no memories", key)
	}
	held.ReviewItem.ID = "rev-" + strings.TrimPrefix(key, ReviewPrefix)
	return held.ReviewItem, nil
}

// isItem reports whether a key is well formed.
func isItem(key []byte) bool {
	digits, ok := bytes.CutPrefix(key, []byte(ReviewPrefix))
	if !ok || len(digits) != reviewDigits || bytes.ContainsAny(digits, "ABCDEF") {
		return false
	}
	var raw [reviewDigits / 2]byte
	_, err := hex.Decode(raw[:], digits)
	return err == nil
}

// aboutIDs are the memories that a member of a document is to be reviewed with, as far as they
// can be read; ok is false if it is no such member.
func aboutIDs(name, value []byte) (ids [][16]byte, ok bool) {
	if !bytes.HasPrefix(name, []byte(ReviewPrefix)) {
		return nil, false
	}
	var held struct {
		MemoryIDs []string `json:"memory_ids"`
	}
	_ = json.Unmarshal(value, &held) // what is of another shape is about nothing
	for _, text := range held.MemoryIDs {
		if id, err := memory.ParseID(text); err == nil {
			ids = append(ids, id.Bytes())
		}
	}
	return ids, true
}

package review

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/memory"
)

// A position is the place of an item in the order of ByUrgency. Callers receive it as a cursor:
// base64url of its JSON. It stays valid when the item is closed or removed.
type position struct {
	Closed  bool      `json:"c,omitempty"`
	Urgency string    `json:"u"`
	Created time.Time `json:"t"`
	ID      string    `json:"i"`
}

// cursorAfter returns the cursor of the page after an item.
func cursorAfter(item *memory.ReviewItem) (string, error) {
	raw, err := json.Marshal(position{item.Status == memory.ItemClosed, item.Urgency, item.CreatedAt, item.ID})
	return base64.RawURLEncoding.EncodeToString(raw), err
}

// itemsAfter returns the items of an ordered list that follow a cursor, "" for all of them.
func itemsAfter(items []memory.ReviewItem, cursor string) ([]memory.ReviewItem, error) {
	if cursor == "" {
		return items, nil
	}
	var p position
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(raw, &p) != nil || p.ID == "" {
		return nil, core.BadCursor()
	}
	last := memory.ReviewItem{ID: p.ID, Urgency: p.Urgency, CreatedAt: p.Created}
	if p.Closed {
		last.Status = memory.ItemClosed
	}
	at, found := slices.BinarySearchFunc(items, last, ByUrgency)
	if found {
		at++
	}
	return items[at:], nil
}

package core

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// NotePathLabel returns the label of a review item of the agent note that was shown with the note at path.
func NotePathLabel(path string) string {
	sum := sha256.Sum256([]byte(path))
	return op.NotePathLabel + hex.EncodeToString(sum[:])
}

// NoteItem returns the review item that asks whether the note at path is that of a memory, open or closed.
func NoteItem(row *stm.Row, path string) (item memory.ReviewItem, found bool) {
	items := row.ReviewItems()
	i := slices.IndexFunc(items, func(i memory.ReviewItem) bool {
		return i.Agent == op.ReviewNote && slices.Contains(i.Labels, NotePathLabel(path))
	})
	if i < 0 {
		return memory.ReviewItem{}, false
	}
	return items[i], true
}

// AskedAbout returns the open review item about a note beside that of a memory: whether it is the memory's note,
// or whether its text is to be the memory's.
func AskedAbout(row *stm.Row, path, body string) (item memory.ReviewItem, asked bool) {
	if item, asked = NoteItem(row, path); asked && item.Status != memory.ItemClosed {
		return item, true
	}
	text := op.TextLabel + (&memory.OtherText{Text: body}).Digits()
	items := row.ReviewItems()
	i := slices.IndexFunc(items, func(i memory.ReviewItem) bool {
		return i.Agent == op.ReviewText && i.Status != memory.ItemClosed && slices.Contains(i.Labels, text)
	})
	if i < 0 {
		return memory.ReviewItem{}, false
	}
	return items[i], true
}

// Undecided returns the review item with the texts that wait for a decision which of them a memory has, or one
// without an ID.
func Undecided(row *stm.Row) (item memory.ReviewItem) {
	items := row.ReviewItems()
	if i := slices.IndexFunc(items, func(item memory.ReviewItem) bool { return len(item.Texts) > 0 }); i >= 0 {
		item = items[i]
	}
	return item
}

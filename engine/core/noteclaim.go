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
		return item, false
	}
	return items[i], true
}

// Package review keeps items that wait for a decision of the user, applies decisions, and
// mirrors the items in the review note and in beads.
//
// Guarantee: an item is decided once, and an interrupted decision is completed after a crash.
package review

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/listnotes"
	"emberd/engine/memories"
	"emberd/engine/merge"
	"emberd/engine/notes"
	"emberd/engine/notesync"
	"emberd/engine/promote"
)

// Review has the operations of this package for callers with the same permissions.
type Review struct {
	*core.View
	*State

	Lifecycle *lifecycle.Lifecycle
	Lists     *listnotes.Lists
	Memories  *memories.Memories
	Merge     *merge.Merge
	Notes     *notes.Notes
	Promote   *promote.Promote
	Sync      *notesync.Sync
}

// State is what all views share.
type State struct {
	owners ItemOwners
	kept   storedItems
	Mirror *BeadsMirror // nil unless items are mirrored
}

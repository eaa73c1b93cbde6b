// Package notesync applies users' edits of notes to memories.
//
// Guarantee: a field of a memory changes only when the note's field has changed since the last
// sync, and many deletions at once wait for confirmation.
package notesync

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/notes"
	"emberd/engine/promote"
)

// Sync has the operations of this package for callers with the same permissions.
type Sync struct {
	*core.View
	*State

	Lifecycle *lifecycle.Lifecycle
	Notes     *notes.Notes
	Promote   *promote.Promote
}

// State is what all views share.
type State struct {
	Sync *NoteSync // nil without a vault
}

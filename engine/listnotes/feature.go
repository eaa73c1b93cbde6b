// Package listnotes writes the notes that list memories (Index.md, Core.md) and schedules the
// review note.
//
// Guarantee: a property marks a note as a list, so it stays one if the user moves it, and the
// user's own text in it stays.
package listnotes

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/notes"
	"emberd/engine/promote"
)

// Lists has the operations of this package for callers with the same permissions.
type Lists struct {
	*core.View
	*State

	Lifecycle *lifecycle.Lifecycle
	Notes     *notes.Notes
	Promote   *promote.Promote
}

// State is what all views share.
type State struct {
	Lists *MemoryLists // nil without a vault
}

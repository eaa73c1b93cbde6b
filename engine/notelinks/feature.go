// Package notelinks keeps the links in the notes of promoted memories: entities, as people write them, and the
// relations between memories that have notes, one list of each type. It reads back what a person did to them.
//
// Guarantee: a pass changes nothing in a note but the properties that [promote.LinkKeys] names, and of these only what
// emberd wrote. A link that a person removed takes the relation with it, one that a person added makes one, and each
// pass can be undone.
package notelinks

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/engine/notes"
	"emberd/engine/notewrite"
	"emberd/engine/promote"
)

// Links has the operations of this package for callers with the same permissions.
type Links struct {
	*core.View
	*State

	Lifecycle *lifecycle.Lifecycle
	Memories  *memories.Memories
	Notes     *notes.Notes
	NoteWrite *notewrite.NoteWrite
	Promote   *promote.Promote
}

// State is what all views share.
type State struct {
	Known *Known // nil without a vault
}

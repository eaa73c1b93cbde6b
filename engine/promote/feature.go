// Package promote writes memories to notes. It creates notes for memories that qualify, writes
// edits of promoted memories to their notes, and queues the writes that must wait.
//
// Guarantee: it writes the note first, then the index, then the log. A crash in between leaves
// a note with the memory's ID, which the next run adopts.
package promote

import (
	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/notes"
)

// Promote has the operations of this package for callers with the same permissions.
type Promote struct {
	*core.View
	*State

	Graph *graph.Graph
	Notes *notes.Notes
}

// State is what all views share.
type State struct {
	Writing *NoteWriter    // nil without a vault
	Pending *PendingWrites // nil without a vault
}

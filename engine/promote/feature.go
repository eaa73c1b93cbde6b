// Package promote writes memories to notes. It creates notes for memories that qualify, writes
// edits of promoted memories to their notes, and queues the writes that must wait.
//
// A promotion writes the note first, then the index, then the log. A crash in between leaves a note
// with the memory's ID, which the next run adopts. An edit is written the other way round: it is queued
// on disk, the log gets it, and the note gets the memory's latest text when it may. A text that the user
// has changed in the note meanwhile stays there, and note sync decides about the two.
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

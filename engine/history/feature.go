// Package history shows and reverts changes: versions, journal, timeline, trash and undo.
//
// Guarantee: an undo does not revert what changed again since, unless it is forced, and
// reports it.
package history

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/engine/notelinks"
	"emberd/engine/notes"
	"emberd/engine/notesync"
	"emberd/engine/notewrite"
	"emberd/engine/promote"
	"emberd/engine/similar"
)

// History has the operations of this package for callers with the same permissions.
type History struct {
	*core.View

	Lifecycle *lifecycle.Lifecycle
	Memories  *memories.Memories
	Notes     *notes.Notes
	Sync      *notesync.Sync
	NoteWrite *notewrite.NoteWrite
	Links     *notelinks.Links
	Promote   *promote.Promote
	Similar   *similar.Similar
}

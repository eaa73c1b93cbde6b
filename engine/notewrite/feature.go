// Package notewrite changes notes for callers: it creates, replaces, edits and moves them, and undoes each of
// these changes. It also reads a note with what is around it, and lists what changed lately.
//
// Guarantees: it writes in the folders that the settings name for agents and in no other, never into a note of a
// memory or one that emberd writes itself. The user wins: a note that changed since the caller read it, or that a
// program saved a moment ago, is not written. What a change replaced is kept until the change can no longer be
// undone, and an undo leaves what changed again since.
package notewrite

import (
	"crypto/sha256"
	"path/filepath"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/engine/search"
	"emberd/internal/notejournal"
)

// NoteWrite has the operations of this package for callers with the same permissions.
type NoteWrite struct {
	*core.View
	*State

	Notes   *notes.Notes
	Promote *promote.Promote
	Search  *search.Search
}

// State is what all views share.
type State struct{ Journal *notejournal.Journal }

// NewState returns the state for the settings.
func NewState(opt *core.Options) State {
	dir := filepath.Join(opt.State, "notechanges")
	return State{Journal: notejournal.Open(opt.FS, dir, opt.Now, opt.TrashKeep)}
}

// Wrote reports whether the latest change of a note by a caller left these bytes.
func (s *State) Wrote(path string, sum [sha256.Size]byte) bool {
	return s.Journal.Wrote(path, hexDigest(sum))
}

// The verbs of the journal.
const (
	WriteVerb  = "note.write"
	AppendVerb = "note.append"
	EditVerb   = "note.edit"
	MoveVerb   = "note.move"
	CopyVerb   = "note.copy" // a copy of the note of a memory was taken away
)

// ListCopy adds to the journal that emberd took a copy of the note of a memory away.
func ListCopy(s *State, path string, text []byte) error {
	_, err := s.Journal.Begin(notejournal.Entry{Verb: CopyVerb, By: core.VaultActor(),
		Notes: []notejournal.Note{{Path: path}}}, [][]byte{text})
	return err
}

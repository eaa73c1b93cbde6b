package notesync

import (
	"encoding/hex"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/vault"
)

// NoteChange is what changed in the notes with the ID of one memory. The JSON is that of the
// file on disk.
type NoteChange struct {
	ID        memory.ID `json:"id"`
	Added     []string  `json:"came,omitempty"`  // notes that got the ID, or returned
	Removed   []string  `json:"went,omitempty"`  // notes that had the ID and are gone
	Confirmed bool      `json:"meant,omitempty"` // the deletion was confirmed
	Restored  bool      `json:"alive,omitempty"` // the memory was restored in the meantime
	// ConfirmedBy is the actor who confirmed the deletion, or the note; the journal records it.
	ConfirmedBy *memory.Actor `json:"meant_by,omitempty"`
	// Moved maps the old path of a renamed note to the new one.
	Moved map[string]string `json:"moved,omitempty"`
	// Same are new paths of renamed notes that were found there as they were read before.
	Same    []string `json:"same,omitempty"`
	Changed []string `json:"changed,omitempty"` // notes with the ID that were read again
	// Last maps notes that are gone to the SHA-256, in hex, of what was read there last.
	Last map[string]string `json:"last,omitempty"`

	Due   time.Time `json:"-"` // zero until the batch ends
	tries int       // while a note could not be read
	Held  bool      // the deletion waits for confirmation
	entry string    // change of the log to join, "" for a new one
}

// add adds a later change.
func (w *NoteChange) add(later *NoteChange) {
	for _, path := range later.Added {
		w.noteAdded(path)
	}
	for _, path := range later.Removed {
		w.noteRemoved(path, later.Last[path])
	}
	w.Restored = w.Restored || later.Restored
	if later.Confirmed {
		w.confirm(later.ConfirmedBy)
	}
	for from, to := range later.Moved {
		w.move(from, to)
	}
	for _, path := range later.Same {
		w.Same = including(w.Same, path)
	}
	for _, path := range later.Changed {
		w.Changed = including(w.Changed, path)
	}
	for path, digest := range later.Last {
		w.setLast(path, digest)
	}
}

// including returns paths with path.
func including(paths []string, path string) []string {
	if slices.Contains(paths, path) {
		return paths
	}
	return append(paths, path)
}

// confirm marks the deletion as confirmed. The first actor stays.
func (w *NoteChange) confirm(by *memory.Actor) {
	if w.Confirmed = true; w.ConfirmedBy == nil {
		w.ConfirmedBy = by
	}
}

// by returns the actor of a change: the one who confirmed it, or emberd.
func (w *NoteChange) by() memory.Actor {
	if w.ConfirmedBy == nil {
		return core.VaultActor()
	}
	return *w.ConfirmedBy
}

func (w *NoteChange) move(from, to string) {
	if w.Moved == nil {
		w.Moved = make(map[string]string)
	}
	w.Moved[from] = to
	delete(w.Moved, to) // a note that moved back has not moved
	w.Added = notes.Without(w.Added, to)
	if i := slices.Index(w.Added, from); i >= 0 {
		w.Added[i] = to
	}
}

// moveByContent records that a note came with the bytes of notes that had gone: a sync tool renames so. Bytes that
// came somewhere already are a copy here.
func (w *NoteChange) moveByContent(to, digest string) {
	for _, from := range w.Removed {
		if w.Last[from] == digest && w.Moved[from] == "" && from != to && !isCopy(to, from) {
			w.move(from, to)
			w.Same = including(w.Same, to)
		}
	}
}

func (w *NoteChange) setLast(path, digest string) {
	if digest == "" {
		return
	}
	if w.Last == nil {
		w.Last = make(map[string]string)
	}
	w.Last[path] = digest
}

// restored reports whether a note has the bytes that were read last at the path of a deleted one.
func (w *NoteChange) restored(from string, note *vault.Note) bool {
	return w.Last[from] != "" && w.Last[from] == hex.EncodeToString(note.Digest[:])
}

// renamed reports whether the note that was at path from is at path to by one rename or more.
func (w *NoteChange) renamed(from, to string) bool {
	at := from
	for range w.Moved { // ends a cycle
		next, moved := w.Moved[at]
		if !moved {
			break
		}
		if !slices.Contains(w.Same, next) {
			return false
		}
		at = next
	}
	return at == to && to != from
}

// now returns the current path of the note that was at path.
func (w *NoteChange) now(path string) string {
	for range w.Moved { // ends a cycle
		to, moved := w.Moved[path]
		if !moved {
			break
		}
		path = to
	}
	return path
}

func (w *NoteChange) noteAdded(path string) {
	w.Removed, w.Added = notes.Without(w.Removed, path), including(w.Added, path)
}

// noteRemoved records that a note is gone, with the SHA-256 of what was read there last, in hex, "" if that is not
// known. The note may have been renamed before: then it is gone from its earlier paths, too.
func (w *NoteChange) noteRemoved(path, digest string) {
	renamed := slices.Contains(w.Same, path)
	w.Added, w.Same = notes.Without(w.Added, path), notes.Without(w.Same, path)
	w.Removed = append(notes.Without(w.Removed, path), path)
	w.setLast(path, digest)
	for from, to := range w.Moved {
		if renamed && to == path {
			delete(w.Moved, from)
			w.noteRemoved(from, digest)
		}
	}
}

// ignoreMissing drops the error for an ID that is not in the trash.
func ignoreMissing(err error) error {
	if memory.CodeOf(err) == memory.NotFound {
		return nil
	}
	return err
}

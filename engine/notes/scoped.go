package notes

import (
	"context"

	"emberd/engine/core"
	"emberd/internal/access"
	"emberd/memory"
)

// CanReadNote reports whether the caller can read a note. If it has the ID of a memory, the memory decides
// whose note it is, and the tags in the note do not count: whoever may write a memory of one tag can put
// another tag into its text.
func (e *Notes) CanReadNote(path string, tags []string) bool {
	id, carries := idAt(e.Vault, path)
	if !carries {
		return e.Grant.Sees(access.Subject{Tags: tags, Note: path})
	}
	if e.Grant.Sees(access.Subject{Note: path}) {
		return true
	}
	row, live := e.Stm.Get(id)
	return live && core.NoteOfRow(row) == path
}

// IsNoteOf reports whether a note with the ID of a memory is its note, as the log says, or has its
// content while that is missing, as after a rename. The caller must be able to read the memory. Another
// note with the ID is a note like any other.
func (e *Notes) IsNoteOf(id memory.ID, path string) bool {
	row, live := e.Stm.Get(id)
	if !live {
		return false
	}
	home := core.NoteOfRow(row)
	if home == "" || home == path {
		return home == path
	}
	if at, there := e.Vault.Carriers.At(home); there && at == id {
		return false
	}
	m, err := row.Memory()
	if err != nil {
		return false
	}
	note, err := e.Vault.Root.Load().Read(context.Background(), path)
	return err == nil && core.CarriesID(note.Carried, id) && Owns(&m, note)
}

package notes

import (
	"context"
	"maps"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/stm"
)

// CheckReturned completes a transaction that brings memories back from the trash or undoes a change of
// their notes. A memory whose note is missing, or does not say what it said, is recorded to have no note:
// its path alone no longer shows that the note there is the memory's, because anyone who writes to the
// vault could have put one there in the meantime. Note sync finds the note by what it says ([Owns]), or
// asks the user. The store calls it with the locks of the memories.
func (e *Notes) CheckReturned(ctx context.Context, tx *stm.Tx) error {
	if e.Stm == nil { // the store is being opened
		return nil
	}
	for i := range tx.Changes {
		c := &tx.Changes[i]
		row, live := e.Stm.Get(c.ID)
		if c.Delete || live && tx.Verb != stm.UndoVerb || !live && !e.Stm.InTrash(c.ID) {
			continue
		}
		m, err := core.After(row, c)
		if err != nil {
			return err
		}
		if !m.NoteGone.IsZero() || core.NotePath(&m) == "" || e.keepsNote(ctx, row, &m) {
			continue
		}
		set := maps.Clone(c.Set)
		if set["note_gone"], err = core.Encode(core.StampTime(e.Opt.Now())); err != nil {
			return err
		}
		c.Set = set
	}
	return ctx.Err()
}

// keepsNote reports whether the note of a memory that comes back, or changes by an undo, stays known as its
// note. row is the live memory, nil for none.
func (e *Notes) keepsNote(ctx context.Context, row *stm.Row, m *memory.Memory) bool {
	path, before := core.NotePath(m), ""
	if row != nil {
		before = core.NoteOfRow(row)
	}
	switch {
	case path == before:
		return true
	case e.Vault == nil:
		return false
	case before != "" && m.PromotedTo == "" && e.Vault.InArchive(path) && Absent(e.Vault.Root.Load(), path):
		return e.hasNote(ctx, m.ID, before) // the undo of a promotion moves it back to the archive
	}
	note, err := e.Vault.Root.Load().Read(ctx, path)
	return err == nil && core.CarriesID(note.Carried, m.ID) && SaysSame(m, note.Carried)
}

// hasNote reports whether the note at path has the ID of a memory.
func (e *Notes) hasNote(ctx context.Context, id memory.ID, path string) bool {
	note, err := e.Vault.Root.Load().Read(ctx, path)
	return err == nil && core.CarriesID(note.Carried, id)
}

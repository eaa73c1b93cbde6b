package notes

import (
	"context"
	"crypto/sha256"

	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// PassageBytes is how much of a passage is searched for a snippet. Most passages are half as
// long.
const PassageBytes = 2 << 10

// FileOf returns the state of the file that was indexed.
func FileOf(h ltm.Hit) vault.File {
	c := h.Cursor
	return vault.File{Path: h.Path, Size: c.Size, ModTime: c.ModTime, ChangeTime: c.ChangeTime, Inode: c.Inode}
}

// TextOf returns the whole text of a note, false if it cannot be read now.
func (n *VaultNotes) TextOf(ctx context.Context, path string) (string, bool) {
	text, err := n.Root.Load().Text(ctx, path)
	return text, err == nil
}

// SameText returns the text of a note, or false if the file is not byte for byte what was
// read.
func (n *VaultNotes) SameText(ctx context.Context, note *vault.Note) (string, bool) {
	text, ok := n.TextOf(ctx, note.Path)
	return text, ok && sha256.Sum256([]byte(text)) == note.Digest
}

// NoteOfHit returns a note as callers see it.
func (e *Notes) NoteOfHit(h ltm.Hit) *op.Note {
	n := &op.Note{Vault: e.Vault.Root.Load().Name(), Path: h.Path,
		Title: h.Title, Heading: h.HeadingPath, Line: h.Line, Created: h.Created.UTC(), Modified: h.Modified.UTC()}
	if id, err := memory.ParseID(h.MemoryID); err == nil && e.IsNoteOf(id, h.Path) {
		n.MemoryID = id
	}
	return n
}

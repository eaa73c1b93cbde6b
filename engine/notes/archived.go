package notes

import (
	"context"
	"errors"
	"io/fs"

	"emberd/engine/core"
	"emberd/ltm"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/stm"
	"emberd/vault"
)

// The texts of archived memories are in an index of their own, which ranks them as the memories that they are
// ([ltm.Options]). It has every note of the archive folder with the ID of a memory; searches pass over those whose
// memory has its text in the log again.

// AskArchive is [VaultNotes.Ask] for the index of archived texts.
func (n *VaultNotes) AskArchive(question func(*ltm.Index) error) error {
	return askTwice(func() error { return question(n.archived()) })
}

// AskAll asks the index of notes, and then that of archived texts.
func (n *VaultNotes) AskAll(question func(*ltm.Index) error) error {
	return errors.Join(n.Ask(question), n.AskArchive(question))
}

// archived returns the index of the archived texts that the caller can read.
func (n *VaultNotes) archived() *ltm.Index {
	n.Mu.RLock()
	defer n.Mu.RUnlock()
	if n.Sees != nil {
		return n.texts.Through(n.Sees)
	}
	return n.texts
}

// openArchived opens the index of archived texts, without those that are no longer in the archive folder. Mu must be
// held once the notes are open.
func openArchived(n *Followed) (*ltm.Index, error) {
	index, err := ltm.Open(n.textsDir, &ltm.Options{Logger: n.Log, Analyzer: n.text, Memories: true})
	if err != nil {
		return nil, memory.Errorf(memory.Unavailable, "cannot open the index of archived memories: %w", err)
	}
	var gone []string
	for path := range index.Known() {
		if !n.Archive.contains(path) || n.Archive.State(path).ID == "" { // that is read again, if it is there
			gone = append(gone, path)
		}
	}
	if len(gone) > 0 {
		err = index.Update(context.Background(), nil, gone)
	}
	return index, err
}

// indexArchived updates the index of archived texts after notes were read.
func indexArchived(ctx context.Context, n *VaultNotes, read []Reading, gone []string) error {
	var put []ltm.Doc
	var removed []string
	for _, path := range gone {
		if n.Archive.contains(path) {
			removed = append(removed, path)
		}
	}
	for _, r := range read {
		switch {
		case r.Note == nil || !n.Archive.contains(r.Doc.Path):
		case r.Note.Carried == nil || r.Note.Copy:
			removed = append(removed, r.Doc.Path)
		default:
			put = append(put, archivedDoc(n.Followed, r.Note))
		}
	}
	if len(put)+len(removed) == 0 {
		return nil
	}
	return n.archived().Update(ctx, put, removed)
}

// IndexTexts indexes notes that were just written or read for memories that are about to be archived, so that a
// search finds these as soon as the log has dropped their texts.
func (n *VaultNotes) IndexTexts(ctx context.Context, notes ...*vault.Note) error {
	read := make([]Reading, len(notes))
	for i, note := range notes {
		if id, err := memory.ParseID(note.MemoryID); err == nil {
			n.unread.Store(note.Path, id)
		}
		read[i] = Reading{Doc: ltm.Doc{Path: note.Path}, Note: note}
	}
	return indexArchived(ctx, n, read, nil)
}

// archivedDoc returns the document of a memory's text. What else is searched of the memory is in the log.
func archivedDoc(n *Followed, note *vault.Note) ltm.Doc {
	text := note.Carried.Body
	doc := ltm.Doc{Path: note.Path, MemoryID: note.MemoryID, Text: text, Created: note.Created, Modified: note.Updated,
		Cursor: ltm.Cursor{Digest: note.Digest, Size: note.Size, ModTime: note.ModTime, ChangeTime: note.ChangeTime,
			Inode: note.Inode}}
	if id, err := memory.ParseID(note.MemoryID); err == nil && n.Beside != nil {
		text += "\n" + n.Beside(id)
	}
	doc.Sections = []ltm.Section{{Line: 1, Text: text}}
	return doc
}

// ArchivedText returns the text in a note of the archive folder, for showing.
func (e *Notes) ArchivedText(ctx context.Context, path string) (string, error) {
	text, err := e.Vault.Root.Load().Text(ctx, path)
	if err != nil {
		return "", err
	}
	if carried := vault.CarriedBy([]byte(text)); carried != nil {
		return carried.Body, nil
	}
	return "", errors.New("the note does not contain the ID of a memory")
}

// idAt returns the ID of a note, also of one that emberd wrote and the watcher has not reported.
func idAt(n *VaultNotes, path string) (memory.ID, bool) {
	if id, carries := n.Carriers.At(path); carries {
		return id, true
	}
	id, written := n.unread.Load(path)
	if !written {
		return "", false
	}
	return id.(memory.ID), true
}

// ArchivedAt returns the archived memory whose text is in the note of a path, nil for none. It follows a note that was
// renamed before the log has its new path.
func (e *Notes) ArchivedAt(path string) *stm.Row {
	id, carries := idAt(e.Vault, path)
	if !carries {
		return nil
	}
	row, live := e.Stm.Get(id)
	if !live || !core.Cold(row) || row.Promoted() || !e.Vault.Archive.contains(path) {
		return nil
	}
	// A search asks this for every text that matches, and reads the documents of renamed notes alone.
	if !row.MayBeAt(path) && (core.NoteOfRow(row) == "" || !e.IsNoteOf(id, path)) {
		return nil
	}
	return row
}

// TextOfArchived returns the text in the note of an archived memory, also of one that was renamed. There is an error
// if no note has it.
func (e *Notes) TextOfArchived(ctx context.Context, m *memory.Memory) (string, error) {
	if body, err := e.ArchivedText(ctx, core.NotePath(m)); err == nil && rekindle.Digest(body) == m.TextDigest {
		return core.WholeText(m, body), nil
	}
	found, err := e.LookUpText(ctx, m)
	if err == nil && found.Verdict == rekindle.Gone {
		err = fs.ErrNotExist
	}
	return core.WholeText(m, found.Body), err
}

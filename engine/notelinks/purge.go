package notelinks

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"emberd/memory"
	"emberd/vault"
)

// Purge takes the links to a purged memory, which have its first words, out of the notes of other memories, and out of
// what was kept of these notes to undo changes.
func (e *Links) Purge(ctx context.Context, id memory.ID) error {
	if e.Known == nil {
		return nil
	}
	texts := e.Known.textsOf(id)
	e.WriteLinks(ctx)
	if len(texts) == 0 {
		return nil
	}
	links := func(note []byte) bool {
		return vault.CarriedBy(note) != nil &&
			slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(note, []byte(text)) })
	}
	return errors.Join(e.NoteWrite.Erase(links),
		e.Promote.Writing.With(func(w *vault.Writer) error { return w.Erase(links) }))
}

// textsOf returns the links to a memory that are in notes.
func (k *Known) textsOf(id memory.ID) (texts []string) {
	k.passing.Lock()
	defer k.passing.Unlock()
	for _, note := range k.notes.Notes {
		for _, links := range note.Links {
			for _, l := range links {
				if l.To == id && l.By != byOther && !slices.Contains(texts, l.Text) {
					texts = append(texts, l.Text)
				}
			}
		}
	}
	return texts
}

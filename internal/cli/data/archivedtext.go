package data

import (
	"context"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// wholeNote is as much of a note as one answer has, in characters.
const wholeNote = 200_000

// archivedTexts gives archived memories the texts of their notes.
type archivedTexts struct {
	missing int // memories whose text was not found
}

// restore sets the content of an archived memory to the text of its note, and reports whether the content is the whole
// text. Without the note it is the summary.
func (a *archivedTexts) restore(ctx context.Context, s *cli.App, m *memory.Memory) bool {
	if !m.Stage.Cold() {
		return true
	}
	note, err := cli.Reach(ctx, s, op.NoteRead, &op.NoteReadRequest{Path: string(m.ID), Limit: wholeNote})
	if err != nil || note.Left > 0 || note.Beyond {
		a.missing++
		return false
	}
	carried := vault.CarriedBy([]byte(note.Text))
	if carried == nil || carried.ID != string(m.ID) {
		a.missing++
		return false
	}
	m.Content = carried.Body
	return true
}

// note reports the memories whose text was not found.
func (a *archivedTexts) note(s *cli.App) {
	if a.missing > 0 {
		s.Note("the export contains only a summary of %s, because emberd could not read the text from the vault",
			cli.Count(a.missing, "archived memory", "archived memories"))
	}
}

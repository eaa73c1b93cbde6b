package similar

import (
	"context"

	"emberd/stm"
)

// maxNotesRead is how many archived memories are compared by the texts in their notes, the most relevant ones. The
// others are compared by their summaries.
const maxNotesRead = 10

// archivedTexts reads the texts of archived memories.
type archivedTexts struct {
	e    *Similar
	left int // how many notes may still be read
}

// of returns the text of an archived memory as its note has it. It returns the summary if the note is gone or cannot
// be read, or if no more notes may be read.
func (a *archivedTexts) of(ctx context.Context, r *stm.Row) string {
	summary := r.Content()
	if a.left == 0 || a.e.Notes.Vault == nil {
		return summary
	}
	m, err := r.Memory()
	if err != nil || m.TextDigest == "" {
		return summary
	}
	a.left--
	text, err := a.e.Notes.TextOfArchived(ctx, &m)
	if err != nil {
		return summary
	}
	return text
}

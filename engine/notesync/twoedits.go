package notesync

import (
	"context"
	"slices"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/text/merge"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/neutralize"
)

// edits is the texts of a memory and of its note after both changed from one text.
type edits struct {
	other memory.OtherText // the memory's text, if it cannot be merged with the note's; Text is "" otherwise
	write bool             // the note lacks a part of the merged text
}

// joinEdits merges the text of a note, which m has by now, with the one that the memory had, was, if that
// was changed since the two last agreed. If both changed the same part, the note's text stays. A text that
// the log has no common one for is the memory's earlier text, and stays in its history. A text of the note that
// no user wrote into it changes nothing, and the note gets the memory's.
func (t *NoteSync) joinEdits(ctx context.Context, row *stm.Row, was, m *memory.Memory, note *vault.Note) (edits,
	error) {
	agreed := was.NoteSeen[core.ContentField]
	if row == nil || m.Content == was.Content || agreed == "" || core.Shortened(was) {
		return edits{}, nil
	}
	changed := !isText(was.Content, agreed)
	if changed || t.e.Promote.IsAside(ctx, was, note.Path) {
		if own, err := t.e.Promote.IsOwnText(ctx, was, note); own || err != nil {
			m.Content = was.Content
			return edits{write: own}, err
		}
	}
	if !changed {
		late, err := t.isLate(ctx, row, was, note)
		if late {
			m.Content = was.Content
		}
		return edits{write: late}, err
	}
	base, found, err := t.agreedText(ctx, was, agreed)
	if err != nil || !found {
		return edits{}, err
	}
	body := m.Content
	merged, ok := merge.Texts(base, was.Content, body)
	switch {
	case merged == body: // it has both changes
		return edits{}, nil
	case ok && memory.CheckContent(merged) == nil:
		m.Content = merged
		return edits{write: true}, nil
	}
	at := row.StampOf(core.ContentField)
	return edits{other: memory.OtherText{Text: was.Content, Rev: at.String(), At: at.Time()}}, nil
}

// isLate reports whether a note has an earlier text of its memory, and was last changed before another device gave that
// the present one: the log of that device came here before the note did.
func (t *NoteSync) isLate(ctx context.Context, row *stm.Row, was *memory.Memory, note *vault.Note) (bool, error) {
	at := row.StampOf(core.ContentField)
	if at.Dev.String() == t.self || !note.ModTime.Before(at.Time()) {
		return false, nil
	}
	texts, err := t.e.Promote.TextVersions(ctx, was)
	return slices.ContainsFunc(texts, func(text string) bool { return isBody(note.Carried.Body, text) }), err
}

// isText reports whether a text has the fingerprint of the body of a note.
func isText(text, print string) bool {
	for _, body := range []string{text, neutralize.Body(text)} {
		if notes.Fingerprints(&vault.Carried{Body: body})[core.ContentField] == print {
			return true
		}
	}
	return false
}

// isBody reports whether a note with a text of the log has this body.
func isBody(body, text string) bool { return neutralize.Matches(body, text) }

// agreedText returns the latest text of a memory that the note with a fingerprint had. It reads the log.
func (t *NoteSync) agreedText(ctx context.Context, m *memory.Memory, print string) (string, bool, error) {
	versions, err := t.e.Promote.TextVersions(ctx, m)
	i := slices.IndexFunc(versions, func(text string) bool { return isText(text, print) })
	if err != nil || i < 0 {
		return "", false, err
	}
	return versions[i], true, nil
}

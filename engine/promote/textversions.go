package promote

import (
	"context"
	"encoding/json"
	"slices"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/vault"
	"emberd/vault/neutralize"
)

// WrittenFields returns the fields of a memory that emberd writes into a note.
func WrittenFields() []string {
	fields := []string{core.ContentField}
	for _, f := range noteProperties() {
		if f.key != updatedKey {
			fields = append(fields, f.field)
		}
	}
	return fields
}

// TextVersions returns the texts that a memory has had, latest first. It reads the log.
func (e *Promote) TextVersions(ctx context.Context, m *memory.Memory) ([]string, error) {
	versions, err := e.Stm.History(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	texts := []string{m.Content}
	add := func(value json.RawMessage) {
		var text string
		if json.Unmarshal(value, &text) == nil && text != "" && texts[len(texts)-1] != text {
			texts = append(texts, text)
		}
	}
	for _, v := range slices.Backward(versions) {
		for _, f := range v.Fields {
			if f.Name == core.ContentField {
				add(f.To)
				add(f.From)
			}
		}
	}
	return texts, nil
}

// isOwnText reports whether the text of a note, which is not the one that memory and note last agreed on, is one
// that emberd wrote since: a crash came between the note and the log.
func (e *Promote) isOwnText(ctx context.Context, m *memory.Memory, note *vault.Note) (bool, error) {
	texts, err := e.TextVersions(ctx, m)
	if err != nil {
		return false, err
	}
	agreed := slices.IndexFunc(texts, func(text string) bool {
		return textPrint(text) == m.NoteSeen[core.ContentField]
	})
	if agreed < 0 { // only the current text is known to be emberd's
		agreed = 1
	}
	return slices.ContainsFunc(texts[:agreed], func(text string) bool {
		return neutralize.Matches(note.Carried.Body, text)
	}), nil
}

// textPrint returns the fingerprint of a text as that of a note.
func textPrint(text string) string {
	return notes.Fingerprints(&vault.Carried{Body: neutralize.Body(text)})[core.ContentField]
}

package promote

import (
	"context"
	"encoding/json"
	"slices"

	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/neutralize"
	"emberd/vault/notename"
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

// IsOwnText reports whether the text of a note, which is not the one that memory and note last agreed on, is one
// that the log has and that did not lead to the agreed one: the user has not written it into this note. Emberd wrote
// it before a crash, or it is the note of another device, whose text the memory has joined.
func (e *Promote) IsOwnText(ctx context.Context, m *memory.Memory, note *vault.Note) (bool, error) {
	texts, err := e.TextVersions(ctx, m)
	if err != nil {
		return false, err
	}
	is := func(text string) bool { return neutralize.Matches(note.Carried.Body, text) }
	isAgreed := func(text string) bool { return textPrint(text) == m.NoteSeen[core.ContentField] }
	agreed := slices.IndexFunc(texts, isAgreed)
	if agreed < 0 { // only the current text is known to be emberd's
		agreed = 1
	}
	if slices.ContainsFunc(texts[:agreed], is) {
		return true, nil
	}
	switch {
	case !slices.ContainsFunc(texts, is):
		return false, nil
	case e.IsAside(ctx, m, note.Path):
		return true, nil
	}
	edits, err := e.Stm.TextEdits(ctx, []memory.ID{m.ID})
	return err == nil && stm.NotBehind(edits[m.ID], is, isAgreed), err
}

// IsAside reports whether a sync tool's copy of a note has the text of its memory.
func (e *Promote) IsAside(ctx context.Context, m *memory.Memory, path string) bool {
	return slices.ContainsFunc(e.Notes.Vault.Carriers.Of(m.ID), func(other string) bool {
		if _, certain := notename.CopyOf(other, path); !certain {
			return false
		}
		copied, err := e.Notes.Vault.Root.Load().Read(ctx, other)
		return err == nil && core.CarriesID(copied.Carried, m.ID) && notes.HasText(copied, m)
	})
}

// textPrint returns the fingerprint of a text as that of a note.
func textPrint(text string) string {
	return notes.Fingerprints(&vault.Carried{Body: neutralize.Body(text)})[core.ContentField]
}

// IsOwnAliases reports whether a note's aliases are those of a note that emberd makes when the memory has one of the
// texts.
func IsOwnAliases(m *memory.Memory, aliases, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		was := *m
		was.Content = text
		return slices.Equal(aliases, graph.AliasesOf(&was))
	})
}

package promote

import (
	"context"
	"encoding/json"
	"slices"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/vault"
)

// earlierNote returns the note that another device made of an earlier version of a memory, with the
// fingerprints of its fields, or nil: the note arrived before the log did. Each of its fields has a value
// that the log has or had, so adopting it adds nothing to the memory, and note sync brings the note up to date.
func (e *Promote) earlierNote(ctx context.Context, m *memory.Memory) (*vault.Note, map[string]string, error) {
	paths := slices.Concat(e.Notes.Vault.Carriers.Of(m.ID), e.NoteNames(m))
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			continue
		}
		note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
		if err != nil || !Carries(note, m.ID) {
			continue // Place reports what is in the way
		}
		seen, err := e.EarlierFields(ctx, m, note.Carried)
		if err != nil {
			return nil, nil, err
		}
		missing := func(field string) bool { return seen[field] == "" }
		if !slices.ContainsFunc(notes.NoteFields(), missing) {
			return note, seen, nil
		}
	}
	return nil, nil, nil
}

// EarlierFields returns the fingerprints of the fields of a note that have a value that the memory has or had.
func (e *Promote) EarlierFields(ctx context.Context, m *memory.Memory, c *vault.Carried) (map[string]string, error) {
	seen := notes.Agreed(m, c)
	versions, err := e.Stm.History(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		for _, field := range version.Fields {
			for _, value := range []json.RawMessage{field.From, field.To} {
				past, err := withField(m, field.Name, value)
				if err != nil {
					return nil, err
				}
				if print, ok := notes.Agreed(past, c)[field.Name]; ok {
					seen[field.Name] = print
				}
			}
		}
	}
	return seen, nil
}

// withField returns a copy of a memory with another value of a field that a note decides, nil for none.
func withField(m *memory.Memory, name string, value json.RawMessage) (*memory.Memory, error) {
	past := *m
	switch name {
	case core.ContentField:
		past.Content = ""
	case "tags":
		past.Tags = nil
	case "category":
		past.Category = ""
	default:
		return &past, nil
	}
	if value == nil {
		return &past, nil
	}
	raw, err := core.Encode(map[string]json.RawMessage{name: value})
	if err != nil {
		return nil, err
	}
	return &past, json.Unmarshal(raw, &past)
}

package notesync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/vault"
)

// refusal is why a field of a note is not applied.
type refusal struct{ field, why string }

// applyFields applies the fields of a note that changed since the last sync, and returns those
// that it cannot apply. So a field that changed only in the memory stays. A memory that was
// never synced keeps the fields that the note does not have, and those that wait to be written
// to the note. The text of a cold memory is in the note already.
func (e *Sync) applyFields(ctx context.Context, m *memory.Memory, note *vault.Note) []refusal {
	var refused []refusal
	taken := notes.TakenOf(m)
	says, waiting := notes.Fingerprints(note.Carried), e.Promote.Pending.Fields(m.ID)
	seen := maps.Clone(m.NoteSeen)
	if seen == nil {
		seen = make(map[string]string)
	}
	for _, field := range taken {
		before, settled := seen[field]
		if before == says[field] || !settled && slices.Contains(waiting, field) {
			continue
		}
		if err := e.applyField(ctx, m, note, field, settled); err != nil {
			refused = append(refused, refusal{field, err.Error()})
			continue
		}
		seen[field] = says[field]
	}
	if !core.Shortened(m) && !slices.Contains(taken, core.ContentField) { // its stage restored the text
		seen[core.ContentField] = says[core.ContentField]
	}
	if len(seen) > 0 {
		m.NoteSeen = seen
	}
	return refused
}

// applyField applies one field. settled is true if the note had a value before, so that a
// missing one means its removal.
func (e *Sync) applyField(ctx context.Context, m *memory.Memory, note *vault.Note, field string, settled bool) error {
	text, is := note.Carried.Fields[field]
	switch field {
	case core.ContentField:
		return e.Notes.TakeContent(m, note)
	case "tags":
		return e.applyTags(m, note.Carried.Tags, settled)
	case "category":
		return e.applyCategory(m, text, is || settled)
	case "strength":
		return applyStrength(m, text)
	default:
		return e.applyStage(ctx, m, note)
	}
}

func (e *Sync) applyTags(m *memory.Memory, written []string, settled bool) error {
	if len(written) == 0 && !settled {
		return nil
	}
	tags, err := memory.NormalizeTags(written)
	if err != nil {
		return fmt.Errorf("emberd does not sync the tags of the note: %w", err)
	}
	if core.SecretIn(e.Opt.DetectSecrets, strings.Join(written, "\n"), "") {
		return errors.New("the tags of the note contain text that looks like a credential, so " +
			"emberd does not sync the tags; remove the credential from the note")
	}
	m.Tags = tags
	return nil
}

func (e *Sync) applyCategory(m *memory.Memory, text string, says bool) error {
	if !says {
		return nil
	}
	text = strings.TrimSpace(text)
	if err := memory.CheckText("category", text, memory.MaxName); err != nil {
		return fmt.Errorf("emberd does not sync the category of the note: %w", err)
	}
	if core.SecretIn(e.Opt.DetectSecrets, text, m.Category) {
		return errors.New("the category of the note contains text that looks like a credential, so " +
			"emberd does not sync the category; remove the credential from the note")
	}
	m.Category = text
	return nil
}

func applyStrength(m *memory.Memory, text string) error {
	if text == "" {
		return nil
	}
	strength, err := strconv.ParseFloat(text, 64)
	if err == nil {
		err = memory.CheckRange("strength", strength, 0, 2)
	}
	if err != nil {
		return fmt.Errorf("invalid strength %.20q in the note; use a number from 0 to 2", text)
	}
	m.Strength, m.StrengthFound = strength, false
	return nil
}

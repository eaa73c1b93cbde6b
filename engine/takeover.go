package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

const (
	// wholeNote is how much of a note package vault looks at, in bytes.
	wholeNote = 1 << 20
	// longestBody bounds a text as it is written to the log, where it stands beside
	// the one that it takes the place of.
	longestBody = stm.MaxLine/2 - 128<<10
)

// noteFields are the fields that a note decides.
func noteFields() []string { return []string{contentField, "tags", "category", "strength", "stage"} }

// takenOf are those of them that are taken over into a memory.
func takenOf(m *memory.Memory) []string {
	if !shortened(m) {
		return noteFields()
	}
	return slices.DeleteFunc(noteFields(), func(field string) bool { return field == contentField })
}

// refusal is why a field of a note is not taken over.
type refusal struct{ field, why string }

// takeOver gives a memory what its note says now and did not say when it was settled
// last, and returns what of that cannot be had. What was changed elsewhere since, and
// not in the note, so stays. A memory that was never settled keeps what the note does
// not mention. The text of a cold memory is its note's already.
func (e *Engine) takeOver(ctx context.Context, m *memory.Memory, note *vault.Note) []refusal {
	var refused []refusal
	taken := takenOf(m)
	says, waiting := fingerprints(note.Carried), e.pending.fields(m.ID)
	seen := maps.Clone(m.NoteSeen)
	if seen == nil {
		seen = make(map[string]string)
	}
	for _, field := range taken {
		before, settled := seen[field]
		if before == says[field] || slices.Contains(waiting, field) {
			continue
		}
		if err := e.takeField(ctx, m, note, field, settled); err != nil {
			refused = append(refused, refusal{field, err.Error()})
			continue
		}
		seen[field] = says[field]
	}
	if !shortened(m) && !slices.Contains(taken, contentField) { // its stage brought the text back
		seen[contentField] = says[contentField]
	}
	if len(seen) > 0 {
		m.NoteSeen = seen
	}
	return refused
}

// takeField takes one field over. settled says that the note had a say in it before, so
// that its silence means something.
func (e *Engine) takeField(ctx context.Context, m *memory.Memory, note *vault.Note, field string, settled bool) error {
	text, is := note.Carried.Fields[field]
	switch field {
	case contentField:
		return e.takeContent(m, note)
	case "tags":
		return e.takeTags(m, note.Carried.Tags, settled)
	case "category":
		return e.takeCategory(m, text, is || settled)
	case "strength":
		return takeStrength(m, text)
	default:
		return e.takeStage(ctx, m, note)
	}
}

func (e *Engine) takeContent(m *memory.Memory, note *vault.Note) error {
	if says(note, m) {
		return nil
	}
	err := e.takeable(note, m.Content)
	if err == nil {
		m.Content = note.Carried.Body
	}
	return err
}

// takeable is why the text of a note cannot be that of its memory, which has another
// one before.
func (e *Engine) takeable(note *vault.Note, before string) error {
	body := note.Carried.Body
	switch {
	case body == "":
		return errors.New("the note has no text, so its memory keeps what it had; write the text again, or delete the note")
	case note.Size > wholeNote:
		return fmt.Errorf("the note has %d bytes, more than %d, so its memory keeps the text it had; split the note", note.Size, wholeNote)
	case merging(body) && !merging(before):
		return errors.New("the note holds the marks of a merge that is not finished, so its memory keeps the text it had; resolve them")
	case secretIn(e.opt.DetectSecrets, body, before):
		return errors.New("the text holds what looks like a credential, so the memory keeps the text it had; take the credential out of the note")
	}
	line, err := encode(body)
	if err == nil && len(line) > longestBody {
		err = fmt.Errorf("the text takes %d bytes in the log, more than %d, so the memory keeps the text it had; split the note", len(line), longestBody)
	}
	return err
}

// merging reports whether a text is one that git could not merge.
func merging(text string) bool {
	text = "\n" + text
	return strings.Contains(text, "\n<<<<<<< ") && strings.Contains(text, "\n>>>>>>> ")
}

// secretIn reports whether a text holds a credential that the one before did not: that
// one was allowed.
func secretIn(detect bool, text, before string) bool {
	if !detect {
		return false
	}
	found := credentialsIn(text)
	if len(found) == 0 {
		return false
	}
	let := credentialsIn(before)
	return slices.ContainsFunc(found, func(f string) bool { return !isLet(let, f) })
}

func (e *Engine) takeTags(m *memory.Memory, written []string, settled bool) error {
	if len(written) == 0 && !settled {
		return nil
	}
	tags, err := memory.NormalizeTags(written)
	if err != nil {
		return fmt.Errorf("its tags are not taken over: %w", err)
	}
	if secretIn(e.opt.DetectSecrets, strings.Join(written, "\n"), "") {
		return errors.New("its tags hold what looks like a credential and are not taken over; take it out of the note")
	}
	m.Tags = tags
	return nil
}

func (e *Engine) takeCategory(m *memory.Memory, text string, says bool) error {
	if !says {
		return nil
	}
	text = strings.TrimSpace(text)
	if err := memory.CheckText("category", text, memory.MaxName); err != nil {
		return fmt.Errorf("its category is not taken over: %w", err)
	}
	if secretIn(e.opt.DetectSecrets, text, m.Category) {
		return errors.New("its category holds what looks like a credential and is not taken over; take it out of the note")
	}
	m.Category = text
	return nil
}

func takeStrength(m *memory.Memory, text string) error {
	if text == "" {
		return nil
	}
	strength, err := strconv.ParseFloat(text, 64)
	if err == nil {
		err = memory.CheckRange("strength", strength, 0, 2)
	}
	if err != nil {
		return fmt.Errorf("its strength %.20q is not taken over; make it a number from 0 to 2", text)
	}
	m.Strength, m.StrengthFound = strength, false
	return nil
}

// tooLong says of a text that came from a note that no memory may be saved with it.
func tooLong(text string) string {
	n := utf8.RuneCountInString(text)
	if n <= memory.MaxContent && len(text) <= memory.MaxContentBytes {
		return ""
	}
	return fmt.Sprintf("its text has %d characters, more than the %d that a memory is meant to hold; it is kept whole, and better split", n, memory.MaxContent)
}

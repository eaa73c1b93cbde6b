package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/vault"
	"emberd/vault/neutralize"
)

// NoteFields returns the fields that a note decides.
func NoteFields() []string {
	return []string{core.ContentField, "tags", "category", "strength", "stage"}
}

// TakenOf returns the fields of a note that are applied to the memory.
func TakenOf(m *memory.Memory) []string {
	if !core.Shortened(m) {
		return NoteFields()
	}
	return slices.DeleteFunc(NoteFields(), func(field string) bool { return field == core.ContentField })
}

// TakeContent sets the text of a memory to that of its note, or returns why it cannot.
func (e *Notes) TakeContent(m *memory.Memory, note *vault.Note) error {
	if HasText(note, m) {
		return nil
	}
	err := e.CheckContent(note, m.Content)
	if err == nil {
		m.Content = neutralize.Restored(note.Carried.Body, m.Content)
	}
	return err
}

// CheckContent returns an error if the text of a note cannot become that of its memory, whose text
// was before.
func (e *Notes) CheckContent(note *vault.Note, before string) error {
	body := note.Carried.Body
	switch {
	case body == "":
		return errors.New(
			"the note has no text, so the memory keeps its earlier text; write the text again, or delete the note")
	case note.Size > core.WholeNote:
		return fmt.Errorf(
			"too many bytes in the note: %d (limit %d), so the memory keeps its earlier text; split the note",
			note.Size, core.WholeNote)
	case merging(body) && !merging(before):
		return errors.New(
			"the note contains merge conflict markers, so the memory keeps its earlier text; resolve the conflict")
	case core.SecretIn(e.Opt.DetectSecrets, body, before):
		return errors.New("the note contains text that looks like a credential, so the " +
			"memory keeps its earlier text; remove the credential from the note")
	}
	line, err := core.Encode(body)
	if err == nil && len(line) > core.MaxBodyLen {
		err = fmt.Errorf("too many bytes in the log record of the text: %d (limit "+
			"%d), so the memory keeps its earlier text; split the note", len(line), core.MaxBodyLen)
	}
	return err
}

// merging reports whether a text has conflict markers of git.
func merging(text string) bool {
	text = "\n" + text
	return strings.Contains(text, "\n<<<<<<< ") && strings.Contains(text, "\n>>>>>>> ")
}

// HasText reports whether a note contains the text of a memory.
func HasText(note *vault.Note, m *memory.Memory) bool {
	return neutralize.Matches(note.Carried.Body, m.Content)
}

// Absent reports whether the vault has no file at path.
func Absent(v *vault.Vault, path string) bool {
	_, err := v.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Without removes a path from paths, in place.
func Without(paths []string, path string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return p == path })
}

// NoteAway is why a write to a note waits.
const NoteAway vault.Reason = "the note is not at its path; it might have a new name, or the " +
	"sync tool has not copied it yet"

// Fingerprints returns, for each field that a note decides, the first 16 hex digits of the
// SHA-256 of its text in the note.
func Fingerprints(c *vault.Carried) map[string]string {
	says := map[string]string{core.ContentField: c.Body, "tags": strings.Join(c.Tags, "\n")}
	for _, field := range []string{"category", "strength", "stage"} {
		says[field] = "-"
		if value, ok := c.Fields[field]; ok {
			says[field] = "=" + value
		}
	}
	for field, text := range says {
		sum := sha256.Sum256([]byte(text))
		says[field] = hex.EncodeToString(sum[:8])
	}
	return says
}

package notesync

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/vault"
	"emberd/vault/noteedit"
)

// differsIn returns in what copy and note differ other than their texts, empty lines, and the properties that emberd
// writes, "" for nothing. What a human did to another part of the copy, or to those properties, is for the human to
// merge. texts are those that the memory has had.
func (c *copyRun) differsIn(ctx context.Context, m *memory.Memory, texts []string, copied, like []byte) (string,
	error) {
	says := notes.Fingerprints(c.copy.Carried)
	had, err := c.t.e.Promote.EarlierFields(ctx, m, c.copy.Carried)
	if err != nil {
		return "", err
	}
	for _, field := range notes.Without(notes.NoteFields(), core.ContentField) {
		if says[field] != m.NoteSeen[field] && had[field] == "" {
			return fmt.Sprintf("the property %q of this note has a value that the memory never had", field), nil
		}
	}
	one, ok := exceptText(m, copied, c.copy, texts)
	other, also := exceptText(m, like, c.like, texts)
	if !ok || !also {
		return "emberd cannot compare the properties of this note with the properties of the memory's note", nil
	}
	return differentPart(one, other), nil
}

// exceptText returns the lines of a note with the memory's text and without the properties that emberd writes, wherever
// they stand, and without the empty lines. Aliases that emberd gave the note for one of the memory's texts are left
// out, too: a note made for another text has others.
func exceptText(m *memory.Memory, note []byte, of *vault.Note, texts []string) ([][]byte, bool) {
	body := of.Carried.Body
	edit := promote.NoteEdit(m, promote.WrittenFields(), body)
	edit.Body = &noteedit.BodyEdit{Was: body, Now: m.Content}
	links := promote.LinkKeys()
	for _, f := range edit.Set {
		edit.Unset = append(edit.Unset, f.Key)
	}
	edit.Set = nil
	isLink := func(key string) bool { return slices.Contains(links, key) }
	edit.Unset = append(slices.DeleteFunc(edit.Unset, isLink), links...) // those of a note in the archive are there
	if promote.IsOwnAliases(m, of.Aliases, texts) {
		edit.Unset = append(edit.Unset, "aliases")
	}
	out, err := noteedit.Splice(note, edit)
	return slices.DeleteFunc(bytes.Split(out, []byte("\n")),
		func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }), err == nil
}

// differentPart says in which part the lines of two notes differ, "" for none.
func differentPart(one, other [][]byte) string {
	at := 0
	for at < min(len(one), len(other)) && bytes.Equal(one[at], other[at]) {
		at++
	}
	if at == len(one) && at == len(other) {
		return ""
	}
	for _, lines := range [][][]byte{one, other} {
		if key := propertyAt(lines, at); key != "" {
			return fmt.Sprintf("the property %.60q differs between this note and the note of the memory", key)
		}
	}
	return "this note differs from the note of the memory outside of the text"
}

// propertyAt returns the key of the property that a line of a note is in, "" for none.
func propertyAt(lines [][]byte, at int) string {
	fence := func(line []byte) bool { return string(bytes.TrimSpace(line)) == "---" }
	if at >= len(lines) || slices.ContainsFunc(lines[min(1, at):at+1], fence) {
		return ""
	}
	for ; at > 0; at-- {
		key, _, is := bytes.Cut(lines[at], []byte(":"))
		if is && len(bytes.TrimLeft(key, " \t-")) == len(key) {
			return strings.Trim(string(key), `"'`)
		}
	}
	return ""
}

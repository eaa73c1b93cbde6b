package promote_test

import (
	"slices"
	"strings"
	"testing"

	"emberd/engine/promote"
	"emberd/memory"
	"emberd/vault"
	"emberd/vault/neutralize"
)

// An exported note is read as one of its memory, links and all.
func TestAnExportedNoteIsOfItsMemory(t *testing.T) {
	t.Parallel()
	m := memory.Memory{ID: memory.DeriveID([]byte("x")), Content: "# A plan\n\n<% tp.file %> and `= this`",
		Tags: []string{"a/b"}, Strength: 1, Aliases: []string{"42"}}
	data := promote.Note(&m, []promote.NoteLink{{Type: memory.Related, Kind: "stands beside", To: "The kettle.md"},
		{Type: memory.Causes, To: "The lid.md"},
		{Type: memory.Causes, Kind: "a|b", To: "The pot.md"}, {Type: memory.Causes, To: "a#b.md"}})
	carried := vault.CarriedBy(data)
	if carried == nil || carried.ID != string(m.ID) || !neutralize.Matches(carried.Body, m.Content) ||
		!slices.Equal(carried.Tags, m.Tags) {
		t.Errorf("the note %s says %+v", data, carried)
	}
	for _, want := range []string{"related:\n  - \"[[The kettle|stands beside: The kettle]]\"\n",
		"causes:\n  - \"[[The lid|The lid]]\"\n  - \"[[The pot|The pot]]\"\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s has no %q", data, want)
		}
	}
	if strings.Contains(string(data), "42") || strings.Contains(string(data), "a#b") {
		t.Errorf("%s has what links cannot name", data)
	}
}

func TestSourcesOfANote(t *testing.T) {
	t.Parallel()
	m := memory.Memory{ID: "01a1fd06-c976-7000-8000-000000000000", Content: "x", Sources: []memory.Source{
		{Kind: "web", Ref: "https://example.org/a"}, {Kind: "mail", Ref: "Ann's  of\nMay"}, {Kind: "talk"},
		{Ref: "page 7"}, {Kind: "talk"}}}
	want := "sources:\n  - \"https://example.org/a\"\n  - \"mail: Ann's of May\"\n  - \"page 7\"\n"
	if got := string(promote.NoteBytes(&m)); !strings.Contains(got, want) {
		t.Errorf("the note is\n%s\nwant\n%s", got, want)
	}
	if c := vault.CarriedBy(promote.NoteBytes(&m, "[[a|b]]")); c == nil || c.Body != "x" {
		t.Errorf("it is read as %+v", c)
	}
}

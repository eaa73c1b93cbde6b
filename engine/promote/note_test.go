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
		Tags: []string{"a/b"}, Strength: 1, Aliases: []string{"42"}, Entities: []string{"Ada Lovelace", "a|b"}}
	data := promote.Note(&m, []promote.NoteLink{{Type: memory.Related, Kind: "stands beside", To: "The kettle.md"},
		{Type: memory.Causes, To: "The lid.md"},
		{Type: memory.Causes, Kind: "a|b", To: "The pot.md"}, {Type: memory.Causes, To: "a#b.md"}})
	carried := vault.CarriedBy(data)
	if carried == nil || carried.ID != string(m.ID) || !neutralize.Matches(carried.Body, m.Content) ||
		!slices.Equal(carried.Tags, m.Tags) {
		t.Errorf("the note %s says %+v", data, carried)
	}
	for _, want := range []string{"entities:\n  - \"[[Ada Lovelace]]\"\n  - \"a|b\"\n", "related:\n  - \"[[The kettle|stands beside: The kettle]]\"\n",
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
	if c := vault.CarriedBy(promote.NoteBytes(&m)); c == nil || c.Body != "x" {
		t.Errorf("it is read as %+v", c)
	}
}

// A note is the one that a promotion makes whatever links are in it, also one that an earlier version made.
func TestANoteIsMadeWhateverItsLinksAre(t *testing.T) {
	t.Parallel()
	m := memory.Memory{ID: "01a1fd06-c976-7000-8000-000000000000", Content: "The broker is RabbitMQ", Strength: 1,
		Entities: []string{"RabbitMQ"}, Project: "queue", Origin: memory.FromAgent}
	made := string(promote.NoteBytes(&m))
	for _, want := range []string{"project: \"queue\"\n", "origin: \"agent\"\n", "entities:\n  - \"RabbitMQ\"\n"} {
		if !strings.Contains(made, want) {
			t.Errorf("%s has no %q", made, want)
		}
	}
	head, body, _ := strings.Cut(made, "project:")
	_, body, _ = strings.Cut(body, "---\n")
	earlier := head + "entities:\n  - \"[[rabbitmq]]\"\nrelated:\n  - \"[[Memories/x|x]]\"\n---\n" + body
	for note, want := range map[string]bool{made: true, earlier: true, made + "more\n": false,
		strings.Replace(made, "created:", "mine: 1\ncreated:", 1): false, "no note": false} {
		if promote.IsMade(&m, []byte(note)) != want {
			t.Errorf("made is not %v for\n%s", want, note)
		}
	}
}

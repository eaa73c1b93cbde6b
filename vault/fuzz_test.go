package vault_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"emberd/vault"
	"emberd/vault/markdown"
)

// checkNote holds of every note, whatever its bytes.
func checkNote(t *testing.T, n *vault.Note, size int) {
	t.Helper()
	end := 0
	for i, s := range n.Sections {
		if s.Start < end || s.End < s.Start || s.End > size {
			t.Fatalf("section %d is bytes %d to %d of %d, after %d", i, s.Start, s.End, size, end)
		}
		if s.Line < 1 || s.Level < 0 || s.Level > 6 || len(s.Path) > 6 || s.Level == 0 && i > 0 {
			t.Fatalf("section %d: %d %d %q", i, s.Line, s.Level, s.Path)
		}
		if strings.ContainsFunc(s.Text, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Fatalf("section %d holds control characters: %q", i, s.Text)
		}
		end = s.End
	}
	for _, tag := range n.Tags {
		if !markdown.ValidTag(tag.Name) || tag.Key == "" {
			t.Fatalf("tag %q, key %q", tag.Name, tag.Key)
		}
	}
	for _, l := range n.Links {
		if l.Line < 1 || l.Target+l.Heading+l.Block == "" {
			t.Fatalf("link %+v", l)
		}
	}
	if data, err := json.Marshal(n); err != nil || !utf8.Valid(data) {
		t.Fatalf("JSON: %v", err)
	}
}

func FuzzNote(f *testing.F) {
	read := markdown.NewParser().Read
	f.Fuzz(func(t *testing.T, data []byte) {
		file := vault.File{Path: "n.md", Size: int64(len(data))}
		n := vault.Parse(read, file, data)
		for _, p := range n.Problems {
			if strings.Contains(p.Text, "that the Markdown parser cannot read") {
				t.Error("the parser panicked")
			}
		}
		checkNote(t, n, len(data))
		checkNote(t, vault.Parse(markdown.ReadLines, file, data), len(data))
	})
}

func FuzzFrontmatter(f *testing.F) {
	f.Fuzz(func(t *testing.T, block []byte) {
		text := "---\n" + string(block) + "\n---\nbody\n"
		n := noteOf(text)
		if n.Frontmatter == vault.NoFrontmatter {
			t.Fatal("a block between two lines of dashes is no frontmatter")
		}
		if n.Frontmatter == vault.InvalidFrontmatter && (len(n.Properties) > 0 || len(n.Problems) == 0) {
			t.Fatalf("invalid frontmatter gives %d properties and %d problems", len(n.Properties), len(n.Problems))
		}
		checkNote(t, n, len(text))
	})
}

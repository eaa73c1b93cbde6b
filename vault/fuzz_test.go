package vault

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkNote holds of every note, whatever its bytes.
func checkNote(t *testing.T, n *Note, size int) {
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
		if !validTag(tag.Name) || tag.Key == "" {
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
	read := newMarkdown().read
	f.Fuzz(func(t *testing.T, data []byte) {
		file := File{Path: "n.md", Size: int64(len(data))}
		n := parse(read, file, data)
		if n.LineByLine && surveyedExcess(data) == "" {
			t.Error("the parser panicked")
		}
		checkNote(t, n, len(data))
		checkNote(t, parse(readLines, file, data), len(data))
	})
}

// surveyedExcess says why the line reader was chosen by count.
func surveyedExcess(data []byte) string {
	src, _ := normalize([]byte(strings.TrimPrefix(string(data), byteOrderMark)))
	if _, body, ok := findFrontmatter(src); ok {
		blank(src[:body])
	}
	maskComments(src)
	s := surveyOf(src)
	return s.excess()
}

func FuzzFrontmatter(f *testing.F) {
	f.Fuzz(func(t *testing.T, block []byte) {
		text := "---\n" + string(block) + "\n---\nbody\n"
		n := noteOf(text)
		if n.Frontmatter == NoFrontmatter {
			t.Fatal("a block between two lines of dashes is no frontmatter")
		}
		if n.Frontmatter == InvalidFrontmatter && (len(n.Properties) > 0 || len(n.Problems) == 0) {
			t.Fatalf("invalid frontmatter gives %d properties and %d problems", len(n.Properties), len(n.Problems))
		}
		checkNote(t, n, len(text))
	})
}

func FuzzLinks(f *testing.F) {
	f.Fuzz(func(t *testing.T, path, alias, from, target string) {
		l := NewLinks()
		l.Add(path, []string{alias}, []string{target})
		l.Add(from, nil, []string{target})
		found, ok := l.Resolve(from, target)
		if ok && found != path && found != from {
			t.Fatalf("%q in %q leads to %q, which is no note", target, from, found)
		}
		if target != "" && ok {
			linked := false
			for _, source := range l.Backlinks(found) {
				linked = linked || source == from
			}
			if !linked && strings.TrimSpace(target) != "" {
				t.Fatalf("%q in %q leads to %q, which is not linked from there", target, from, found)
			}
		}
		l.Remove(path)
		l.Remove(from)
		if l.Len() != 0 || len(l.suffix) != 0 || len(l.folded) != 0 || len(l.aliases) != 0 || len(l.targets) != 0 {
			t.Fatal("something is left when all notes are removed")
		}
	})
}

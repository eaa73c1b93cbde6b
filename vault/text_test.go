package vault_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/vault"
	"emberd/vault/lex"
)

// marked is a note with what Markdown, HTML and Obsidian put around words.
const marked = `---
tags: [plants]
---
Before **any** heading, <b>bold</b>.

# Garden

Water *deeply*, see [[Soil|the soil]] and [a page](https://example.org/x).
%%nobody reads this%%

- [x] done ` + "`code`" + `
- a list &amp; more

> [!note] Callout
> quoted words

## Code

` + "```go\nx := 1\n\ny := 2\n```" + `

<div class="box">inside a box</div>

After it.

Setext
------

The end.
`

func TestExcerptsAreTheTextOfTheirSections(t *testing.T) {
	for name, text := range map[string]string{
		"LF":              marked,
		"CRLF":            strings.ReplaceAll(marked, "\n", "\r\n"),
		"CR":              strings.ReplaceAll(marked, "\n", "\r"),
		"byte order mark": lex.ByteOrderMark + marked,
		"one line":        "alone",
	} {
		v := openVault(t, folder(t, files{"n.md": text}), nil)
		note, err := v.Read(t.Context(), "n.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range note.Sections {
			rest := s.Text
			for above := range strings.Count(s.Text, "\n") + 1 {
				if got, err := v.Excerpt(note.File, s.Line, above, len(text)); got != rest || err != nil {
					t.Errorf("%s, section in line %d below %d lines: got %q, %v; want %q", name, s.Line, above, got, err, rest)
				}
				_, rest, _ = strings.Cut(rest, "\n")
			}
			if got, _ := v.Excerpt(note.File, s.Line, 1000, len(text)); got != s.Text {
				t.Errorf("%s: below more lines than the section in line %d has: %q, want %q", name, s.Line, got, s.Text)
			}
		}
	}
}

func TestExcerptsAreOfOneState(t *testing.T) {
	dir := folder(t, files{"n.md": "# One\n\nfirst\n", "folder/n.md": "# One\n\nfirst\n"})
	v, name := openVault(t, dir, nil), filepath.Join(dir, "n.md")
	file, err := v.Stat("n.md")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := v.Excerpt(file, 1, 0, 100); got != "first" || err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	text := []byte("# Two\n\nother\n") // as long
	for what, change := range map[string]func() error{
		"written":  func() error { return os.WriteFile(name, text, 0o600) },
		"replaced": func() error { return errors.Join(os.WriteFile(name+"~", text, 0o600), os.Rename(name+"~", name)) },
		"pretended": func() error {
			return errors.Join(os.WriteFile(name, text, 0o600), os.Chtimes(name, file.ModTime, file.ModTime))
		},
		"a folder": func() error { return errors.Join(os.Remove(name), os.Mkdir(name, 0o700)) },
		"a pipe":   func() error { return errors.Join(os.RemoveAll(name), syscall.Mkfifo(name, 0o600)) },
		"a link":   func() error { return errors.Join(os.RemoveAll(name), os.Symlink("folder/n.md", name)) },
	} {
		if err := errors.Join(os.RemoveAll(name), os.WriteFile(name, []byte("# One\n\nfirst\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if file, err = v.Stat("n.md"); err != nil {
			t.Fatal(err)
		}
		for now := file; err == nil && now == file; now, err = v.Stat("n.md") { // a clock of the file system may be coarse
			if err := change(); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := v.Excerpt(file, 1, 0, 100); got != "" || !errors.Is(err, vault.ErrChanged) {
			t.Errorf("%s: got %q, %v; want %v", what, got, err, vault.ErrChanged)
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Excerpt(file, 1, 0, 100); got != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: got %q, %v", got, err)
	}
}

// What is asked for may be of another state of the note than what is there.
func TestExcerptsOfAnythingAreBounded(t *testing.T) {
	dir := folder(t, nil)
	v := openVault(t, dir, nil)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Just(marked), rapid.StringMatching(`([#>\-*%<]{0,3} ?[a-zé]*\r?\n){0,40}`)).Draw(t, "text")
		if err := os.WriteFile(filepath.Join(dir, "n.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		most := rapid.IntRange(0, 200).Draw(t, "most")
		file, err := v.Stat("n.md")
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Excerpt(file, rapid.IntRange(1, 100).Draw(t, "line"), rapid.IntRange(0, 100).Draw(t, "above"), most)
		if err != nil || len(got) > most || !utf8.ValidString(got) {
			t.Errorf("got %q, %v; want at most %d bytes", got, err, most)
		}
	})
}

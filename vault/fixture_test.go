package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/vault"
	"emberd/vault/markdown"
)

// files is a folder in words: content by path.
type files map[string]string

// folder writes the files and returns where.
func folder(t *testing.T, all files) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range all {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openVault(t *testing.T, dir string, opt *vault.Options) *vault.Vault {
	t.Helper()
	v, err := vault.Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// noteOf parses a text under the name n.md.
func noteOf(text string) *vault.Note {
	return vault.Parse(markdown.NewParser().Read, vault.File{Path: "n.md", Size: int64(len(text))}, []byte(text))
}

// lineNoteOf parses it with the line reader.
func lineNoteOf(text string) *vault.Note {
	return vault.Parse(markdown.ReadLines, vault.File{Path: "n.md", Size: int64(len(text))}, []byte(text))
}

// shown is the text of all sections.
func shown(n *vault.Note) string {
	var all []string
	for _, s := range n.Sections {
		if s.Heading != "" {
			all = append(all, s.Heading)
		}
		if s.Text != "" {
			all = append(all, s.Text)
		}
	}
	return strings.Join(all, "\n")
}

func tagNames(n *vault.Note) string {
	return strings.Join(names(n.Tags, func(t markdown.Tag) string { return t.Name }), " ")
}

// linkForms writes links as wikilinks are written, an embed with its "!".
func linkForms(n *vault.Note) string {
	return strings.Join(names(n.Links, func(l markdown.Link) string {
		form := l.Target
		if l.Heading != "" {
			form += "#" + l.Heading
		}
		if l.Block != "" {
			form += "^" + l.Block
		}
		if l.Text != "" {
			form += "|" + l.Text
		}
		if l.Embed {
			form = "!" + form
		}
		return form
	}), " ")
}

func blockIDs(n *vault.Note) string {
	return strings.Join(names(n.Blocks, func(b markdown.Block) string { return b.ID }), " ")
}

func same(t *testing.T, path, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %s %q, want %q", path, what, got, want)
	}
}

func names[T any](all []T, name func(T) string) []string {
	out := []string{}
	for _, x := range all {
		out = append(out, name(x))
	}
	return out
}

// distinct sorts, and leaves out doubles and "".
func distinct(all []string) []string {
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}

// agree compares headings, tags, links and block ids of the two readers.
func agree(t *testing.T, path string, data []byte) bool {
	t.Helper()
	file := vault.File{Path: path, Size: int64(len(data))}
	parsed := found(vault.Parse(markdown.NewParser().Read, file, data))
	lines := found(vault.Parse(markdown.ReadLines, file, data))
	if slices.Equal(parsed, lines) {
		return true
	}
	for _, s := range parsed {
		if !slices.Contains(lines, s) {
			t.Errorf("%s: only the parser finds %s", path, s)
		}
	}
	for _, s := range lines {
		if !slices.Contains(parsed, s) {
			t.Errorf("%s: only the line reader finds %s", path, s)
		}
	}
	return false
}

func found(n *vault.Note) []string {
	var all []string
	for _, s := range n.Sections {
		if s.Level > 0 {
			all = append(all, fmt.Sprintf("heading %d %d %q", s.Line, s.Level, s.Heading))
		}
	}
	for _, tag := range n.Tags {
		all = append(all, "tag "+tag.Key)
	}
	for _, l := range n.Links {
		all = append(all, fmt.Sprintf("link %d %q %q %q %v", l.Line, l.Target, l.Heading, l.Block, l.Embed))
	}
	for _, b := range n.Blocks {
		all = append(all, fmt.Sprintf("block %d %s", b.Line, b.ID))
	}
	slices.Sort(all)
	return all
}

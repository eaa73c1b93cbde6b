package dirsnap

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// counter counts what a test would report.
type counter struct {
	testing.TB
	errors []string
}

func (c *counter) Helper() {}

func (c *counter) Errorf(format string, args ...any) {
	c.errors = append(c.errors, fmt.Sprintf(format, args...))
}

func TestEveryChangeIsSeen(t *testing.T) {
	for name, change := range map[string]func(dir, note string) error{
		"nothing":        func(string, string) error { return nil },
		"an edit":        func(_, note string) error { return os.WriteFile(note, []byte("texT"), 0o600) },
		"a time":         func(_, note string) error { return os.Chtimes(note, time.Time{}, time.Unix(1, 0)) },
		"a mode":         func(_, note string) error { return os.Chmod(note, 0o640) },
		"a link":         func(dir, note string) error { return os.Symlink(note, filepath.Join(dir, "link")) },
		"one more":       func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "new.md"), nil, 0o600) },
		"one less":       func(_, note string) error { return os.Remove(note) },
		"a second name":  func(dir, note string) error { return os.Link(note, filepath.Join(dir, "second.md")) },
		"reading is not": func(_, note string) error { _, err := os.ReadFile(note); return err },
	} {
		dir := t.TempDir()
		note := filepath.Join(dir, "note.md")
		if err := os.WriteFile(note, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := Take(t, dir)
		if err := change(dir, note); err != nil {
			t.Fatal(err)
		}
		c := &counter{TB: t}
		before.Compare(c)
		if harmless := name == "nothing" || name == "reading is not"; (len(c.errors) == 0) != harmless {
			t.Errorf("%s: reported are %q", name, c.errors)
		}
	}
}

package notes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"emberd/ltm"
	"emberd/vault"
)

// TestExcerptOfAChangedNote shows a passage twice, and then changes its note: what is remembered of
// it is not shown any more.
func TestExcerptOfAChangedNote(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.md")
	if err := os.WriteFile(name, []byte("first words"), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	n := &VaultNotes{Followed: &Followed{}}
	n.Root.Store(v)
	note, err := v.Read(t.Context(), "a.md")
	if err != nil {
		t.Fatal(err)
	}
	hit := ltm.Hit{Path: "a.md", SectionLine: 1, Cursor: ltm.Cursor{Digest: note.Digest, Size: note.Size,
		ModTime: note.ModTime, ChangeTime: note.ChangeTime, Inode: note.Inode}}
	for range 2 {
		if got, err := n.Excerpt(&hit); got != "first words" || err != nil {
			t.Fatalf("excerpt %q, %v; want first words", got, err)
		}
	}
	if err := os.WriteFile(name, []byte("other words"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if got, err := n.Excerpt(&hit); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("excerpt of the changed note %q, %v; want an error", got, err)
	}
}

func TestExcerptsAreBounded(t *testing.T) {
	var e excerpts
	text := string(make([]byte, 1<<10))
	for i := range 3 * maxExcerpts / len(text) {
		e.add(excerptKey{section: i}, text)
		if e.find(excerptKey{section: 0}); i > 0 {
			if _, ok := e.find(excerptKey{section: i}); !ok {
				t.Fatal("the latest excerpt is forgotten")
			}
		}
	}
	if size := (len(e.newer) + len(e.older)) * len(text); size > maxExcerpts {
		t.Errorf("excerpts take %d bytes, want %d at most", size, maxExcerpts)
	}
	if _, ok := e.find(excerptKey{section: 0}); !ok {
		t.Error(fmt.Sprint("the excerpt that is asked for again and again is forgotten among ", len(e.newer)))
	}
}

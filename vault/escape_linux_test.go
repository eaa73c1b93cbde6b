package vault_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"emberd/internal/testutil/dirsnap"
)

// canary is what must never be read out of the folder beside a vault.
const canary = "canary that sings outside of the vault"

// swapper exchanges, as fast as it can, what is in the vault with links that lead out of
// it: a folder, a note, and the folder above that notes are made in.
type swapper struct {
	dir   string
	pairs [][2]string // each inside the vault: what belongs there, and the link
	swaps atomic.Int64
}

func (s *swapper) run(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		pair := s.pairs[i%len(s.pairs)]
		a, b := filepath.Join(s.dir, pair[0]), filepath.Join(s.dir, pair[1])
		if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
			s.swaps.Add(1)
		}
	}
}

// TestCase67NothingLeadsOut is case 67: while folders and notes of the vault are exchanged
// with links that lead out of it, between whatever a reader looks at and opens, between a
// folder's listing and what is in it, nothing outside is read or changed, by no way in.
func TestCase67NothingLeadsOut(t *testing.T) {
	outside := folder(t, files{"Note.md": canary, "In.md": canary, "deep/In.md": canary})
	before := dirsnap.Take(t, outside)
	d := newDesk(t, files{"Notes/In.md": "inside", "Notes/deep/In.md": "inside", "Note.md": "inside", "Memories/Old.md": "inside"})
	link(t, outside, filepath.Join(d.dir, "Notes.link"))
	link(t, filepath.Join(outside, "Note.md"), filepath.Join(d.dir, "Note.link.md"))
	link(t, outside, filepath.Join(d.dir, "Memories.link"))
	s := &swapper{dir: d.dir, pairs: [][2]string{{"Notes", "Notes.link"}, {"Note.md", "Note.link.md"}, {"Memories", "Memories.link"}}}
	ctx, stop := context.WithCancel(t.Context())
	var swapping sync.WaitGroup
	swapping.Go(func() { s.run(ctx) })
	const rounds = 500
	lured := 0 // who takes no care
	for i := range rounds {
		d.readAll(t)
		if data, err := os.ReadFile(filepath.Join(d.dir, "Notes/In.md")); err == nil && string(data) == canary {
			lured++
		}
		if i%10 == 0 {
			d.writeAll(t, i)
		}
	}
	stop()
	swapping.Wait()
	if s.swaps.Load() < rounds/10 || lured == 0 {
		t.Errorf("only %d swaps took place in %d rounds, and nobody was lured out", s.swaps.Load(), rounds)
	}
	before.Compare(t)
	must(t, filepath.WalkDir(d.state, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if bytes.Contains(data, []byte(canary)) {
			t.Errorf("%s holds what is outside", name)
		}
		return err
	}))
}

// readAll takes every way of reading, with names as they are listed and as a caller might
// give them.
func (d *desk) readAll(t *testing.T) {
	t.Helper()
	names := []string{"Note.md", "Notes/In.md", "Notes/deep/In.md", "Notes.link/In.md", "Note.link.md", "Note.md/", "Notes/In.md/",
		"Notes/../Note.md", "Memories/../../Note.md"}
	for name, err := range d.vault.Walk(t.Context()) {
		if err == nil {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if n, err := d.vault.Read(t.Context(), name); err == nil && strings.Contains(shown(n), canary) {
			t.Fatalf("%s was read from outside", name)
		}
		if text, err := d.vault.Text(t.Context(), name); err == nil && strings.Contains(text, canary) {
			t.Fatalf("the text of %s was read from outside", name)
		}
		if f, err := d.vault.Stat(name); err == nil {
			if f.Size == int64(len(canary)) {
				t.Fatalf("%s was looked at outside", name)
			}
			if text, err := d.vault.Excerpt(f, 1, 0, 100); err == nil && strings.Contains(text, canary) {
				t.Fatalf("an excerpt of %s is from outside", name)
			}
		}
	}
}

// writeAll takes every way of writing. What comes of it is not the point: most are refused
// or put off.
func (d *desk) writeAll(t *testing.T, i int) {
	t.Helper()
	digest := sha256.Sum256([]byte(canary))
	_, err1 := d.writer.Create(t.Context(), "Memories/New.md", []byte("new"))
	_, err2 := d.writer.Create(t.Context(), "Notes/deep/New.md", []byte("new"))
	_, err3 := d.writer.Update(t.Context(), "Note.md", stamp("1"))
	_, err4 := d.writer.Update(t.Context(), "Notes/In.md", stamp("2"))
	_, err5 := d.writer.Remove(t.Context(), "Notes/In.md", digest)
	_, err6 := d.writer.Move(t.Context(), "Memories/New.md", "Notes/Moved.md")
	for _, err := range []error{err1, err2, err3, err4, err5, err6} {
		if errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

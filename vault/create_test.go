package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"emberd/vault"
)

// A new note that cannot be written leaves nothing behind, whatever goes wrong, and
// can be written once that is over.
func TestANewNoteThatFailsLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		op, on string // a part of the name
		with   error
		why    vault.Reason // "" is an error
	}{
		"disk full on the temporary file": {"create", vault.TempPrefix, syscall.ENOSPC, ""},
		"disk full half way":              {"write", vault.TempPrefix, syscall.ENOSPC, ""},
		"disk full at the sync":           {"sync", vault.TempPrefix, syscall.EDQUOT, ""},
		"broken disk":                     {"put", vault.TempPrefix, syscall.EIO, ""},
		"permission taken":                {"create", vault.TempPrefix, syscall.EACCES, vault.NotYours},
		"became read-only":                {"write", vault.TempPrefix, syscall.EROFS, vault.DiskReadOnly},
		"no room for the record":          {"create", "writing", syscall.ENOSPC, ""},
		"taken meanwhile":                 {"put", vault.TempPrefix, syscall.EEXIST, vault.NameTaken},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files{"Old.md": "x"})
			before := d.listing(t)
			d.step = func(op, name string) error {
				if op == c.op && strings.Contains(name, c.on) {
					return c.with
				}
				return nil
			}
			res, err := d.writer.Create(t.Context(), "New/Deep/a.md", []byte("text"))
			if c.why != "" {
				wantOutcome(t, res, err, vault.Refused, c.why)
			} else if !errors.Is(err, c.with) || res.Outcome == vault.Written {
				t.Errorf("got %+v, %v, want %v", res, err, c.with)
			}
			d.step = nil
			if after := d.listing(t); !slices.Equal(before, after) {
				t.Errorf("the vault changed:\n%s\nwas\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
			}
			res, err = d.writer.Create(t.Context(), "New/Deep/a.md", []byte("text"))
			wantOutcome(t, res, err, vault.Written, "")
			d.finish(t)
		})
	}
}

func TestPlacesWhereNoNoteCanBe(t *testing.T) {
	d := newDesk(t, files{"Memories/Dir.md/x.md": "x", "File": "x", "notes/old.md": "x"})
	before := d.listing(t)
	for name, c := range map[string]struct {
		why   vault.Reason
		taken string
	}{
		"Memories/Dir.md":    {vault.NameTaken, "Memories/Dir.md"}, // a folder
		"Memories/dir.md":    {vault.NameTaken, "Memories/Dir.md"},
		"File/a.md":          {vault.NotFolder, ""},
		"Notes/a.md":         {vault.FolderTaken, "notes"},
		"Notes/Deep/In/a.md": {vault.FolderTaken, "notes"},
	} {
		res, err := d.writer.CanCreate(name, []byte("y"))
		wantOutcome(t, res, err, vault.Refused, c.why)
		res, err = d.writer.Create(t.Context(), name, []byte("y"))
		wantOutcome(t, res, err, vault.Refused, c.why)
		if res.Taken != c.taken {
			t.Errorf("%s is taken by %q, want %q", name, res.Taken, c.taken)
		}
	}
	if after := d.listing(t); !slices.Equal(before, after) {
		t.Errorf("the vault changed:\n%s", strings.Join(after, "\n"))
	}
	res, err := d.writer.CanCreate("New/a.md", []byte("y"))
	wantOutcome(t, res, err, vault.Written, "")
	if d.read(t, "New/a.md") != "(gone)" {
		t.Error("asking whether a note can be made made it")
	}
}

// Records of another vault wait for that one, unless the vault was moved.
func TestRecordsOfAnotherVault(t *testing.T) {
	d := newDesk(t, files{"a.md": "x"})
	broken := errors.New("power")
	d.step = func(op, _ string) error {
		if op == "exchange" || op == "remove" {
			return broken
		}
		return nil
	}
	if _, err := d.writer.Update(t.Context(), "a.md", stamp("1")); !errors.Is(err, broken) {
		t.Fatalf("got %v, want the write broken off", err)
	}
	d.step = nil
	first := d.dir
	must(t, d.vault.Close())
	d.dir = t.TempDir()
	d.reopen(t)
	if left, err := os.ReadDir(filepath.Join(d.state, "writing")); err != nil || len(left) != 1 {
		t.Fatalf("records %v, %v, want the one of the first vault", left, err)
	}
	moved := filepath.Join(t.TempDir(), "Moved")
	must(t, os.Rename(first, moved))
	must(t, d.vault.Close())
	d.dir = moved
	d.reopen(t)
	d.finish(t)
	if got := d.read(t, "a.md"); got != "x" {
		t.Errorf("the note is %q, want it as it was", got)
	}
	must(t, os.Mkdir(first, 0o700)) // TempDir removes it
}

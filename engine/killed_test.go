package engine_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/engine/notes"
)

// killed is a desk on what a daemon left on the disk that was killed at this moment.
func (d *desk) killed() *desk {
	d.t.Helper()
	next := newHouse(d.t)
	next.Vaults, next.Options.Pace = d.Vaults, d.Options.Pace
	next.VaultIndex, next.VaultCore, next.ReviewInbox = d.VaultIndex, d.VaultCore, d.ReviewInbox
	next.ms.Store(d.ms.Load())
	ok(d.t, os.CopyFS(next.Data, os.DirFS(d.Data)))
	err := os.CopyFS(next.State, os.DirFS(d.State))
	for errors.Is(err, fs.ErrNotExist) { // the index is being written
		ok(d.t, os.RemoveAll(next.State))
		err = os.CopyFS(next.State, os.DirFS(d.State))
	}
	ok(d.t, err)
	ok(d.t, os.Remove(filepath.Join(next.State, "daemon.lock")))
	out := &desk{house: next, t: d.t}
	out.start()
	return out
}

func TestKilledBetweenIndexingAndSettling(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	edited, moved, gone := d.kept("the kettle leaks", "Kettle.md"), d.kept("the pot shines", "Pot.md"), d.kept("the pan is black", "Pan.md")
	d.write(t, "Kettle.md", noteFor(edited, "the kettle is mended"))
	d.batch([]string{"Kettle.md"}, nil)
	d.move("Pot.md", "Cupboard/Pot.md")
	ok(t, os.Remove(d.at("Pan.md")))
	d.batch(nil, []string{"Pan.md"})
	wantNames(t, d.Engine, "mended", "Kettle.md") // the note is found, the memory is as before
	if got := d.memory(edited).Content; got != "the kettle leaks" {
		t.Fatalf("settled early: %q", got)
	}
	for range 2 { // the second time is after everything is settled
		d = d.killed()
		d.settle()
		if m := d.memory(edited); m.Content != "the kettle is mended" {
			t.Errorf("edited: %+v", m.Memory)
		}
		if m := d.memory(moved); m.PromotedTo != "Cupboard/Pot.md" {
			t.Errorf("moved: %+v", m.Memory)
		}
		if !d.Stm.Trashed(gone) {
			t.Error("the deleted note's memory is not in the trash")
		}
		if got := status(t, d.Engine).Vaults[0].Settling; got != 0 {
			t.Errorf("%d wait", got)
		}
	}
}

// The list is on the disk before the index knows, and is read again if the daemon was
// killed before it was written anew.
func TestKilledAroundTheList(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	edited, gone := d.kept("the kettle leaks", "Kettle.md"), d.kept("the pan is black", "Pan.md")
	d.write(t, "Kettle.md", noteFor(edited, "the kettle is mended"))
	ok(t, os.Remove(d.at("Pan.md")))
	d.Sync.Sync.Observe(d.Notes.Vault.Carriers, []notes.Reading{d.Notes.Vault.Read(t.Context(), "Kettle.md")}, []string{"Pan.md"})
	list, err := os.ReadFile(d.Sync.Sync.File)
	ok(t, err)
	d = d.killed()
	d.settle()
	lines := d.lines(edited)
	if m := d.memory(edited); m.Content != "the kettle is mended" || !d.Stm.Trashed(gone) {
		t.Fatalf("the memory is %+v, the other in the trash: %t", m.Memory, d.Stm.Trashed(gone))
	}
	ok(t, os.WriteFile(d.Sync.Sync.File, list, 0o600))
	d = d.killed()
	d.settle()
	if got := d.lines(edited); got != lines || !d.Stm.Trashed(gone) {
		t.Errorf("settled again: %d lines more, the other in the trash: %t", got-lines, d.Stm.Trashed(gone))
	}
}

// A damaged list costs what had not been settled, and trashes nothing.
func TestADamagedListOfNews(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, os.Remove(d.at("Kettle.md")))
	d.batch(nil, []string{"Kettle.md"})
	ok(t, d.Close()) // the index on the disk has that the note is gone
	ok(t, os.WriteFile(d.Sync.Sync.File, []byte(`[{"id":"x","went":["Kettle.md"]},`), 0o600))
	d = d.killed()
	d.settle()
	if m := d.memory(id); !m.NoteGone.IsZero() {
		t.Errorf("the memory is %+v", m.Memory)
	}
	if !strings.Contains(d.log.String(), "has an invalid format") {
		t.Errorf("the log says %q", d.log)
	}
}

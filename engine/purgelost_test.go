package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"emberd/engine"
	"emberd/engine/storage"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/stm/content"
)

// lostPurge is a house whose log has lost a purge that state/purged.json names.
type lostPurge struct {
	*house
	t      *testing.T
	gone   memory.ID
	backup string // from before the purge
	vault  string // with the memory's note
}

const purgedWord = "vyxilothuk"

// loses makes one: what lies in the data folder and the snapshot are from before the purge.
func loses(t *testing.T) *lostPurge {
	t.Helper()
	h := newHouse(t)
	l := &lostPurge{house: h, t: t, backup: filepath.Join(t.TempDir(), "kept.tar.gz"), vault: t.TempDir()}
	e := h.open(t)
	save(t, e, "apple pie")
	l.gone = save(t, e, purgedWord+" is kept in the cellar").ID
	place(t, l.vault, "Cellar.md", noteFor(l.gone, purgedWord+" is kept in the cellar"))
	do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: l.backup})
	ok(t, e.Close())
	before, snap := t.TempDir(), filepath.Join(h.State, "index", "stm.snap")
	ok(t, os.CopyFS(before, os.DirFS(filepath.Join(h.Data, "stm"))))
	old, err := os.ReadFile(snap)
	ok(t, err)
	e = h.open(t)
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(l.gone), Backups: true})
	ok(t, e.Close())
	l.wantNone("after the purge")
	ok(t, os.RemoveAll(filepath.Join(h.Data, "stm"))) // not the folder itself, which tells the device
	ok(t, os.CopyFS(filepath.Join(h.Data, "stm"), os.DirFS(before)))
	ok(t, os.WriteFile(snap, old, 0o600))
	return l
}

func (l *lostPurge) wantNone(when string) {
	l.t.Helper()
	if found := filesWith(l.t, []string{purgedWord + "xx"}, l.Data, l.State); len(found) > 0 {
		l.t.Errorf("%s the word is in %v", when, found)
	}
}

// repaired is what emberd doctor log repair does.
func (l *lostPurge) repaired(from ...string) *engine.Engine {
	l.t.Helper()
	l.Repair = true
	e := l.open(l.t)
	_, err := e.Storage.Repair(l.t.Context(), storage.RepairOptions{Backups: from, Gone: new(stm.Loss)})
	ok(l.t, err)
	return e
}

// stays checks that the memory is purged: at once, in the files once the log is tidied, and after a restart.
func (l *lostPurge) stays(e *engine.Engine) {
	l.t.Helper()
	for range 2 {
		if _, err := e.Stm.Resolve(string(l.gone)); err == nil && !e.Stm.Purged(l.gone) {
			l.t.Error("the memory is back")
		}
		if hits := searchFor(l.t, e, purgedWord); len(hits) > 0 {
			l.t.Errorf("a search finds %+v", hits)
		}
		_, err := (&storage.Compactor{E: e.Storage}).Tidy(l.t.Context())
		ok(l.t, err)
		ok(l.t, e.Close())
		l.wantNone("at the end")
		purges, err := content.ReadPurges(l.t.Context(), durable.OS{}, l.Data)
		if ok(l.t, err); len(purges) != 1 {
			l.t.Errorf("the log has the purges %v", purges)
		}
		e = l.open(l.t)
	}
	ok(l.t, e.Close())
}

// A purge that the log has lost and the state folder remembers stays one, whatever copy of the memory is read.
func TestALostPurgeBringsNothingBack(t *testing.T) {
	t.Parallel()
	t.Run("start with an earlier log and snapshot", func(t *testing.T) {
		l := loses(t)
		l.stays(l.open(t))
	})
	t.Run("start that heals from the snapshot", func(t *testing.T) {
		l := loses(t)
		segments, err := filepath.Glob(filepath.Join(l.Data, "stm", "*", "s-00000001.jsonl"))
		if ok(t, err); len(segments) != 1 {
			t.Fatal(segments)
		}
		ok(t, os.Truncate(segments[0], 300))
		l.stays(l.open(t))
	})
	t.Run("repair from the snapshot", func(t *testing.T) {
		l := loses(t)
		ok(t, os.RemoveAll(filepath.Join(l.Data, "stm")))
		l.stays(l.repaired())
	})
	t.Run("repair from a backup", func(t *testing.T) {
		l := loses(t)
		ok(t, os.RemoveAll(filepath.Join(l.Data, "stm")))
		ok(t, os.Remove(filepath.Join(l.State, "index", "stm.snap")))
		l.stays(l.repaired(l.backup))
	})
	t.Run("repair from a note", func(t *testing.T) {
		l := loses(t)
		ok(t, os.RemoveAll(filepath.Join(l.Data, "stm")))
		ok(t, os.Remove(filepath.Join(l.State, "index", "stm.snap")))
		e := l.repaired()
		_, err := e.Transfer.FromNotes(t.Context(), l.vault)
		ok(t, err)
		l.stays(e)
	})
}

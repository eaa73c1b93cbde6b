package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/engine/storage"
	"emberd/memory"
	"emberd/op"
)

// A repair refuses the backup of another store, and names both. It takes one of its own, also after its device has a new
// name, and any where nothing was written yet.
func TestARepairRefusesTheBackupOfAnotherStore(t *testing.T) {
	t.Parallel()
	stranger, h := newHouse(t), newHouse(t)
	file := filepath.Join(t.TempDir(), "kept.tar.gz")
	e := stranger.open(t)
	save(t, e, "a stranger's pie")
	do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: file})
	there := status(t, e).Device
	ok(t, e.Close())

	e = h.open(t)
	save(t, e, "apple pie")
	here := status(t, e).Device
	_, err := e.Storage.Repair(t.Context(), storage.RepairOptions{Backups: []string{file}})
	if memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), here) || !strings.Contains(err.Error(), there) {
		t.Errorf("the answer is %v", err)
	}
	if n := status(t, e).Memories; n != 1 {
		t.Errorf("there are %d memories", n)
	}
	own := filepath.Join(t.TempDir(), "own.tar.gz")
	do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: own})
	ok(t, e.Close())
	moved := filepath.Join(t.TempDir(), "data")
	ok(t, os.Rename(h.Data, moved))
	h.Data = filepath.Join(t.TempDir(), "data")
	ok(t, os.CopyFS(h.Data, os.DirFS(moved)))
	e = h.open(t)
	_, err = e.Storage.Repair(t.Context(), storage.RepairOptions{Backups: []string{own}})
	ok(t, err)
	ok(t, e.Close())

	e = newHouse(t).open(t)
	_, err = e.Storage.Repair(t.Context(), storage.RepairOptions{Backups: []string{file}})
	if ok(t, err); status(t, e).Memories != 1 {
		t.Error("an empty store does not take it")
	}
	ok(t, e.Close())
}

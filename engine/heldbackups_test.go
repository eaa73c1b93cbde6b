package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// warnsOfHeld reports whether status says that backups hold a memory that was purged elsewhere.
func warnsOfHeld(t *testing.T, e *engine.Engine, id memory.ID) bool {
	t.Helper()
	return slices.ContainsFunc(status(t, e).Warnings, func(w string) bool {
		return strings.Contains(w, "1 backup in") && strings.Contains(w, "emberd forget --permanently --backups "+string(id))
	})
}

// The purge of another device is followed in a flood of which single entries are not told, and
// what it does not reach is told until it is gone, over restarts.
func TestAPurgeElsewhereIsFollowed(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	here, there := desk.open(t), lap.open(t)
	m := save(t, here, "quixotic zeppelin")
	carry(t, desk, lap, status(t, here).Device)
	if _, err := there.Stm.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	do(t, here, op.BackupCreate, &op.BackupCreateRequest{})
	version := place(t, filepath.Join(core.BackupFolder(desk.State), "notes"), "20260301T120000.000Z-abc-Zeppelin.md", "---\nmemory-id: "+string(m.ID)+"\n---\n")
	for n := range 300 {
		save(t, there, fmt.Sprint("apple pie no. ", n))
	}
	do(t, there, op.Purge, &op.PurgeRequest{ID: string(m.ID)})
	carry(t, lap, desk, status(t, there).Device)

	here.Admin.Refresh(t.Context())
	if !warnsOfHeld(t, here, m.ID) {
		t.Errorf("status says %q", status(t, here).Warnings)
	}
	if _, err := os.Lstat(version); err == nil {
		t.Error("the earlier version of the memory's note is there")
	}
	if err := here.Close(); err != nil {
		t.Fatal(err)
	}
	here = desk.open(t)
	if !warnsOfHeld(t, here, m.ID) {
		t.Errorf("after a restart status says %q", status(t, here).Warnings)
	}
	do(t, here, op.Purge, &op.PurgeRequest{ID: m.ID.Short()[:6], Backups: true}) // as it was shown, if only in part
	if warnsOfHeld(t, here, m.ID) {
		t.Error("status tells of backups that are gone")
	}
	if err := here.Close(); err != nil {
		t.Fatal(err)
	}
	if here = desk.open(t); warnsOfHeld(t, here, m.ID) || here.Stm.PurgesDue() {
		t.Errorf("after all, status says %q, due %v", status(t, here).Warnings, here.Stm.PurgesDue())
	}
}

// A backup that was made after a purge does not hold the memory because the text was saved again, also after a restore.
func TestALaterBackupDoesNotHoldAPurgedMemory(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	gone := save(t, e, "quixotic zeppelin")
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(gone.ID)})
	again := do(t, e, op.Save, &op.SaveRequest{Content: "quixotic zeppelin", Again: true}).Memory
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(again.ID)})
	other := save(t, e, "the tide turns at six")
	file := do(t, e, op.BackupCreate, &op.BackupCreateRequest{}).File
	for _, id := range []memory.ID{gone.ID, again.ID, other.ID} {
		do(t, e, op.Purge, &op.PurgeRequest{ID: string(id)})
	}
	for range 2 {
		if warnsOfHeld(t, e, gone.ID) || warnsOfHeld(t, e, again.ID) || !warnsOfHeld(t, e, other.ID) {
			t.Errorf("status says %q", status(t, e).Warnings)
		}
		ok(t, e.Close())
		_, err := backup.Restore(t.Context(), durable.OS{}, file, h.Data, true,
			func(fresh string, m *backup.Manifest) error { return h.settled(t.Context(), fresh, m) })
		ok(t, err)
		e = h.open(t)
		e.Admin.Refresh(t.Context())
	}
}

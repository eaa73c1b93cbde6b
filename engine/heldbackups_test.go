package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// warnsOfHeld reports whether status says that backups hold a memory that was purged elsewhere.
func warnsOfHeld(t *testing.T, e *Engine, id memory.ID) bool {
	t.Helper()
	return slices.ContainsFunc(status(t, e).Warnings, func(w string) bool {
		return strings.Contains(w, "1 backups") && strings.Contains(w, "emberd purge --backups "+string(id))
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
	if _, err := there.stm.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	do(t, here, op.BackupCreate, &op.BackupCreateRequest{})
	version := place(t, filepath.Join(BackupFolder(desk.State), "notes"), "20260301T120000.000Z-abc-Zeppelin.md", "---\nmemory-id: "+string(m.ID)+"\n---\n")
	for n := range 300 {
		save(t, there, fmt.Sprint("apple pie no. ", n))
	}
	do(t, there, op.Purge, &op.PurgeRequest{ID: string(m.ID)})
	carry(t, lap, desk, status(t, there).Device)

	here.refresh(t.Context())
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
	do(t, here, op.Purge, &op.PurgeRequest{ID: string(m.ID), Backups: true})
	if warnsOfHeld(t, here, m.ID) {
		t.Error("status tells of backups that are gone")
	}
	if err := here.Close(); err != nil {
		t.Fatal(err)
	}
	if here = desk.open(t); warnsOfHeld(t, here, m.ID) || here.stm.PurgesDue() {
		t.Errorf("after all, status says %q, due %v", status(t, here).Warnings, here.stm.PurgesDue())
	}
}

// An id is found wherever reads of the backup happen to end.
func TestIDsAreFoundInBytes(t *testing.T) {
	t.Parallel()
	id := memory.ID("01a201e6-1e19-7e1f-a8c6-d73eebcf8cd4")
	for text, want := range map[string]int{
		string(id): 1, `{"` + string(id) + `":` + string(id) + "}": 2, "----" + string(id) + "----": 1, string(id[1:]): 0, string(id[:35]): 0, "": 0, "-": 0,
	} {
		got := 0
		for found := range idsIn([]byte(text)) {
			if found == id {
				got++
			}
		}
		if got != want {
			t.Errorf("%q has it %d times, want %d", text, got, want)
		}
	}
}

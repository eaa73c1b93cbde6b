package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"emberd/engine/storage"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// A log that is gone is begun anew as an empty one, twice. A repair brings back what the snapshots of both
// earlier ones held, but for what was purged.
func TestARepairFindsTheSnapshotsOfEmptiedLogs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.AcceptEmpty = true
	var ids []memory.ID
	for _, text := range []string{"apple pie", "quixotic zeppelin"} {
		e := h.open(t)
		ids = append(ids, save(t, e, text).ID)
		ok(t, e.Close())
		ok(t, os.RemoveAll(filepath.Join(h.Data, "stm")))
	}
	e := h.open(t)
	if st := status(t, e); st.Memories != 0 || st.Log.Recovery.Gaps != 0 || len(st.Warnings) != 1 {
		t.Errorf("the log that was begun anew has %d memories, %+v, and warns %q", st.Memories, st.Log.Recovery, st.Warnings)
	}
	if kept := stm.KeptSnapshots(durable.OS{}, h.State); len(kept) != 2 {
		t.Errorf("kept are %q", kept)
	}
	for range 2 {
		_, err := e.Storage.Repair(t.Context(), storage.RepairOptions{})
		ok(t, err)
	}
	if kept := stm.KeptSnapshots(durable.OS{}, h.State); len(kept) != 0 {
		t.Errorf("after the repair there are %q", kept)
	}
	ok(t, e.Close())
	ok(t, os.RemoveAll(filepath.Join(h.State, "index")))
	e = h.open(t)
	if look(t, e, ids[0]).Content != "apple pie" || look(t, e, ids[1]).Content != "quixotic zeppelin" {
		t.Error("a memory is not back")
	}
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(ids[1]), Backups: true})
	ok(t, e.Close())
}

// A memory that only the snapshots of earlier logs have can be purged, by a part of its ID too, and by what purges in the
// log. The others stay in them.
func TestAPurgeReachesTheSnapshotsOfEmptiedLogs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.AcceptEmpty = true
	e := h.open(t)
	kept := save(t, e, "apple pie").ID
	gone := save(t, e, "quixotic zeppelin").ID
	ok(t, e.Close())
	ok(t, os.RemoveAll(filepath.Join(h.Data, "stm")))
	e = h.open(t)
	dry := do(t, e, op.Purge, &op.PurgeRequest{ID: gone.Short(), DryRun: true})
	if dry.ID != gone || len(dry.Rewritten) != 1 || dry.Rewritten[0] != "emptied-1.snap" {
		t.Errorf("it would purge %+v", dry)
	}
	res := do(t, e, op.Purge, &op.PurgeRequest{ID: gone.Short()})
	if len(res.Rewritten) != 1 || res.Rewritten[0] != "emptied-1.snap" {
		t.Errorf("purged: %+v", res)
	}
	if found := filesWith(t, []string{"zeppelinxx"}, h.Data, h.State); len(found) > 0 {
		t.Errorf("the word is in %v", found)
	}
	snap, err := os.ReadFile(stm.KeptSnapshots(durable.OS{}, h.State)[0])
	if ok(t, err); !bytes.Contains(snap, []byte("apple pie")) {
		t.Error("the other memory is not in the snapshot any more")
	}
	_, err = e.Storage.Repair(t.Context(), storage.RepairOptions{})
	ok(t, err)
	if status(t, e).Memories != 1 || look(t, e, kept).Content != "apple pie" {
		t.Error("the other memory is not back")
	}
	ok(t, e.Close())
}

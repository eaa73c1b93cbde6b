package stm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/wal"
)

func TestWhatAStartHadToReadIsInTheNextSnapshot(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.reopen()
	ts.other(lineOf(1, time.Now(), record.OpPut, idOf(1), `{"content":"one"}`))
	for _, want := range []int{1, 0} {
		ts.reopen()
		if got := ts.Status(); got.Recovery.Applied != want || got.Snapshot != "used" {
			t.Errorf("snapshot %s, %d lines applied, want %d", got.Snapshot, got.Recovery.Applied, want)
		}
		ts.wantFound("one", idOf(1))
	}
}

// snapshotBehind writes a snapshot whose cursor is older than what is in it,
// as when saves go on while it is written, and then dies.
func (ts *testStore) snapshotBehind(work func()) {
	ts.t.Helper()
	var c wal.Cursor
	if err := ts.Wal().OnWriter(context.Background(), func() { c = ts.Wal().Writer.Cursor() }); err != nil {
		ts.t.Fatal(err)
	}
	work()
	if err := ts.Wal().SaveSnapshot(context.Background(), c, snapshot.Manner{Settle: ts.Wal().UsesWritten}); err != nil {
		ts.t.Fatal(err)
	}
}

func TestPlacesInANewerFileThanTheSnapshotCovers(t *testing.T) {
	ts := openStore(t, wal.Options{SegmentBytes: 1})
	a := ts.save("apple pie").ID()
	b := ts.save("banana bread").ID()
	var edit wal.Receipt
	ts.snapshotBehind(func() {
		edit = ts.edit(a, "content", "apple tart")
		ts.forget(b)
	})
	// A file of another device takes the number that the next own one had.
	ts.other(lineOf(1, time.Now(), record.OpPut, idOf(1), `{"content":"one"}`))
	os.Rename(filepath.Join(ts.root, "data", "stm", "otherdev"), filepath.Join(ts.root, "data", "stm", "22222222"))
	ts.open()
	if got := ts.Status().Snapshot; got != "used" {
		t.Fatalf("snapshot %s", got)
	}
	if got, err := ts.ReadTrashed(b); err != nil || got.Content != "banana bread" {
		t.Errorf("in the trash: %q, %v", got.Content, err)
	}
	ts.undo(edit.Entry)
	ts.wantContent(a, "apple pie")
}

func TestASnapshotDoesNotOutliveAnEditOfTheFileBeingWritten(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	if err := ts.WriteSnapshot(context.Background()); err != nil {
		t.Fatal(err)
	}
	after := ts.save("banana bread").ID()
	// The daemon dies here, and a human shortens a line that the snapshot covers.
	mangleFile(ts.segments()[0], withoutSum("apple pie", "pie"))
	ts.open()
	ts.wantContent(id, "pie")
	ts.wantContent(after, "banana bread")
}

func TestASnapshotDoesNotOutliveAReplacedFile(t *testing.T) {
	ts := openStore(t, wal.Options{})
	old := lineOf(1, time.Now(), record.OpPut, idOf(1), `{"content":"one"}`)
	name := ts.other(old)
	when := time.Now().Add(-time.Hour)
	os.Chtimes(name, when, when)
	ts.reopen()
	ts.save("a change, so that a snapshot is written")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Second) // else both lines may have one stamp
	ts.other(lineOf(1, later, record.OpPut, idOf(1), `{"content":"two"}`))
	os.Chtimes(name, when, when)
	ts.open()
	ts.wantContent(idOf(1), "two")
}

// TestASnapshotOfALogElsewhereIsNotUsed copies a home, of which a file is emptied then. The files of the home that it
// was copied from are still there.
func TestASnapshotOfALogElsewhereIsNotUsed(t *testing.T) {
	ts := openStore(t, wal.Options{})
	kept := ts.save("kept").ID()
	ts.reopen()
	ts.save("more")
	copied := &testStore{t: t, root: t.TempDir(), opt: ts.opt}
	if err := errors.Join(ts.Close(), os.CopyFS(copied.root, os.DirFS(ts.root))); err != nil {
		t.Fatal(err)
	}
	copied.forgeIdentity()
	copied.open()
	defer copied.Close()
	if used := copied.Status().Snapshot; !strings.Contains(used, ts.root) {
		t.Errorf("the snapshot was %s", used)
	}
	copied.wantContent(kept, "kept")
}

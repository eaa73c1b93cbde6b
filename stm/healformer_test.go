package stm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/wal"
)

// formerLog saves memories, moves the data folder so that the device gets a new name, saves one more and closes. It
// returns what there is by then, and the files of the former name.
func formerLog(t *testing.T, refreshed bool) (ts *testStore, want map[memory.ID]string, former []string) {
	t.Helper()
	ts = openStore(t, wal.Options{})
	want, before := map[memory.ID]string{}, ts.Status().Device
	save := func(text string) { want[ts.save(text).ID()] = text }
	for n := range 5 {
		save(fmt.Sprint("memory ", n))
	}
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	moveFolder(t, filepath.Join(ts.root, "data"))
	ts.open()
	if ts.Status().Device == before {
		t.Fatal("the device has no new name, so that this proves nothing")
	}
	if refreshed {
		ts.refresh()
	}
	save("one more")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	return ts, want, ts.filesOf(before)
}

func removeAll(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAFormerLogThatIsGoneIsTold deletes the log of a former name after a start that found it whole.
func TestAFormerLogThatIsGoneIsTold(t *testing.T) {
	for name, refreshed := range map[string]bool{"after a refresh": true, "without any": false} {
		t.Run(name, func(t *testing.T) {
			ts, want, former := formerLog(t, refreshed)
			kept := t.TempDir()
			if err := os.CopyFS(kept, os.DirFS(filepath.Join(ts.root, "data"))); err != nil {
				t.Fatal(err)
			}
			removeAll(t, append(former, filepath.Join(ts.root, "state", "index"))...)
			for _, when := range []string{"at the start", "after a restart"} {
				ts.open()
				ts.refresh()
				ts.wantTold(true, when)
				if gaps := ts.Status().Recovery.Gaps; gaps != 5 {
					t.Errorf("%s: %d records are missing, want 5", when, gaps)
				}
				if err := ts.Close(); err != nil {
					t.Fatal(err)
				}
			}
			ts.open()
			ts.healFrom(kept)
			ts.wantAll(want, "after the repair")
			ts.wantTold(false, "after the repair")
			ts.withoutSnapshot()
			ts.wantTold(false, "after a start without a snapshot")
			ts.wantAll(want, "after a start without a snapshot")
		})
	}
}

// TestAFormerLogThatIsGoneIsGivenUp accepts the loss instead.
func TestAFormerLogThatIsGoneIsGivenUp(t *testing.T) {
	ts, _, former := formerLog(t, true)
	removeAll(t, append(former, filepath.Join(ts.root, "state", "index"))...)
	ts.open()
	ts.wantTold(true, "at the start")
	if _, err := ts.AcceptLoss(t.Context()); err != nil {
		t.Fatal(err)
	}
	ts.wantTells("", "once it is accepted")
	ts.withoutSnapshot()
	ts.wantTells("", "after a restart")
}

// TestAFormerLogComesBackFromTheSnapshot deletes it and leaves the snapshot, which has all of it.
func TestAFormerLogComesBackFromTheSnapshot(t *testing.T) {
	ts, want, former := formerLog(t, true)
	removeAll(t, former...)
	var elapsed atomic.Int64
	ts.opt.Now = func() time.Time { return time.Now().Add(time.Duration(elapsed.Load())) }
	ts.open()
	ts.wantAll(want, "at the start")
	ts.refresh()
	elapsed.Add(int64(3 * time.Minute))
	ts.refresh()
	ts.wantTells("", "in the end")
	k := ts.killed()
	k.wantAll(want, "killed")
	k.wantTells("", "killed")
}

package stm_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// staleFleet is a store whose log says that tombstones up to a month ago were
// dropped, when two operations of the silent device had been read.
func staleStore(t *testing.T) (ts *testStore, old time.Time) {
	ts = openStore(t, wal.Options{})
	ts.save("mine")
	now := time.Now()
	old = now.AddDate(0, -4, 0)
	thirddev, _ := record.ParseDevice("thirddev")
	floor := record.Stamp{T: uint64(now.AddDate(0, -1, 0).UnixMilli()) << 16, Dev: thirddev}
	ts.peerFile("../thirddev/c-00000001-00000004.g1.jsonl", string(record.MetaLine(record.OpSegment, record.Stamp{T: floor.T + 1, Dev: thirddev},
		record.Header{Dev: "thirddev", Segment: 4, First: 1, Last: 9, Format: record.FormatVersion, Floor: floor.String(), Seen: map[string]uint64{"otherdev": 2}})))
	return ts, old
}

// Case 73.
func TestStaleOperationsWaitForReview(t *testing.T) {
	ts, old := staleStore(t)
	known := lineOf(1, old, record.OpPut, idOf(1), `{"content":"known before"}`) + lineOf(2, old, record.OpPut, idOf(2), `{"content":"known too"}`)
	ts.peerFile("s-00000001.jsonl", known)
	ts.refresh()
	ts.wantContent(idOf(1), "known before")

	// The device comes back, with what it did all alone.
	ts.peerFile("s-00000002.jsonl", lineOf(3, old, record.OpPut, idOf(3), `{"content":"deleted meanwhile?","source":"x"}`)+
		lineOf(4, old.Add(time.Hour), record.OpSet, idOf(3), `{"content":"deleted meanwhile!"}`)+
		lineOf(5, old.Add(time.Hour), record.OpSet, idOf(1), `{"content":"changed offline"}`)+
		lineOf(6, old.Add(time.Hour), record.OpDelete, idOf(2), ``)+
		lineOf(7, time.Now(), record.OpPut, idOf(4), `{"content":"new"}`))
	for range 2 {
		ts.refresh()
		ts.wantGone(idOf(3))
		ts.wantContent(idOf(1), "changed offline")
		ts.wantGone(idOf(2))
		ts.wantContent(idOf(4), "new")
		ts.wantWarning("offline for more than 90 days is hidden")
		got := ts.Stale()
		if len(got) != 1 || got[0].ID != idOf(3) || got[0].Changes != 2 || got[0].Device.String() != "otherdev" {
			t.Errorf("waiting: %+v", got)
		}
		ts.reopen()
	}
	ts.withoutSnapshot()
	for range 2 {
		ts.wantGone(idOf(3))
		if got := ts.Stale(); len(got) != 1 {
			t.Errorf("read anew, waiting: %+v", got)
		}
		ts.reopen()
	}
}

// Case 73.
func TestWhatWaitsIsDecided(t *testing.T) {
	for _, keep := range []bool{true, false} {
		ts, old := staleStore(t)
		ts.peerFile("s-00000002.jsonl", lineOf(3, old, record.OpPut, idOf(3), `{"content":"first","source":"x"}`)+
			lineOf(4, old.Add(time.Hour), record.OpSet, idOf(3), `{"content":"last"}`))
		ts.refresh()
		if _, err := ts.DecideStale(context.Background(), idOf(3), keep, memory.Actor{Via: "test"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if keep {
				ts.wantContent(idOf(3), "last")
				ts.wantFound("last", idOf(3))
			} else {
				ts.wantGone(idOf(3))
				if m, err := ts.ReadTrashed(idOf(3)); err != nil || m.Content != "last" {
					t.Errorf("in the trash: %q, %v", m.Content, err)
				}
			}
			ts.wantWarning("")
			ts.reopen()
		}
		if _, err := ts.DecideStale(context.Background(), idOf(3), keep, memory.Actor{}); err == nil {
			t.Error("decided twice")
		}
	}
}

// What waits is taken without a question once the memory is known, whichever
// file comes first.
func TestWhatIsKnownAfterAllDoesNotWait(t *testing.T) {
	ts, old := staleStore(t)
	ts.peerFile("s-00000002.jsonl", lineOf(3, old.Add(time.Hour), record.OpSet, idOf(1), `{"content":"changed"}`))
	ts.refresh()
	if len(ts.Stale()) != 1 {
		t.Fatal("it does not wait, so this shows nothing")
	}
	ts.peerFile("s-00000001.jsonl", lineOf(1, old, record.OpPut, idOf(1), `{"content":"known before"}`))
	ts.refresh()
	ts.wantContent(idOf(1), "changed")
	ts.wantWarning("")
	ts.withoutSnapshot()
	ts.wantContent(idOf(1), "changed")
	ts.wantWarning("")
}

// What a compaction says about the tombstones it dropped stays said over later
// ones, and holds back what a silent device did before.
func TestADroppedTombstoneHoldsBackWhatIsOlder(t *testing.T) {
	ts, id, later := oldDeletion(t)
	before := ts.Wal().Now()
	ts.peerFile("s-00000001.jsonl", lineOf(1, before, record.OpPut, idOf(1), `{"content":"known"}`))
	ts.refresh()
	later()
	if got := ts.dropping(); got.Dropped != 1 {
		t.Fatalf("%+v, so this shows nothing", got)
	}
	ts.unlink()
	first := ts.floorOf()
	if first.Floor == "" || first.Seen["otherdev"] != 1 {
		t.Fatalf("header %+v, want a floor and one line of the other device", first)
	}
	for range 2 {
		ts.save("more")
		ts.reopen()
		ts.compact()
		ts.unlink()
		if got := ts.floorOf(); got.Floor != first.Floor || got.Seen["otherdev"] != 1 {
			t.Errorf("after a later compaction: floor %s, seen %v, want %s and %v", got.Floor, got.Seen, first.Floor, first.Seen)
		}
	}
	ts.peerFile("s-00000002.jsonl", lineOf(2, before.Add(-time.Hour), record.OpSet, id, `{"content":"apple tart"}`))
	ts.refresh()
	for _, again := range []func(){func() {}, ts.reopen, ts.withoutSnapshot} {
		again()
		ts.wantGone(id)
		if got := ts.Stale(); len(got) != 1 || got[0].ID != id {
			t.Errorf("waiting: %+v, want %s alone", got, id)
		}
	}
}

// floorOf is the header of the only compacted file.
func (ts *testStore) floorOf() record.Header {
	ts.t.Helper()
	for _, name := range ts.segments() {
		if record.ParseName(filepath.Base(name)).Kind == record.Compacted {
			h, err := ts.Wal().ReadHeader(name)
			if err != nil {
				ts.t.Fatal(err)
			}
			return h
		}
	}
	ts.t.Fatal("there is no compacted file")
	return record.Header{}
}

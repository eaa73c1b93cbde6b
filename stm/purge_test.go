package stm_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

func (ts *testStore) purge(id memory.ID) history.Purged {
	ts.t.Helper()
	got, err := ts.Purge(context.Background(), id, memory.Actor{})
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

// wantNowhere greps every file of the store, as somebody who looks for what was
// purged would.
func (ts *testStore) wantNowhere(words ...string) {
	ts.t.Helper()
	err := filepath.WalkDir(ts.root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		for _, w := range words {
			if bytes.Contains(bytes.ToLower(b), []byte(w)) {
				ts.t.Errorf("%s still holds %q", name, w)
			}
		}
		return err
	})
	if err != nil {
		ts.t.Fatal(err)
	}
}

// TestNothingOfAPurgedMemoryIsLeft is case 64.
func TestNothingOfAPurgedMemoryIsLeft(t *testing.T) {
	ts := openStore(t, wal.Options{})
	other := ts.save("apple pie").ID()
	id := ts.save("quixotic zeppelin").ID()
	ts.edit(id, "content", "vermilion zeppelin")
	both := ts.commit(wal.Tx{Verb: "edit", Changes: []wal.Change{
		{ID: id, Set: textOf("gargoyle zeppelin")}, {ID: other, Set: textOf("apple tart")},
	}})
	ts.Use(table.Use{ID: id, Uses: 3}, table.Use{ID: other, Uses: 2})
	ts.reopen()
	ts.compact() // the history has what was superseded
	ts.unlink()
	ts.edit(id, "source", "marzipan ledger")
	// A damaged line that names the memory, and its copy in the quarantine.
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	names := ts.segments()
	damaged := `{"v":1,"q":99,"op":"put","id":"` + string(id) + `","d":{"content":"kumquat zeppelin"},"c":"00000000"}` + "\n"
	f, err := os.OpenFile(names[len(names)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(damaged)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	ts.open()
	if q, err := ts.Quarantine(); err != nil || len(q) != 1 {
		t.Fatalf("quarantine %v, %v", q, err)
	}
	got := ts.purge(id)
	if got.Entry == "" || len(got.Rewritten) < 3 || got.Quarantine != 1 {
		t.Errorf("purged: %+v", got)
	}
	check := func() {
		t.Helper()
		ts.wantNowhere("zeppelin", "quixotic", "vermilion", "gargoyle", "kumquat", "marzipan")
		ts.wantGone(id)
		ts.wantFound("zeppelin")
		ts.wantContent(other, "apple tart")
		ts.wantFound("tart", other)
		if row, _ := ts.Get(other); row.UseCount() != 2 {
			t.Errorf("%d uses of the other memory", row.UseCount())
		}
		if ts.Trashed(id) || ts.PurgesDue() {
			t.Errorf("trashed %v, due %v", ts.Trashed(id), ts.PurgesDue())
		}
		if got := ts.Status().Recovery; got.Gaps != 0 || got.Unknown != 0 || got.BadSeals != 0 {
			t.Errorf("recovery %+v", got)
		}
	}
	check()
	ts.reopen()
	check()
	ts.withoutSnapshot()
	if _, err := ts.CarryOutPurges(context.Background()); err != nil {
		t.Fatal(err)
	}
	check()
	ts.compact()
	ts.unlink()
	ts.withoutSnapshot()
	if _, err := ts.CarryOutPurges(context.Background()); err != nil {
		t.Fatal(err)
	}
	check()
	if _, err := ts.Undo(context.Background(), history.Undo{Entry: got.Entry}); memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), "was a permanent deletion, which cannot be undone") {
		t.Errorf("undo of the purge: %v", err)
	}
	ts.undo(both.Entry)
	ts.wantContent(other, "apple pie")
	ts.wantGone(id)
}

func TestPurgeOfWhatIsInTheTrashOrUnknown(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("quixotic zeppelin").ID()
	forgotten := ts.forget(id)
	ts.purge(id)
	ts.wantNowhere("zeppelin")
	if _, err := ts.Undo(context.Background(), history.Undo{Entry: forgotten.Entry}); err == nil {
		t.Error("the forgetting of a purged memory was undone")
	}
	if got := ts.purge(id); got.Entry != "" {
		t.Errorf("purged twice: %+v", got)
	}
	if _, err := ts.Purge(context.Background(), idOf(7), memory.Actor{}); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("purge of nothing: %v", err)
	}
	if vs, err := ts.History(context.Background(), id); err != nil || len(vs) > 1 {
		t.Errorf("history tells %+v, %v", vs, err)
	}
	ts.put(id, "apple pie")
	ts.reopen()
	ts.wantContent(id, "apple pie")
	ts.compact()
	ts.withoutSnapshot()
	ts.wantContent(id, "apple pie")
}

// The key of a save that was purged is not free again: repeating the request would
// bring the memory back. What was asked for under it is not kept, not as a hash.
func TestTheKeyOfAPurgedSaveStaysTaken(t *testing.T) {
	ts := openStore(t, wal.Options{})
	for n, key := range map[int]string{1: "first", 2: "second"} {
		ts.commit(wal.Tx{Verb: "save", Key: key, KeyHash: "hash-of-" + key, Changes: []wal.Change{{ID: idOf(n), Set: textOf("pie")}}})
	}
	ts.purge(idOf(1))
	check := func(when string) {
		t.Helper()
		if got, ok := ts.Replay("first"); !ok || got.Hash != "" || len(got.IDs) > 0 {
			t.Errorf("%s the key of the purged save stands for %+v, %v", when, got, ok)
		}
		if got, ok := ts.Replay("second"); !ok || got.Hash != "hash-of-second" || len(got.IDs) != 1 {
			t.Errorf("%s the other key stands for %+v, %v", when, got, ok)
		}
		ts.wantNowhere("hash-of-first")
	}
	check("at once")
	ts.reopen()
	check("after a start")
	ts.withoutSnapshot()
	check("read anew")
	if _, err := ts.CarryOutPurges(t.Context()); err != nil {
		t.Fatal(err)
	}
	ts.put(idOf(1), "apple pie")
	ts.compact()
	ts.unlink()
	ts.withoutSnapshot()
	check("compacted")
	ts.wantContent(idOf(1), "apple pie")
}

// A purge by another device is carried out here, and what a third one says that
// did not know of it does not count.
func TestPurgeByAnotherDevice(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := idOf(1)
	ts.put(id, "quixotic zeppelin")
	saved := ts.edit(id, "content", "vermilion zeppelin")
	ts.peerFile("s-00000001.jsonl", lineOf(1, time.Now().Add(time.Minute), record.OpPurge, id, ""))
	ts.refresh()
	ts.wantGone(id)
	if !ts.PurgesDue() {
		t.Fatal("no purge is due")
	}
	if _, err := ts.Undo(context.Background(), history.Undo{Entry: saved.Entry, Force: true}); err != nil {
		t.Fatal(err)
	}
	ts.wantGone(id)
	ts.reopen()
	if _, err := ts.CarryOutPurges(context.Background()); err != nil || ts.PurgesDue() {
		t.Fatalf("due %v, %v", ts.PurgesDue(), err)
	}
	ts.wantNowhere("zeppelin", "quixotic", "vermilion")
	ts.peerFile("s-00000002.jsonl", lineOf(2, time.Now().Add(-time.Minute), record.OpPut, id, `{"content":"gargoyle"}`)+
		lineOf(3, time.Now().Add(-time.Minute+time.Second), record.OpDelete, id, ""))
	ts.refresh()
	ts.wantGone(id)
	if ts.Trashed(id) {
		t.Error("it can be restored")
	}
	ts.withoutSnapshot()
	ts.wantGone(id)
	if got, err := ts.Mentions(context.Background(), id); err != nil || len(got) != 1 || got[0].File != "s-00000002.jsonl" {
		t.Errorf("mentions %v, %v", got, err)
	}
}

// What was counted of a memory waits for a second, and is not written after another device's
// purge has come, which would leave the log naming the memory.
func TestUsesThatWaitDoNotOutliveAPurge(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id, other := ts.save("quixotic zeppelin").ID(), ts.save("apple pie").ID()
	ts.Use(table.Use{ID: id, Uses: 2}, table.Use{ID: other, Uses: 3})
	ts.peerFile("s-00000001.jsonl", lineOf(1, time.Now().Add(time.Minute), record.OpPurge, id, ""))
	ts.refresh()
	ts.purge(id) // as somebody who was told to
	ts.put(idOf(7), "cheese cake")
	ts.reopen()
	if left, err := ts.Telling(t.Context(), record.Redaction{id.Bytes(): record.MaxStamp()}); err != nil || len(left) > 0 {
		t.Errorf("%v still tell of the memory, %v", left, err)
	}
	if row, _ := ts.Get(other); row.UseCount() != 3 {
		t.Errorf("%d uses of the other memory", row.UseCount())
	}
}

// The caller who names no entry means the latest change: that was a purge, so nothing before it is undone.
func TestABareUndoAfterAPurgeTakesNothingBack(t *testing.T) {
	for _, how := range []struct {
		name  string
		again func(*testStore)
	}{{"as it goes", func(*testStore) {}}, {"from a snapshot", (*testStore).reopen}, {"from the log", (*testStore).withoutSnapshot}} {
		t.Run(how.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			saved := ts.commit(setOf(idOf(1), "content", `"apple"`))
			ts.purge(ts.save("quixotic").ID())
			how.again(ts)
			for _, dry := range []bool{true, false} {
				_, err := ts.Undo(context.Background(), history.Undo{DryRun: dry})
				if memory.CodeOf(err) != memory.NotFound || !strings.HasSuffix(err.Error(), "run: emberd undo "+saved.Entry) {
					t.Errorf("a bare undo after a purge: %v", err)
				}
			}
			ts.wantContent(idOf(1), "apple")
			ts.save("cherry")
			if got := ts.undo(""); got.Entry.Verb != "save" || got.Items[0].Action != history.Removed {
				t.Errorf("of a save after the purge: %+v", got)
			}
			ts.undo(saved.Entry)
			ts.wantGone(idOf(1))
			if _, err := ts.Undo(context.Background(), history.Undo{}); memory.CodeOf(err) != memory.NotFound {
				t.Errorf("with nothing left: %v", err)
			}
		})
	}
}

package stm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/compaction"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// TestDamagedAndUnknownLinesSurviveVerbatim is case 33.
func TestDamagedAndUnknownLinesSurviveVerbatim(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.edit(id, "content", "apple tart")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	name := ts.segments()[0]
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	odd := []string{
		`{"v":1,"q":7,"damaged in the middle`,
		string(bytes.TrimSpace(record.SealLine([]byte(`{"v":2,"q":8,"t":"0192f3a1b2c3-0004-`+ts.Wal().Device.String()+`","op":"put","new":"way"`), 0))),
		string(bytes.TrimSpace(record.SealLine([]byte(`{"v":1,"q":9,"t":"0192f3a1b2c3-0005-`+ts.Wal().Device.String()+`","op":"dream","d":{"of":"sheep"}`), 0))),
	}
	lines := strings.SplitAfterN(string(b), "\n", 2)
	if err := os.WriteFile(name, []byte(lines[0]+strings.Join(odd, "\n")+"\n"+lines[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	ts.open()
	before := ts.Status().Recovery
	got := ts.compact()
	ts.unlink()
	ts.compact()
	ts.unlink()
	if got.Verbatim != len(odd) {
		t.Errorf("%d lines kept as they were, want %d", got.Verbatim, len(odd))
	}
	c, err := os.ReadFile(filepath.Join(ts.Wal().OwnDir(), "c-00000001-00000001.g2.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range odd {
		if n := strings.Count(string(c), l+"\n"); n != 1 {
			t.Errorf("%q is there %d times", l, n)
		}
	}
	ts.withoutSnapshot()
	ts.wantContent(id, "apple tart")
	if after := ts.Status().Recovery; after.Quarantined != before.Quarantined || after.Unknown != before.Unknown {
		t.Errorf("recovery %+v, before compaction %+v", after, before)
	}
}

// TestAFileOfALaterVersionStays is case 34.
func TestAFileOfALaterVersionStays(t *testing.T) {
	for name, head := range map[string]string{
		"line":   `{"v":2,"op":"seg","t":"0192f3a1b2c3-0004-aaaaaaaa","d":{"format":2}`,
		"format": `{"v":1,"op":"seg","t":"0192f3a1b2c3-0004-aaaaaaaa","d":{"format":2}`,
	} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ts.save("apple pie")
			ts.reopen()
			head = strings.Replace(head, "aaaaaaaa", ts.Wal().Device.String(), 1)
			later := filepath.Join(ts.Wal().OwnDir(), record.SegmentName(0))
			if err := os.WriteFile(later, record.SealLine([]byte(head), 0), 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := ts.Segments()
			if err != nil {
				t.Fatal(err)
			}
			if !files[0].Later || files[1].Later {
				t.Errorf("files %+v, want the first to be of a later version", files)
			}
			_, err = ts.Rewrite(context.Background(), compaction.Job{Inputs: []string{record.SegmentName(0), record.SegmentName(1)}, HistoryKeep: 90 * day})
			if memory.CodeOf(err) != memory.Incompatible {
				t.Errorf("compacting it: %v", err)
			}
		})
	}
}

// old makes deletions that are long past, and returns what they deleted.
func oldDeletion(t *testing.T) (ts *testStore, id memory.ID, later func()) {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ts = openStore(t, wal.Options{Now: func() time.Time { return now }})
	id = ts.save("apple pie").ID()
	ts.forget(id)
	ts.reopen()
	return ts, id, func() { now = now.Add(100 * day) }
}

func (ts *testStore) dropping() compaction.Result {
	ts.t.Helper()
	got, err := ts.Rewrite(context.Background(), compaction.Job{Inputs: ts.sealed(), HistoryKeep: 90 * day,
		Droppable: func(time.Time, uint64) bool { return true }})
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

// TestTombstones is case 35, and when they may go. The devices that are stale
// are those that package compaction knows of.
func TestTombstones(t *testing.T) {
	t.Run("kept while a device may not know", func(t *testing.T) {
		ts, id, later := oldDeletion(t)
		later()
		if got := ts.compact(); got.Tombstones != 1 || got.Dropped != 0 {
			t.Errorf("%+v", got)
		}
		ts.unlink()
		ts.withoutSnapshot()
		ts.wantGone(id)
	})
	t.Run("dropped when everybody knows", func(t *testing.T) {
		ts, id, later := oldDeletion(t)
		later()
		if got := ts.dropping(); got.Dropped != 1 || got.Live != 0 {
			t.Errorf("%+v", got)
		}
		if c := ts.Table.Cell(id.Bytes()); c != nil {
			t.Error("the row stays in memory")
		}
		ts.unlink()
		ts.withoutSnapshot()
		ts.wantGone(id)
		if b, err := os.ReadFile(ts.segments()[0]); err != nil || strings.Contains(string(b), string(id)) {
			t.Errorf("the log still names it: %s, %v", b, err)
		}
	})
	t.Run("kept when an older file stays", func(t *testing.T) {
		ts, _, later := oldDeletion(t)
		ts.save("plum")
		ts.reopen()
		later()
		got, err := ts.Rewrite(context.Background(), compaction.Job{Inputs: ts.sealed()[1:], HistoryKeep: 90 * day,
			Droppable: func(time.Time, uint64) bool { return true }})
		if err != nil || got.Dropped != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("kept when another device wrote something older", func(t *testing.T) {
		ts, id, later := oldDeletion(t)
		later()
		ts.other(lineOf(1, time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC), record.OpSet, id, `{"content":"quince"}`))
		ts.reopen()
		if got := ts.dropping(); got.Dropped != 0 || got.Tombstones != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// TestSaveDeleteReload is C88: absent after a reload; a later put is present.
func TestSaveDeleteReload(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.forget(id)
	for _, again := range []func(){ts.reopen, func() { ts.compact() }, ts.withoutSnapshot} {
		again()
		ts.wantGone(id)
	}
	ts.put(id, "apple tart")
	for _, again := range []func(){ts.reopen, func() { ts.compact() }, ts.withoutSnapshot} {
		again()
		ts.wantContent(id, "apple tart")
	}
}

// TestFifteenHundredLines is C89: 1,500 lines, 500 of them superseded, are 1,000
// afterwards.
func TestFifteenHundredLines(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None})
	for n := range 1000 {
		ts.commit(setOf(memory.DeriveID(fmt.Append(nil, n)), "content", fmt.Sprintf("%q", fmt.Sprint("memory ", n))))
	}
	for n := range 500 {
		ts.commit(setOf(memory.DeriveID(fmt.Append(nil, n)), "content", fmt.Sprintf("%q", fmt.Sprint("edited ", n))))
	}
	ts.reopen()
	st, err := ts.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if st.Lines != 1500 || st.Live != 1000 || st.Segments != 1 || st.Dead == 0 {
		t.Errorf("before: %+v", st)
	}
	if got := ts.compact(); got.Lines != 1500 || got.Live != 1000 {
		t.Errorf("compacted: %+v", got)
	}
	ts.unlink()
	if st, err = ts.Stats(context.Background()); err != nil || st.Dead > 1000 || st.Duplicates != 0 || st.Live != 1000 || st.Histories != 1 {
		t.Errorf("after: %+v, %v", st, err)
	}
	ts.withoutSnapshot()
	if ts.Len() != 1000 {
		t.Errorf("%d memories, want 1000", ts.Len())
	}
	ts.wantContent(memory.DeriveID([]byte("7")), "edited 7")
	ts.wantContent(memory.DeriveID([]byte("700")), "memory 700")
}

// TestReloadEqualsMemory is C90, with a compaction between the two.
func TestReloadEqualsMemory(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None, SegmentBytes: 2000})
	rng := rand.New(rand.NewPCG(9, 0))
	for n := range 300 {
		id := idOf(rng.IntN(20))
		_, live := ts.Get(id)
		if live && rng.IntN(4) == 0 {
			ts.forget(id)
		} else {
			ts.commit(setOf(id, "content", fmt.Sprintf("%q", fmt.Sprint("text ", n))))
		}
		if n%70 == 69 {
			ts.compact()
			ts.unlink()
		}
	}
	want := stateOf(ts.Store, nil)
	ts.withoutSnapshot()
	if got := stateOf(ts.Store, nil); got != want {
		t.Errorf("reloaded:\n%s\nwant\n%s", got, want)
	}
}

// TestWorkGoesOnDuringCompaction is case 31: saves, edits, deletes, uses, undos
// and searches beside compactions, one after another.
func TestWorkGoesOnDuringCompaction(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None, SegmentBytes: 4000})
	stop := make(chan struct{})
	var tidy, work sync.WaitGroup
	tidy.Go(func() {
		for {
			if len(ownInputs(ts.Store)) > 0 {
				if err := foldLog(ts.Store); err != nil {
					t.Error(err)
					return
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	want := make([]map[memory.ID]string, 4)
	for w := range want {
		work.Go(func() {
			mine := map[memory.ID]string{}
			want[w] = mine
			for n := range 150 {
				id := memory.DeriveID(fmt.Append(nil, w, n%10))
				switch _, live := ts.Get(id); {
				case live && n%7 == 0:
					got, err := ts.try(wal.Tx{Verb: "forget", Changes: []wal.Change{{ID: id, Delete: true}}})
					if err == nil && n%2 == 0 {
						_, err = ts.Undo(context.Background(), history.Undo{Entry: got.Entry})
					} else {
						mine[id] = ""
					}
					if err != nil {
						t.Error(err)
					}
				default:
					mine[id] = fmt.Sprintf("text %d of %d", n, w)
					if _, err := ts.try(setOf(id, "content", string(record.Encode(mine[id])))); err != nil {
						t.Error(err)
					}
					ts.Use(table.Use{ID: id, Uses: 1})
					ts.finds("text")
				}
			}
		})
	}
	work.Wait()
	close(stop)
	tidy.Wait()
	for _, again := range []func(){func() {}, ts.reopen, ts.withoutSnapshot} {
		again()
		for _, mine := range want {
			for id, text := range mine {
				if text == "" {
					ts.wantGone(id)
				} else {
					ts.wantContent(id, text)
				}
			}
		}
	}
}

// TestAChangedInputIsReadAgain: what somebody wrote into a file after it was
// folded is neither passed over nor deleted.
func TestAChangedInputIsReadAgain(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.reopen()
	ts.save("plum")
	ts.compact()
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(ts.Wal().OwnDir(), record.SegmentName(1))
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(f, "{\"v\":1,\"op\":\"set\",\"id\":%q,\"d\":{\"content\":\"by hand\"}}\n", id)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	ts.open()
	ts.wantContent(id, "by hand")
	if got := ts.unlink(); len(got) != 0 {
		t.Errorf("unlinked %v", got)
	}
	ts.compact()
	if got := ts.unlink(); len(got) < 2 {
		t.Errorf("unlinked %v, want the changed file too", got)
	}
	ts.withoutSnapshot()
	ts.wantContent(id, "by hand")
}

// TestACopyIsMergedOnce is about what sync programs leave in our folder.
func TestACopyIsMergedOnce(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.edit(id, "content", "apple tart")
	ts.Use(table.Use{ID: id, Uses: 3})
	ts.reopen()
	b, err := os.ReadFile(ts.segments()[0])
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(ts.Wal().OwnDir(), "s-00000001 (conflicted copy).jsonl")
	if err := os.WriteFile(odd, b, 0o600); err != nil {
		t.Fatal(err)
	}
	ts.reopen()
	if got := ts.compact(); len(got.Inputs) != 2 || got.Repeated != 2 || got.Live != 1 {
		t.Errorf("%+v", got)
	}
	ts.reopen()
	if got := ts.unlink(); len(got) != 2 {
		t.Errorf("unlinked %v, want the segment and its copy", got)
	}
	ts.withoutSnapshot()
	ts.wantContent(id, "apple tart")
	if r, _ := ts.Get(id); r.UseCount() != 3 {
		t.Errorf("%d uses, want 3", r.UseCount())
	}
}

func TestOldHistoryGoes(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	id := ts.save("apple pie").ID()
	edited := ts.edit(id, "content", "apple tart")
	ts.reopen()
	ts.compact()
	now = now.Add(91 * day)
	got, err := ts.Unlink(context.Background(), now, now.Add(-90*day))
	if err != nil || len(got.Names) != 2 {
		t.Errorf("unlinked %+v, %v; want the segment and the history", got, err)
	}
	_, err = ts.Undo(context.Background(), history.Undo{Entry: edited.Entry})
	if memory.CodeOf(err) != memory.NotFound || !strings.Contains(err.Error(), "history") {
		t.Errorf("undo of what is not known any more: %v", err)
	}
	ts.withoutSnapshot()
	ts.wantContent(id, "apple tart")
}

func TestHeadersOfCompactedFilesSayWhatTheyReplace(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.reopen()
	ts.edit(id, "content", "apple tart")
	ts.reopen()
	got := ts.compact()
	h, err := compaction.Inspect(context.Background(), durable.OS{}, filepath.Join(ts.Wal().OwnDir(), got.Output))
	if err != nil {
		t.Fatal(err)
	}
	if h.From != 1 || h.Segment != 2 || h.First != 1 || h.Last != 2 || h.Generation != 1 || len(h.Replaces) != 2 || h.History != 2 {
		t.Errorf("header %s", record.Encode(h))
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(record.Encode(h), &raw); err != nil || raw["replaces"] == nil {
		t.Errorf("header %s, %v", record.Encode(h), err)
	}
}

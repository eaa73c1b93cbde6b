package stm_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

func (ts *testStore) refresh() wal.ForeignChange {
	ts.t.Helper()
	got, err := ts.Refresh(context.Background())
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

// peerFile writes a file into the folder of the other device, as a sync tool
// does: under another name first.
func (ts *testStore) peerFile(name, content string) string {
	ts.t.Helper()
	name = filepath.Join(ts.root, "data", "stm", "otherdev", name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		ts.t.Fatal(err)
	}
	temp := filepath.Join(filepath.Dir(name), ".syncthing."+filepath.Base(name)+".tmp")
	if err := os.WriteFile(temp, []byte(content), 0o600); err != nil {
		ts.t.Fatal(err)
	}
	if err := os.Rename(temp, name); err != nil {
		ts.t.Fatal(err)
	}
	return name
}

// wantWarning wants exactly one warning that holds text, or none for "".
func (ts *testStore) wantWarning(text string) {
	ts.t.Helper()
	got := ts.Status().Warnings
	if text == "" && len(got) > 0 || text != "" && (len(got) != 1 || !strings.Contains(got[0], text)) {
		ts.t.Errorf("warnings %q, want %q alone", got, text)
	}
}

func putLine(seq uint64, n int, content string) string {
	return lineOf(seq, time.Now(), record.OpPut, idOf(n), string(record.Encode(map[string]string{"content": content})))
}

func TestRefreshTakesWhatArrives(t *testing.T) {
	ts := openStore(t, wal.Options{})
	mine := ts.save("apple mine").ID()
	first := putLine(1, 1, "apple pie")
	ts.peerFile("s-00000001.jsonl", first)
	got := ts.refresh()
	if got.Lines != 1 || got.Memories != 1 || len(got.Entries) != 1 || got.Entries[0].IDs[0] != idOf(1) || got.Entries[0].Verb != "save" {
		t.Errorf("arrived: %+v", got)
	}
	ts.wantContent(idOf(1), "apple pie")
	ts.wantFound("pie", idOf(1))

	// The file grows, and a second one comes.
	ts.peerFile("s-00000001.jsonl", first+lineOf(2, time.Now(), record.OpSet, idOf(1), `{"content":"apple cake"}`))
	ts.peerFile("s-00000002.jsonl", lineOf(3, time.Now(), record.OpDelete, idOf(3), ``)+putLine(4, 2, "pear"))
	if got := ts.refresh(); got.Lines != 3 {
		t.Errorf("%d lines arrived, want 3: %+v", got.Lines, got)
	}
	ts.wantFound("cake", idOf(1))
	ts.wantFound("pie")
	ts.wantFound("pear", idOf(2))
	if got := ts.refresh(); got.Lines != 0 {
		t.Errorf("%d lines arrived again", got.Lines)
	}

	// What arrived is in the journal, and a restart has it from the snapshot.
	ts.undo(ts.entryOf(idOf(2)))
	ts.wantGone(idOf(2))
	ts.reopen()
	if got := ts.Status(); got.Snapshot != "used" || got.Recovery.Applied > 0 {
		t.Errorf("after a restart: snapshot %s, %+v", got.Snapshot, got.Recovery)
	}
	ts.wantFound("cake", idOf(1))
	ts.wantGone(idOf(2))
	ts.wantContent(mine, "apple mine")
}

// entryOf is the latest journal entry about a memory.
func (ts *testStore) entryOf(id memory.ID) (tx string) {
	ts.t.Helper()
	defer ts.Wal().Journal.Read()()
	for _, r := range ts.Wal().Journal.Refs {
		l, err := ts.Wal().Journal.ReadLine(r.At, r.Stamp)
		if err != nil {
			ts.t.Fatal(err)
		}
		for _, c := range l.Changes {
			if c.ID == id {
				tx = l.Tx.String()
			}
		}
	}
	return tx
}

func TestAnArrivalOfAnOlderValueShowsInTheIndex(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.peerFile("s-00000001.jsonl", lineOf(1, time.Now().Add(-time.Hour), record.OpPut, idOf(1), `{"content":"apple","source":"orchard"}`))
	ts.refresh()
	ts.edit(idOf(1), "content", "pear")
	rev, _ := ts.Get(idOf(1))
	// Older than the edit, but of another field.
	ts.peerFile("s-00000002.jsonl", lineOf(2, time.Now().Add(-time.Minute), record.OpSet, idOf(1), `{"content":"plum","source":"market"}`))
	ts.refresh()
	ts.wantContent(idOf(1), "pear")
	ts.wantFound("market", idOf(1))
	ts.wantFound("orchard")
	if now, _ := ts.Get(idOf(1)); now.Rev() == rev.Rev() {
		t.Error("the memory has other fields under the same revision")
	}
}

// Whoever analysed a text is too late when another device's older change has
// come meanwhile, though the revision's stamp is the same.
func TestAnIndexerThatIsLateDoesNotIndexWhatWas(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.put(idOf(1), "pear")
	cell := ts.Table.Cell(idOf(1).Bytes())
	row := cell.Row.Load()
	terms := ts.Words.Analyze(row.JSON())
	ts.peerFile("s-00000001.jsonl", lineOf(1, time.Now().Add(-time.Minute), record.OpSet, idOf(1), `{"source":"market"}`))
	ts.refresh()
	ts.Words.Update(cell, row, terms)
	ts.wantFound("market", idOf(1))
}

func TestALineThatIsStillBeingWrittenIsTakenLater(t *testing.T) {
	whole := putLine(1, 1, "one") + putLine(2, 2, "two")
	for _, c := range []struct{ name, cut string }{
		{"in the middle of a line", whole[:len(whole)-20]},
		{"before the LF", whole[:len(whole)-1]},
		{"room made with zeros", whole[:len(whole)-40] + strings.Repeat("\x00", 40)},
		{"nothing but zeros", strings.Repeat("\x00", len(whole))},
		{"an empty file", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, start := range []bool{false, true} {
				ts := openStore(t, wal.Options{})
				ts.save("mine")
				name := ts.peerFile("s-00000001.jsonl", c.cut)
				if ts.refresh(); start {
					ts.reopen()
				}
				ts.wantWarning("")
				// In place, as git and rsync --inplace do it.
				if err := os.WriteFile(name, []byte(whole), 0o600); err != nil {
					t.Fatal(err)
				}
				ts.refresh()
				ts.wantContent(idOf(1), "one")
				ts.wantContent(idOf(2), "two")
				if got := ts.Status().Recovery; got.TornTail+got.NulTail+got.Quarantined > 0 {
					t.Errorf("still counted: %+v", got)
				}
				ts.reopen()
				ts.wantContent(idOf(2), "two")
			}
		})
	}
}

// Case 70.
func TestWhatWasMergedStaysWhateverBecomesOfTheFile(t *testing.T) {
	whole := putLine(1, 1, "one") + putLine(2, 2, "two") + putLine(3, 3, "three")
	for _, c := range []struct {
		name, warning string
		harm          func(t *testing.T, name string)
	}{
		{"shrunk", "is shorter", func(t *testing.T, name string) { rewriteFile(t, name, whole[:len(whole)/2]) }},
		{"emptied", "is shorter", func(t *testing.T, name string) { rewriteFile(t, name, "") }},
		{"gone", "is missing", func(t *testing.T, name string) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}},
		{"damaged in the middle", "damaged lines", func(t *testing.T, name string) { rewriteFile(t, name, strings.Replace(whole, "two", "tow", 1)) }},
		{"replaced by a folder", "is missing", func(t *testing.T, name string) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(name, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ts.save("mine")
			name := ts.peerFile("s-00000001.jsonl", whole)
			ts.refresh()
			c.harm(t, name)
			ts.refresh()
			wantAll := func() {
				t.Helper()
				for n, content := range []string{"one", "two", "three"} {
					ts.wantContent(idOf(n+1), content)
				}
			}
			wantAll()
			ts.wantWarning(c.warning)
			ts.reopen()
			wantAll()
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			ts.peerFile("s-00000001.jsonl", whole+putLine(4, 4, "four"))
			ts.refresh()
			wantAll()
			ts.wantContent(idOf(4), "four")
			ts.wantWarning("")
		})
	}
}

func rewriteFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Case 70: the other device has compacted, so its segments go.
func TestFilesThatACompactedOneStandsForMayGo(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("mine")
	first, second := putLine(1, 1, "one"), putLine(2, 2, "two")
	one, two := ts.peerFile("s-00000001.jsonl", first), ts.peerFile("s-00000002.jsonl", second)
	ts.refresh()
	ts.peerFile("c-00000001-00000002.g1.jsonl", peerHeader(record.Header{Segment: 2, First: 1, Last: 2})+first+second)
	ts.refresh()
	for _, name := range []string{one, two} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	ts.refresh()
	ts.wantWarning("")
	ts.reopen()
	ts.wantWarning("")
	ts.wantContent(idOf(1), "one")
	if got := ts.entryOf(idOf(2)); got == "" {
		t.Error("the journal has lost an entry with its file")
	}
}

func peerHeader(h record.Header) string {
	h.Dev, h.Format = "otherdev", record.FormatVersion
	dev, _ := record.ParseDevice(h.Dev)
	return string(record.MetaLine(record.OpSegment, record.Stamp{T: uint64(time.Now().UnixMilli()) << 16, Dev: dev}, h))
}

// Case 72.
func TestClocksThatAreFarOff(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	ts.put(idOf(3), "three")
	year := 365 * 24 * time.Hour
	ts.peerFile("s-00000001.jsonl", lineOf(1, now.Add(10*year), record.OpPut, idOf(1), `{"content":"from the future"}`)+
		lineOf(2, now.Add(-10*year), record.OpPut, idOf(2), `{"content":"from the past"}`)+
		lineOf(3, now.Add(-10*year), record.OpSet, idOf(3), `{"content":"stale"}`))
	got := ts.refresh()
	if want := now.Add(10*year - record.MaxSkew); !got.Due.Equal(want) {
		t.Errorf("next look at %v, want %v", got.Due, want)
	}
	ts.wantGone(idOf(1))
	ts.wantContent(idOf(2), "from the past")
	ts.wantContent(idOf(3), "three")
	ts.wantWarning("ignores the line until then")
	if at := ts.edit(idOf(3), "content", "four").At; at.Sub(now).Abs() > time.Second {
		t.Errorf("our clock went to %v", at)
	}
	ts.reopen()
	ts.wantGone(idOf(1))
	now = now.Add(10 * year)
	ts.refresh()
	ts.wantContent(idOf(1), "from the future")
	ts.wantWarning("")
	if got := ts.refresh(); got.Lines > 0 || !got.Due.IsZero() {
		t.Errorf("taken again: %+v", got)
	}
}

// Case 72.
func TestOwnClockFarAheadIsToldAndSavesGoOn(t *testing.T) {
	now := time.Date(2036, 3, 1, 12, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	id := ts.save("saved with a wrong clock").ID()
	now = now.AddDate(-10, 0, 0)
	ts.reopen()
	ts.wantWarning("check the clock of this device")
	ts.edit(id, "content", "changed with a right one")
	ts.reopen()
	ts.wantContent(id, "changed with a right one")
}

// Case 75.
func TestConflictCopiesAreMergedOnce(t *testing.T) {
	for _, name := range []string{
		"s-00000001.sync-conflict-20260301-120000-ABCDEFG.jsonl",
		"s-00000001 2.jsonl",
		"s-00000001 (conflicted copy 2026-03-01).jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			mine := ts.save("mine").ID()
			ts.Use(table.Use{ID: mine, Uses: 3})
			original := ts.peerFile("s-00000001.jsonl", putLine(1, 1, "one")+useLine(2, idOf(1), 4))
			ts.refresh()
			content, err := os.ReadFile(original)
			if err != nil {
				t.Fatal(err)
			}
			ts.peerFile(name, string(content)+putLine(3, 2, "only in the copy"))
			if got := ts.refresh(); got.Lines != 1 {
				t.Errorf("%d new lines, want 1", got.Lines)
			}
			check := func() {
				t.Helper()
				ts.wantContent(idOf(2), "only in the copy")
				ts.wantUses(idOf(1), 4)
				ts.wantUses(mine, 3)
				ts.wantWarning("copy that a sync tool made of a log file")
			}
			check()
			ts.reopen()
			check()
			ts.withoutSnapshot()
			check()
			if err := os.Remove(filepath.Join(filepath.Dir(original), name)); err != nil {
				t.Fatal(err)
			}
			ts.refresh()
			ts.wantWarning("")
			ts.wantContent(idOf(2), "only in the copy")
		})
	}
}

func useLine(seq uint64, id memory.ID, uses int64) string {
	dev, _ := record.ParseDevice("otherdev")
	l := record.Line{Seq: seq, Stamp: record.Stamp{T: uint64(time.Now().UnixMilli()) << 16, Dev: dev}, Op: record.OpUse,
		Data: record.EncodeUse(map[[16]byte]record.UseTotal{id.Bytes(): {Uses: uses}})}
	return string(l.Append(nil))
}

func (ts *testStore) wantUses(id memory.ID, want int64) {
	ts.t.Helper()
	row, ok := ts.Get(id)
	if !ok || row.UseCount() != want {
		ts.t.Errorf("%d uses of %s, want %d", row.UseCount(), id, want)
	}
}

func TestForeignFilesAreNeverWritten(t *testing.T) {
	ts := openStore(t, wal.Options{})
	content := putLine(1, 1, "one") + "{damaged\n" + putLine(2, 2, "two")[:30]
	names := []string{ts.peerFile("s-00000001.jsonl", content), ts.peerFile("s-00000002.sync-conflict-1.jsonl", content), ts.peerFile(".durable-left.tmp", "x")}
	before := map[string]os.FileInfo{}
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = info
	}
	ts.refresh()
	ts.edit(idOf(1), "content", "changed here")
	ts.reopen()
	ts.refresh()
	ts.forget(idOf(1))
	ts.withoutSnapshot()
	for name, was := range before {
		info, err := os.Lstat(name)
		if err != nil || !os.SameFile(info, was) || !info.ModTime().Equal(was.ModTime()) {
			t.Errorf("%s was touched: %v", name, err)
		}
		if b, _ := os.ReadFile(name); name != names[2] && !bytes.Equal(b, []byte(content)) {
			t.Errorf("%s was changed", name)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(names[0]))
	if err != nil || len(entries) != len(names) {
		t.Errorf("%d files in the other device's folder, want %d: %v", len(entries), len(names), err)
	}
}

package stm_test

import (
	"bytes"
	"context"
	"hash/maphash"
	"os"
	"path/filepath"
	"testing"
	"time"

	"emberd/compaction"
	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// forgetText has memories forgotten as somebody asks for it.
func (ts *testStore) forgetText(ids ...memory.ID) wal.Receipt {
	ts.t.Helper()
	tx := wal.Tx{Verb: "forget"}
	for _, id := range ids {
		row, ok := ts.Get(id)
		if !ok {
			ts.t.Fatalf("%s is not there", id)
		}
		tx.Changes = append(tx.Changes, wal.Change{ID: id, Delete: true, Text: row.Content()})
	}
	return ts.commit(tx)
}

// wantForgotten wants exactly these memories to have been forgotten with a text.
func (ts *testStore) wantForgotten(text string, ids ...memory.ID) {
	ts.t.Helper()
	found := ts.ForgottenAs(text)
	if len(found) != len(ids) {
		ts.t.Errorf("%q was forgotten as %v, want %v", text, found, ids)
		return
	}
	for i, f := range found {
		if f.ID != ids[i] {
			ts.t.Errorf("%q was forgotten as %v, want %v", text, found, ids)
		}
	}
}

func TestATextIsKnownAgainHoweverItIsWritten(t *testing.T) {
	const nfc, nfd = "Caf\u00e9 cr\u00e8me", "Cafe\u0301 cre\u0300me"
	for _, tt := range []struct {
		name, forgotten, text string
		same                  bool
	}{
		{"to the byte", "apple pie", "apple pie", true},
		{"case", "Apple PIE", "aPPLE pie", true},
		{"white space", "  apple\t\npie\r\n", "apple pie", true},
		{"a space that does not break", "apple\u00a0pie", "apple pie", true},
		{"an ideographic space", "苹果\u3000派", "苹果 派", true},
		{"decomposed", nfc, nfd, true},
		{"composed, in capitals", nfd, "CAF\u00c9 CR\u00c8ME", true},
		{"sharp s", "Straße", "STRASSE", true},
		{"capital sharp s", "STRA\u1e9eE", "straße", true},
		{"final sigma", "ὀδός", "ὈΔΌΣ", true},
		{"a dotted capital i and its parts", "\u0130stanbul", "I\u0307stanbul", true},
		{"a dotless i is another letter", "\u0131stanbul", "istanbul", false},
		{"full width is another form", "ａｐｐｌｅ", "apple", false},
		{"full width in capitals", "ａｐｐｌｅ", "ＡＰＰＬＥ", true},
		{"another word", "apple pie", "apple pies", false},
		{"words apart", "applepie", "apple pie", false},
		{"a mark", "apple pie", "apple pie.", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{Durability: wal.None})
			id := ts.save(tt.forgotten).ID()
			ts.wantForgotten(tt.text)
			ts.forgetText(id)
			if tt.same {
				ts.wantForgotten(tt.text, id)
			} else {
				ts.wantForgotten(tt.text)
			}
		})
	}
}

// afterEverything runs check on a store as it is, and as restarts and compactions
// leave it.
func (ts *testStore) afterEverything(check func(when string)) {
	ts.t.Helper()
	check("at once")
	ts.reopen()
	check("with a snapshot")
	ts.withoutSnapshot()
	check("from the log")
	ts.compact()
	check("after compaction")
	ts.unlink()
	ts.withoutSnapshot()
	check("from the compacted log")
	ts.save("something else")
	ts.reopen()
	ts.dropping()
	ts.unlink()
	ts.withoutSnapshot()
	check("where tombstones may be dropped")
}

func TestWhatWasForgottenStaysSo(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		do    func(ts *testStore, id memory.ID)
		holds bool
	}{
		"forgotten": {func(ts *testStore, id memory.ID) { ts.forgetText(id) }, true},
		"forgotten with another": {func(ts *testStore, id memory.ID) {
			ts.forgetText(id, ts.save("apple pie").ID())
		}, true},
		"both restored, one forgotten": {func(ts *testStore, id memory.ID) {
			other := ts.save("apple pie").ID()
			ts.undo(ts.forgetText(id, other).Entry)
			ts.forgetText(other)
		}, false},
		"by itself":           {func(ts *testStore, id memory.ID) { ts.forget(id) }, false},
		"purged":              {func(ts *testStore, id memory.ID) { ts.purge(id) }, true},
		"forgotten, purged":   {func(ts *testStore, id memory.ID) { ts.forgetText(id); ts.purge(id) }, true},
		"by itself, purged":   {func(ts *testStore, id memory.ID) { ts.forget(id); ts.purge(id) }, true},
		"undone":              {func(ts *testStore, id memory.ID) { ts.undo(ts.forgetText(id).Entry) }, false},
		"restored":            {func(ts *testStore, id memory.ID) { ts.forgetText(id); ts.restore(id) }, false},
		"restored, collected": {func(ts *testStore, id memory.ID) { ts.forgetText(id); ts.restore(id); ts.forget(id) }, false},
		"forgotten twice":     {func(ts *testStore, id memory.ID) { ts.forgetText(id); ts.restore(id); ts.forgetText(id) }, true},
		"saved again": {func(ts *testStore, id memory.ID) {
			ts.forgetText(id)
			ts.commit(wal.Tx{Verb: "save", Again: []memory.ID{id}, Changes: []wal.Change{{ID: idOf(9), Set: textOf("quixotic zeppelin")}}})
		}, false},
		"saved again, undone": {func(ts *testStore, id memory.ID) {
			ts.forgetText(id)
			ts.undo(ts.commit(wal.Tx{Verb: "save", Again: []memory.ID{id}, Changes: []wal.Change{{ID: idOf(9), Set: textOf("quixotic zeppelin")}}}).Entry)
		}, false},
		"saved again, purged": {func(ts *testStore, id memory.ID) {
			ts.forgetText(id)
			ts.commit(wal.Tx{Verb: "save", Again: []memory.ID{id}, Changes: []wal.Change{{ID: idOf(9), Set: textOf("quixotic zeppelin")}}})
			ts.purge(id)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := now
			ts := openStore(t, wal.Options{Durability: wal.None, Now: func() time.Time { return now }})
			id := ts.save("quixotic zeppelin").ID()
			c.do(ts, id)
			now = now.Add(100 * day) // no trash, no history
			ts.afterEverything(func(when string) {
				var want []memory.ID
				if c.holds {
					want = []memory.ID{id}
				}
				if got := ts.ForgottenAs("Quixotic Zeppelin"); len(got) != len(want) {
					t.Errorf("%s it was forgotten as %v, want %v", when, got, want)
				}
			})
		})
	}
}

func (ts *testStore) restore(id memory.ID) {
	ts.t.Helper()
	if _, err := ts.Restore(context.Background(), []memory.ID{id}, memory.Actor{}); err != nil {
		ts.t.Fatal(err)
	}
}

// Of a purged text nothing is left but its fingerprint, which nobody can read.
func TestOnlyTheFingerprintIsLeftOfAPurgedText(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("quixotic zeppelin").ID()
	ts.forgetText(id)
	ts.purge(id)
	ts.reopen()
	ts.wantNowhere("quixotic", "zeppelin")
	ts.wantForgotten("quixotic zeppelin", id)
	key := filepath.Join(ts.root, "data", "devices", ts.Wal().Device.String()+".key")
	info, err := os.Stat(key)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 || info.Size() != 32 {
		t.Errorf("the key has mode %v and %d bytes, want 0600 and 32", info.Mode(), info.Size())
	}
}

// Another device knows a forgotten text by the key file beside the log; without it,
// or with half of it, nothing is refused and nothing fails.
func TestATextForgottenOnOneDeviceIsKnownOnAnother(t *testing.T) {
	from := openStore(t, wal.Options{})
	id := from.save("quixotic zeppelin").ID()
	from.forgetText(id)
	if err := from.Close(); err != nil {
		t.Fatal(err)
	}
	ts := openStore(t, wal.Options{})
	b, err := os.ReadFile(from.segments()[0])
	if err != nil {
		t.Fatal(err)
	}
	copyTo := func(dir, name string, b []byte) {
		t.Helper()
		at := filepath.Join(ts.root, "data", dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copyTo(filepath.Join("stm", from.Wal().Device.String()), record.SegmentName(1), b)
	ts.refresh()
	ts.wantForgotten("quixotic zeppelin")
	key, err := os.ReadFile(from.Wal().Prints.KeyPath(from.Wal().Device))
	if err != nil {
		t.Fatal(err)
	}
	copyTo("devices", from.Wal().Device.String()+".key", key[:16])
	ts.refresh()
	ts.wantForgotten("quixotic zeppelin")
	copyTo("devices", from.Wal().Device.String()+".key", key)
	ts.refresh()
	ts.wantForgotten("quixotic zeppelin", id)
	ts.reopen()
	ts.wantForgotten("quixotic zeppelin", id)

	// Saved again here, it may be saved there too.
	ts.commit(wal.Tx{Verb: "save", Again: []memory.ID{id}, Changes: []wal.Change{{ID: idOf(9), Set: textOf("quixotic zeppelin")}}})
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	from.open()
	for _, name := range ts.segments() {
		if filepath.Base(filepath.Dir(name)) != ts.Wal().Device.String() {
			continue
		}
		if b, err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(from.root, "data", "stm", ts.Wal().Device.String(), filepath.Base(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	from.refresh()
	from.wantForgotten("quixotic zeppelin")
	if r, ok := from.Get(idOf(9)); !ok || r.Content() != "quixotic zeppelin" {
		t.Error("the text that was saved again has not come")
	}
}

// An earlier version passes over what it does not know of a line; a later start
// reads lines without fingerprints as ever.
func TestTheLineOfAForgottenText(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.forgetText(id)
	b, err := os.ReadFile(ts.segments()[0])
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.TrimSpace(b[bytes.LastIndex(bytes.TrimSpace(b), []byte("\n")):])
	l, err := record.Decode(last)
	if err != nil {
		t.Fatal(err)
	}
	if l.Extra || l.Changes[0].Print == nil || !bytes.Contains(last, []byte(`,"fp":"`+l.Changes[0].Print.String()+`","prev":`)) {
		t.Errorf("the line is %s", last)
	}
	if again := l.Append(nil); !bytes.Equal(bytes.TrimSpace(again), last) {
		t.Errorf("it is written again as %s, was %s", again, last)
	}
}

// A delete with a fingerprint that comes after a later delete changes nothing about
// what is in the trash.
func TestTheTrashHoldsTheLatestOfTwoDeletes(t *testing.T) {
	begin := time.Now().Add(-time.Hour)
	dev, _ := record.ParseDevice("otherdev")
	stamped := func(seq uint64, c record.Change) string {
		l := record.Line{Seq: seq, Stamp: record.Stamp{T: uint64(begin.Add(time.Duration(seq)*time.Minute).UnixMilli())<<16 | seq, Dev: dev}, Op: c.Op, Verb: "test", Changes: []record.Change{c}}
		l.Tx = l.Stamp
		return string(l.Append(nil))
	}
	id := idOf(1)
	gone := func(print *record.Fingerprint, text string) record.Change {
		return record.Change{Op: record.OpDelete, ID: id, Print: print, Prev: record.EncodePrev(record.Stamp{T: 1, Dev: dev}, nil, record.Encode(map[string]string{"content": text}))}
	}
	put := stamped(1, record.Change{Op: record.OpPut, ID: id, Data: []byte(`{"content":"apple pie"}`)})
	cut := stamped(2, record.Change{Op: record.OpDelete, ID: id, Print: &record.Fingerprint{1}})
	first := stamped(2, gone(&record.Fingerprint{1}, "apple pie"))
	last := stamped(3, gone(nil, "apple pie with cream"))
	for name, lines := range map[string][]string{
		"in order":                    {put, first, last},
		"the later one first":         {put, last, first},
		"cut, in order":               {put, cut, last},
		"cut, the later one first":    {put, last, cut},
		"purged, the later one first": {put, last, stamped(2, record.Change{Op: record.OpPurge, ID: id, Print: &record.Fingerprint{1}})},
	} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ts.other(lines...)
			ts.reopen()
			if m, err := ts.ReadTrashed(id); err != nil || m.Content != "apple pie with cream" {
				t.Errorf("in the trash is %q, %v", m.Content, err)
			}
		})
	}
}

// A fingerprint where only a later version may put one makes a line that is kept as it
// is.
func TestAFingerprintOfWhatIsNotForgottenIsOfALaterVersion(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("apple pie")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	id := idOf(1)
	l := record.Line{Seq: 10, Stamp: record.Stamp{T: uint64(time.Now().UnixMilli()) << 16, Dev: ts.Wal().Device}, Op: record.OpPut, Verb: "save",
		Changes: []record.Change{{Op: record.OpPut, ID: id, Data: []byte(`{"content":"plum tart"}`), Print: &record.Fingerprint{1}}}}
	l.Tx = l.Stamp
	odd := l.Append(nil)
	name := ts.segments()[0]
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(b, odd...), 0o600); err != nil {
		t.Fatal(err)
	}
	ts.open()
	ts.edit(id, "content", "cherry tart")
	ts.reopen()
	output := ts.compact().Output
	ts.unlink()
	ts.wantContent(id, "cherry tart")
	if b, err = os.ReadFile(filepath.Join(ts.Wal().Writer.Dir, output)); err != nil || !bytes.Contains(b, odd) {
		t.Errorf("the compacted file lacks %s (%v):\n%s", odd, err, b)
	}
}

// Compaction is not believed if what it wrote has another fingerprint, lifts another,
// or lacks one.
func TestCompactionComparesFingerprints(t *testing.T) {
	ts := openStore(t, wal.Options{})
	seed := maphash.MakeSeed()
	folded := func(print *record.Fingerprint, lift ...memory.ID) compaction.Sum {
		t.Helper()
		f := compaction.NewFold(ts.Wal().Device, nil)
		at := record.Stamp{T: 1 << 16, Dev: ts.Wal().Device}
		del := record.Line{Seq: 1, Stamp: at, Op: record.OpDelete, Changes: []record.Change{{Op: record.OpDelete, ID: idOf(1), Print: print}}}
		later := record.Line{Seq: 2, Stamp: record.Stamp{T: 2 << 16, Dev: ts.Wal().Device}, Op: record.OpAll, Lift: lift}
		for _, l := range []record.Line{del, later} {
			if err := f.Add(&l); err != nil {
				t.Fatal(err)
			}
		}
		return f.Sum(seed)
	}
	want := folded(&record.Fingerprint{1})
	if err := want.Same(folded(&record.Fingerprint{1})); err != nil {
		t.Errorf("the same lines differ: %v", err)
	}
	for name, other := range map[string]compaction.Sum{
		"no fingerprint":      folded(nil),
		"another fingerprint": folded(&record.Fingerprint{2}),
		"one that is lifted":  folded(&record.Fingerprint{1}, idOf(1)),
		"another lifted":      folded(&record.Fingerprint{1}, idOf(2)),
	} {
		if want.Same(other) == nil {
			t.Errorf("%s: no difference", name)
		}
	}
}

package stm_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/logcheck"
	"emberd/stm/quarantine"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// content is the text of a memory, "" when it is not there.
func (ts *testStore) content(id memory.ID) string {
	row, ok := ts.Get(id)
	if !ok {
		return ""
	}
	return row.Content()
}

// misspell replaces text in the log without mending the checksum.
func (ts *testStore) misspell(from, to string) {
	ts.t.Helper()
	ts.damage(func(b []byte) []byte {
		if !bytes.Contains(b, []byte(from)) {
			ts.t.Fatalf("the log does not hold %q", from)
		}
		return bytes.Replace(b, []byte(from), []byte(to), 1)
	})
}

// only returns the one line in the quarantine.
func (ts *testStore) only() quarantine.Line {
	ts.t.Helper()
	all, err := ts.Quarantine()
	if err != nil || len(all) != 1 {
		ts.t.Fatalf("%d lines in the quarantine (%v), want 1", len(all), err)
	}
	return all[0]
}

// settled checks that nothing is in the quarantine or told about, now and after
// starts with and without the snapshot.
func (ts *testStore) settled() {
	ts.t.Helper()
	for _, when := range []string{"at once", "after a start", "after a start without snapshot"} {
		switch when {
		case "after a start":
			ts.reopen()
		case "after a start without snapshot":
			ts.withoutSnapshot()
		}
		all, err := ts.Quarantine()
		st := ts.Status()
		if err != nil || len(all) != 0 || st.Recovery.Quarantined != 0 || st.Recovery.Gaps != 0 || len(st.Warnings) != 0 {
			ts.t.Errorf("%s: %d in the quarantine (%v), status %+v", when, len(all), err, st.Recovery)
		}
	}
}

func (ts *testStore) accept(name string) wal.Receipt {
	ts.t.Helper()
	_, got, err := ts.Accept(ts.t.Context(), name, memory.Actor{Via: "test"})
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

func TestAcceptedLineCounts(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("the harbor wall")
	ts.save("something else")
	ts.misspell("harbor", "harbour")
	if _, ok := ts.Get(a.ID()); ok {
		t.Fatal("a damaged line was applied")
	}
	q := ts.only()
	if q.ID != a.ID() || q.Op != record.OpPut || q.Verb != "save" || q.Reason != "checksum does not match" || q.Hindrance != "" || q.At.IsZero() {
		t.Errorf("in the quarantine is %+v", q)
	}
	if fields := ts.Acceptance(q); len(fields) != 2 || string(fields[0].To) != `"the harbour wall"` {
		t.Errorf("accepting it would change %v", fields)
	}
	got := ts.accept(q.Name)
	if ts.content(a.ID()) != "the harbour wall" || got.Entry == "" || len(ts.finds("harbour")) != 1 {
		t.Errorf("the memory holds %q, entry %q", ts.content(a.ID()), got.Entry)
	}
	ts.settled()
	if ts.content(a.ID()) != "the harbour wall" {
		t.Errorf("after starts the memory holds %q", ts.content(a.ID()))
	}
	ts.undo(got.Entry)
	if _, ok := ts.Get(a.ID()); ok {
		t.Error("the acceptance was undone, and the memory is there")
	}
}

func TestDroppedLineIsNotCountedAgain(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("the harbor wall")
	b := ts.save("something else")
	ts.misspell("harbor", "harbour")
	if err := ts.Drop(ts.only().Name); err != nil {
		t.Fatal(err)
	}
	ts.settled()
	if ts.Len() != 1 || ts.content(b.ID()) != "something else" {
		t.Errorf("%d memories are left", ts.Len())
	}
}

// Compaction drops a damaged line that was decided about, and keeps one that was
// not.
func TestCompactionDropsWhatWasDecided(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("the harbor wall")
	ts.save("the old lighthouse")
	c := ts.save("something else")
	ts.misspell("harbor", "harbour")
	if err := ts.Drop(ts.only().Name); err != nil {
		t.Fatal(err)
	}
	ts.misspell("lighthouse", "lighthuse")
	if got := ts.compact(); got.Verbatim != 1 {
		t.Errorf("%d lines stay as they are, want the one that nobody decided about", got.Verbatim)
	}
	ts.unlink()
	ts.wantNowhere("harbour", "harbor")
	for range 2 {
		ts.withoutSnapshot()
		if got := ts.Status().Recovery; got.Quarantined != 1 || got.Gaps != 0 || ts.Len() != 1 || ts.content(c.ID()) != "something else" {
			t.Errorf("recovery %+v, %d memories", got, ts.Len())
		}
	}
	if c, err := logcheck.CheckDecided(t.Context(), durable.OS{}, filepath.Join(ts.root, "data"), filepath.Join(ts.root, "state"), ts.Wal().Now()); err != nil || c.Wrong() != 1 {
		t.Errorf("the log has %d faults, want the line: %v", c.Wrong(), err)
	}
}

// What was written later stays: an accepted line counts at its own stamp.
func TestAcceptedLineYieldsToLaterOnes(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("one")
	ts.edit(a.ID(), "content", "two damaged")
	ts.edit(a.ID(), "content", "three")
	ts.misspell(`"d":{"content":"two damaged"`, `"d":{"content":"two Damaged"`)
	if got := ts.accept(ts.only().Name); got.Entry != "" || ts.content(a.ID()) != "three" {
		t.Errorf("accepting wrote entry %q, and the memory holds %q", got.Entry, ts.content(a.ID()))
	}
	ts.settled()
}

func TestWhatCannotBeAccepted(t *testing.T) {
	for _, c := range []struct {
		name, from, to, want string
	}{
		{"not JSON", `"op":"put"`, `"op":"put`, "the line is not valid JSON"},
		{"another operation", `"op":"put"`, `"op":"use"`, `emberd does not accept operation "use"`},
		{"not a memory", `"content":"one"`, `"content":[1]`, "cannot unmarshal array"},
		{"a later version", `"v":1,"q":1`, `"v":3,"q":1`, "the line has the unsupported version 3"},
		{"a member twice", `"op":"put"`, `"op":"put","op":"put"`, "the line contains the same field twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ts.save("one")
			ts.misspell(c.from, c.to)
			q := ts.only()
			_, _, err := ts.Accept(t.Context(), q.Name, memory.Actor{})
			if memory.CodeOf(err) != memory.Invalid || !bytes.Contains([]byte(err.Error()), []byte(c.want)) || q.Hindrance == "" {
				t.Errorf("accepting says %v, hindrance %q; want %s", err, q.Hindrance, c.want)
			}
			if err := ts.Drop(q.Name); err != nil {
				t.Error(err)
			}
			ts.settled()
		})
	}
}

func TestQuarantineNames(t *testing.T) {
	ts := openStore(t, wal.Options{})
	for name, want := range map[string]memory.Code{
		"s-00000001.jsonl@5": memory.NotFound, "decided.jsonl": memory.Invalid, "../device.json@1": memory.Invalid, "": memory.Invalid,
	} {
		if err := ts.Drop(name); memory.CodeOf(err) != want {
			t.Errorf("drop %q: %v, want %s", name, err, want)
		}
	}
}

// A changed line of a memory that is not there cannot come back by itself.
func TestAcceptedEditNeedsItsMemory(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("one")
	ts.edit(a.ID(), "content", "two damaged")
	ts.misspell(`"d":{"content":"two damaged"`, `"d":{"content":"two Damaged"`)
	if ts.content(a.ID()) != "one" {
		t.Fatal("the damaged edit counts")
	}
	forgotten := ts.forget(a.ID())
	if got := ts.accept(ts.only().Name); got.Entry != "" {
		t.Error("an edit of a memory that was forgotten since was written")
	}
	ts.undo(forgotten.Entry)
	if ts.content(a.ID()) != "one" {
		t.Errorf("the memory holds %q", ts.content(a.ID()))
	}
}

// After a restore the log goes on under another name, whatever the folders' inodes are.
func TestForgottenDeviceIsMintedAnew(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("from the first device")
	was := ts.Status().Device
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds nothing to forget
		if err := device.ForgetDevice(durable.OS{}, filepath.Join(ts.root, "state"), ""); err != nil {
			t.Fatal(err)
		}
	}
	if ts.open(); ts.Status().Device == was || ts.content(a.ID()) != "from the first device" {
		t.Errorf("device %s after %s, the memory holds %q", ts.Status().Device, was, ts.content(a.ID()))
	}
}

// What cannot be the name of a copy is refused before the disk is asked for it.
func TestWhatNamesNoDamagedLine(t *testing.T) {
	ts := openStore(t, wal.Options{})
	for _, name := range []string{"", "@", "decided.jsonl", "../s-00000001.jsonl@1", "s-00000001.jsonl@", "s-00000001.jsonl@-1", "\x00@1", ".s@1", strings.Repeat("s", 300) + "@1"} {
		if _, err := ts.Quarantined(name); memory.CodeOf(err) != memory.Invalid {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	if _, err := ts.Quarantined("s-00000001.jsonl@1"); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("one that is not there: %v", err)
	}
}

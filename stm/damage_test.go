package stm_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// damage applies mangle to the only segment and opens again without snapshot.
func (ts *testStore) damage(mangle func([]byte) []byte) {
	ts.t.Helper()
	if err := ts.Close(); err != nil {
		ts.t.Fatal(err)
	}
	names := ts.segments()
	name := names[len(names)-1]
	b, err := os.ReadFile(name)
	if err != nil {
		ts.t.Fatal(err)
	}
	if err := os.WriteFile(name, mangle(b), 0o600); err != nil {
		ts.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(ts.root, "state", "index")); err != nil { // it would make the damage good
		ts.t.Fatal(err)
	}
	ts.open()
}

// lineWith returns where the line that holds text begins and ends, LF included.
func lineWith(b []byte, text string) (int, int) {
	i := bytes.Index(b, []byte(text))
	start := bytes.LastIndexByte(b[:i], '\n') + 1
	return start, i + bytes.IndexByte(b[i:], '\n') + 1
}

func replaceIn(old, new string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
}

func TestDamageCostsAtMostItsLine(t *testing.T) {
	const a, b, c = "apple pie", "banana bread", "cherry cake"
	withoutSeal := func(d []byte) []byte {
		start, _ := lineWith(d, `"op":"seal"`)
		return d[:start]
	}
	for _, d := range []struct {
		name   string
		mangle func([]byte) []byte
		lost   string
		want   record.Recovery
	}{
		{"nothing", func(d []byte) []byte { return d }, "", record.Recovery{Applied: 3}},
		{"no seal", withoutSeal, "", record.Recovery{Applied: 3}},
		{"torn tail", func(d []byte) []byte { d = withoutSeal(d); return d[:len(d)-9] }, c, record.Recovery{Applied: 2, TornTail: 1, Gaps: 1}},
		{"last LF missing", func(d []byte) []byte { return bytes.TrimSuffix(withoutSeal(d), []byte("\n")) }, "", record.Recovery{Applied: 3}},
		{"NUL tail", func(d []byte) []byte { return append(withoutSeal(d), make([]byte, 5000)...) }, "", record.Recovery{Applied: 3, NulTail: 1}},
		{"NUL hole before good lines", func(d []byte) []byte {
			start, _ := lineWith(d, b)
			return append(append(bytes.Clone(d[:start]), make([]byte, 700)...), d[start:]...)
		}, "", record.Recovery{Applied: 3}},
		{"NUL over a line", func(d []byte) []byte {
			start, end := lineWith(d, b)
			clear(d[start : end-1])
			return d
		}, b, record.Recovery{Applied: 2, NulTail: 1, Gaps: 1}},
		{"one bit", func(d []byte) []byte {
			d[bytes.Index(d, []byte(b))] ^= 4
			return d
		}, b, record.Recovery{Applied: 2, Quarantined: 1, Gaps: 1}},
		{"CRLF", func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("\n"), []byte("\r\n")) }, "", record.Recovery{Applied: 3}},
		{"byte-order mark", func(d []byte) []byte { return append([]byte("\ufeff"), d...) }, "", record.Recovery{Applied: 3}},
		{"trailing spaces", func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("\n"), []byte("  \n")) }, "", record.Recovery{Applied: 3}},
		{"a million empty lines", func(d []byte) []byte { return append(bytes.Repeat([]byte("\n"), 1<<20), d...) }, "", record.Recovery{Applied: 3}},
		{"a line of 50 MB", func(d []byte) []byte {
			return append(append(bytes.Repeat([]byte("x"), 50<<20), '\n'), d...)
		}, "", record.Recovery{Applied: 3, Quarantined: 1}},
		{"deep nesting", func(d []byte) []byte { return append([]byte(strings.Repeat("[", 20_000)+"\n"), d...) }, "", record.Recovery{Applied: 3, Quarantined: 1}},
		{"lines twice", func(d []byte) []byte { return append(bytes.Clone(d), d...) }, "", record.Recovery{Applied: 3, Duplicate: 3, BadSeals: 1}},
		{"a line taken out", func(d []byte) []byte {
			start, end := lineWith(d, b)
			return slices.Delete(d, start, end)
		}, b, record.Recovery{Applied: 2, Gaps: 1, BadSeals: 1}},
		{"the last line before the seal taken out", func(d []byte) []byte {
			start, end := lineWith(d, c)
			return slices.Delete(d, start, end)
		}, c, record.Recovery{Applied: 2, Gaps: 1, BadSeals: 1}},
		{"lines reversed", func(d []byte) []byte {
			lines := bytes.SplitAfter(bytes.TrimSpace(d), []byte("\n"))
			var out []byte
			for i := len(lines) - 1; i >= 0; i-- {
				out = append(append(out, bytes.TrimSpace(lines[i])...), '\n')
			}
			return out
		}, "", record.Recovery{Applied: 3, BadSeals: 1}},
		{"later version", func(d []byte) []byte { return append([]byte(futureLine(t, `{"v":2,"q":90,"op":"dream"`)), d...) }, "", record.Recovery{Applied: 3, Unknown: 1}},
		{"unknown operation", func(d []byte) []byte {
			return append([]byte(futureLine(t, `{"v":1,"q":90,"t":"0192f3a1b2c3-0004-k7q2mzxa","op":"dream"`)), d...)
		}, "", record.Recovery{Applied: 3, Unknown: 1}},
	} {
		t.Run(d.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ids := map[string]memory.ID{}
			for _, text := range []string{a, b, c} {
				ids[text] = ts.save(text).ID()
			}
			ts.damage(d.mangle)
			if got := ts.Status().Recovery; got != d.want {
				t.Errorf("counted %+v, want %+v", got, d.want)
			}
			for text, id := range ids {
				if text == d.lost {
					ts.wantGone(id)
				} else {
					ts.wantContent(id, text)
				}
			}
			after := ts.save("life goes on").ID()
			ts.withoutSnapshot()
			ts.wantContent(after, "life goes on")
		})
	}
}

func futureLine(t *testing.T, open string) string {
	t.Helper()
	return string(record.SealLine([]byte(open), 0))
}

// What is taken back is read from the log, and checked again.
func TestDamageUnderARunningStoreIsNotRestored(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	edit := ts.edit(id, "content", "banana bread")
	mangleFile(ts.segments()[0], func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("apple"), []byte("appla")) })
	if _, err := ts.Undo(context.Background(), history.Undo{Entry: edit.Entry}); err == nil {
		t.Error("undone with a damaged line")
	}
	ts.wantContent(id, "banana bread")
}

func TestDamagedLinesAreKeptInQuarantine(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("apple pie")
	ts.damage(replaceIn("apple", "appla"))
	ts.withoutSnapshot()
	copies, _ := filepath.Glob(filepath.Join(ts.root, "state", "quarantine", "*"))
	if len(copies) != 1 {
		t.Fatalf("quarantine holds %v, want one copy however often it is met", copies)
	}
	if b, _ := os.ReadFile(copies[0]); !bytes.Contains(b, []byte("appla pie")) {
		t.Errorf("the copy holds %q", b)
	}
	if got := ts.Status().Warnings; len(got) == 0 || !strings.Contains(got[0], "a damaged log line") {
		t.Errorf("warnings: %q", got)
	}
}

func TestHandEdit(t *testing.T) {
	edit := func(b []byte) []byte {
		start, end := lineWith(b, "apple pie")
		line := bytes.Replace(b[start:end], []byte("apple pie"), []byte("apple crumble"), 1)
		line = append(line[:len(line)-1-record.SuffixLen:len(line)-1-record.SuffixLen], "}\n"...)
		return append(append(bytes.Clone(b[:start]), line...), b[end:]...)
	}
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.damage(edit)
	if got := ts.Status().Recovery; got.HandEdited != 1 || got.Quarantined != 0 || got.Gaps != 0 {
		t.Errorf("counted %+v", got)
	}
	ts.reopen()
	ts.wantContent(id, "apple crumble")
	ts.wantFound("crumble", id)
	ts.edit(id, "content", "apple tart")
	ts.withoutSnapshot()
	ts.wantContent(id, "apple tart")
	ts.withoutSnapshot()
	ts.wantContent(id, "apple tart")
}

// TestEveryByteFlipped flips every bit pattern class of every byte of a log and
// checks that at most one line is lost and none is wrong.
func TestEveryByteFlipped(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want := map[memory.ID]string{}
	for i := range 12 {
		text := fmt.Sprintf("memory number %d", i)
		want[ts.save(text).ID()] = text
	}
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	name := ts.segments()[0]
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		flipped := bytes.Clone(good)
		flipped[i] ^= byte(1 << (i % 8))
		s := memoryOnly()
		r := wal.NewRecovery(s.Wal(), &record.Clock{Now: ts.Wal().Now})
		for line := range bytes.Lines(flipped) {
			r.Line(line, record.Place{}, bytes.HasSuffix(line, []byte("\n")))
		}
		lost := 0
		for id, text := range want {
			row := s.Table.Get(id)
			switch {
			case row == nil:
				lost++
			case row.Content() != text:
				t.Fatalf("byte %d flipped: memory %s holds %q, want %q", i, id, row.Content(), text)
			}
		}
		// A flipped LF joins two lines.
		if allowed := 1 + bytes.Count(good[i:i+1], []byte("\n")); lost > allowed {
			t.Fatalf("byte %d (%q) flipped: %d memories lost", i, good[i], lost)
		}
	}
}

func TestSnapshotIsOnlyUsedWhenItFits(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(ts *testStore)
		want string
	}{
		{"untouched", func(*testStore) {}, "used"},
		{"deleted", func(ts *testStore) { os.Remove(ts.Wal().SnapshotPath()) }, "absent"},
		{"one bit", func(ts *testStore) { ts.mangleSnapshot(func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) }, "damaged"},
		{"cut", func(ts *testStore) { ts.mangleSnapshot(func(b []byte) []byte { return b[:len(b)/2] }) }, "damaged"},
		{"empty", func(ts *testStore) { ts.mangleSnapshot(func([]byte) []byte { return nil }) }, "damaged"},
		{"log touched", func(ts *testStore) {
			name := ts.segments()[0]
			b, _ := os.ReadFile(name)
			os.WriteFile(name, append(b, '\n'), 0o600)
		}, "stale"},
		{"log gone", func(ts *testStore) { os.Rename(ts.segments()[0], ts.segments()[0]+".away") }, "stale"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			id := ts.save("apple pie").ID()
			ts.reopen()
			two := ts.save("banana bread").ID()
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			c.do(ts)
			ts.open()
			if got := ts.Status().Snapshot; !strings.HasPrefix(got, c.want) {
				t.Errorf("snapshot %q, want %s", got, c.want)
			}
			ts.wantFound("banana", two)
			if c.name != "log gone" {
				ts.wantFound("apple", id)
			}
		})
	}
}

func (ts *testStore) mangleSnapshot(mangle func([]byte) []byte) {
	b, err := os.ReadFile(ts.Wal().SnapshotPath())
	if err != nil {
		ts.t.Fatal(err)
	}
	if err := os.WriteFile(ts.Wal().SnapshotPath(), mangle(b), 0o600); err != nil {
		ts.t.Fatal(err)
	}
}

package stm_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/logcheck"
	"emberd/stm/wal"
)

// damages are what can happen to one file.
var damages = []struct {
	name string
	do   func(name, other string) // other is another file of the log, or an older version of this one
}{
	{"deleted", func(name, _ string) { os.Remove(name) }},
	{"emptied", func(name, _ string) { mangleFile(name, func([]byte) []byte { return nil }) }},
	{"cut at a line", func(name, _ string) {
		mangleFile(name, func(b []byte) []byte { return bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:3], nil) })
	}},
	{"cut inside a line", func(name, _ string) { mangleFile(name, func(b []byte) []byte { return b[:len(b)*2/3] }) }},
	{"one bit", func(name, _ string) {
		mangleFile(name, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
	}},
	{"duplicated", func(name, _ string) {
		b, _ := os.ReadFile(name)
		os.WriteFile(filepath.Join(filepath.Dir(name), "copy of "+filepath.Base(name)), b, 0o600)
	}},
	{"swapped with another", func(name, other string) {
		a, _ := os.ReadFile(name)
		b, _ := os.ReadFile(other)
		os.WriteFile(name, b, 0o600)
		os.WriteFile(other, a, 0o600)
	}},
}

// TestADamagedFileCostsNothingWhileTheSnapshotHoldsIt damages each file of a log in every way. The
// memories are as they were, at once and after a start without a snapshot, and the log is whole.
func TestADamagedFileCostsNothingWhileTheSnapshotHoldsIt(t *testing.T) {
	for _, d := range damages {
		for which := range 3 {
			t.Run(fmt.Sprintf("%s/%d", d.name, which), func(t *testing.T) {
				ts := openStore(t, wal.Options{})
				want := ts.livesOfThreeSegments()
				names := ts.segments()
				if len(names) != 3 {
					t.Fatalf("%d segments, want 3", len(names))
				}
				if err := ts.Close(); err != nil {
					t.Fatal(err)
				}
				d.do(names[which], names[(which+1)%3])
				ts.open()
				ts.wantAll(want, "at once")
				ts.withoutSnapshot()
				ts.wantAll(want, "after a start without a snapshot")
				if st := ts.Status(); st.Recovery.Gaps != 0 || len(st.Short) > 0 {
					t.Errorf("%d records are missing still, short are %q", st.Recovery.Gaps, st.Short)
				}
				for _, why := range ts.foundBy(logcheck.CheckDecided) {
					t.Log(why)
				}
				after := ts.save("life goes on")
				ts.withoutSnapshot()
				ts.wantContent(after.ID(), "life goes on")
			})
		}
	}
}

// TestAllFilesButOneAreGone is the worst that is no refused start.
func TestAllFilesButOneAreGone(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want := ts.livesOfThreeSegments()
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range ts.segments()[:2] {
		os.Remove(name)
	}
	ts.open()
	ts.wantAll(want, "at once")
	if got := ts.Status().Recovered; got.Memories == 0 || got.Newest.IsZero() {
		t.Errorf("status says %+v came back", got)
	}
	ts.withoutSnapshot()
	ts.wantAll(want, "without the snapshot")
}

// livesOfThreeSegments saves, edits, forgets and uses memories over three runs, and returns what
// each memory holds in the end, "" for one that was forgotten.
func (ts *testStore) livesOfThreeSegments() map[memory.ID]string {
	want := map[memory.ID]string{}
	var ids []memory.ID
	for run := range 3 {
		if run > 0 {
			ts.reopen()
		}
		for n := range 6 {
			text := fmt.Sprintf("note %d of run %d", n, run)
			id := ts.save(text).ID()
			ids, want[id] = append(ids, id), text
		}
		if run > 0 {
			edited, gone := ids[run], ids[run+6*(run-1)+3]
			ts.edit(edited, "content", fmt.Sprintf("edited in run %d", run))
			want[edited] = fmt.Sprintf("edited in run %d", run)
			ts.forget(gone)
			want[gone] = ""
		}
	}
	return want
}

func (ts *testStore) wantAll(want map[memory.ID]string, when string) {
	ts.t.Helper()
	live := 0
	for id, text := range want {
		row, ok := ts.Get(id)
		switch {
		case text == "" && ok:
			ts.t.Errorf("%s: %s is back with %q", when, id, row.Content())
		case text != "" && !ok:
			ts.t.Errorf("%s: %q is lost", when, text)
		case ok && row.Content() != text:
			ts.t.Errorf("%s: %s holds %q, want %q", when, id, row.Content(), text)
		}
		if text != "" {
			live++
		}
	}
	if ts.Len() != live {
		ts.t.Errorf("%s: %d memories, want %d", when, ts.Len(), live)
	}
}

// TestAShorterFileIsToldWithoutASnapshot damages a file when no copy of it is left.
func TestAShorterFileIsToldWithoutASnapshot(t *testing.T) {
	for _, d := range damages[:4] {
		t.Run(d.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ts.livesOfThreeSegments()
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			os.RemoveAll(filepath.Join(ts.root, "state", "index"))
			d.do(ts.segments()[2], "")
			data, state := filepath.Join(ts.root, "data"), filepath.Join(ts.root, "state")
			c, err := logcheck.CheckDecided(t.Context(), durable.OS{}, data, state, time.Now())
			if err != nil || c.Wrong() == 0 {
				t.Errorf("log check finds nothing wrong (%v)", err)
			}
			for range 2 {
				ts.open()
				if st := ts.Status(); st.Recovery.Gaps == 0 || len(st.Warnings) == 0 {
					t.Errorf("status counts %+v and warns of %q", st.Recovery, st.Warnings)
				}
				if err := ts.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// foundBy returns what is wrong with the log, and not harmless.
func (ts *testStore) foundBy(check func(context.Context, durable.FS, string, string, time.Time) (*logcheck.Report, error)) (wrong []string) {
	ts.t.Helper()
	c, err := check(ts.t.Context(), durable.OS{}, filepath.Join(ts.root, "data"), filepath.Join(ts.root, "state"), time.Now())
	if err != nil {
		ts.t.Fatal(err)
	}
	for _, m := range c.Missing {
		wrong = append(wrong, m.Reason)
	}
	for _, f := range c.Files {
		for _, g := range f.Findings {
			if !g.Harmless {
				wrong = append(wrong, fmt.Sprintf("%s:%d: %s", filepath.Base(f.Path), g.Line, g.Reason))
			}
		}
	}
	return wrong
}

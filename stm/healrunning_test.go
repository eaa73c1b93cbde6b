package stm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/logcheck"
	"emberd/stm/wal"
)

// killed is what a start makes of the files as they are now, as after a kill, without a snapshot.
func (ts *testStore) killed() *testStore {
	ts.t.Helper()
	k := &testStore{t: ts.t, root: ts.t.TempDir(), opt: ts.opt}
	if err := os.CopyFS(k.root, os.DirFS(ts.root)); err != nil {
		ts.t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(k.root, "state", "index"))
	k.forgeIdentity()
	k.open()
	ts.t.Cleanup(func() { k.Close() })
	return k
}

// TestASaveAfterItsSegmentWasDamagedIsThere damages the segment that is being written in every way, saves twice, and
// kills the process.
func TestASaveAfterItsSegmentWasDamagedIsThere(t *testing.T) {
	for _, d := range damages[:4] {
		t.Run(d.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			want := ts.livesOfThreeSegments()
			names := ts.segments()
			d.do(names[len(names)-1], "")
			for _, text := range []string{"a falcon", "a condor"} {
				want[ts.save(text).ID()] = text
			}
			ts.refresh()
			ts.wantAll(want, "running")
			ts.wantSound("running")
			k := ts.killed()
			k.wantAll(want, "killed")
			k.wantSound("killed")
		})
	}
}

// TestABackupsRepairBeginsASegment heals as a backup does.
func TestABackupsRepairBeginsASegment(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want := map[memory.ID]string{}
	for n := range 5 {
		text := fmt.Sprint("memory ", n)
		want[ts.save(text).ID()] = text
	}
	mangleFile(ts.segments()[0], func(b []byte) []byte { return b[:len(b)-700] })
	if _, err := ts.Heal(t.Context(), nil, false); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		text := fmt.Sprint("later ", n)
		want[ts.save(text).ID()] = text
	}
	ts.killed().wantAll(want, "killed")
}

// TestDamageWhileRunningIsToldAndMadeGood damages each file of a log that runs. The status tells it and asks for a
// refresh, which writes again what only memory had.
func TestDamageWhileRunningIsToldAndMadeGood(t *testing.T) {
	for _, d := range damages[:5] {
		for which := range 3 {
			if d.name == "one bit" && which == 2 {
				continue // nobody can tell it from a line that is being written
			}
			t.Run(fmt.Sprintf("%s/%d", d.name, which), func(t *testing.T) {
				var asked atomic.Int64
				ts := openStore(t, wal.Options{Damaged: func() { asked.Add(1) }})
				want := ts.livesOfThreeSegments()
				d.do(ts.segments()[which], "")
				st := ts.Status()
				for end := time.Now().Add(time.Minute); len(st.Warnings) == 0 && time.Now().Before(end); st = ts.Status() {
					time.Sleep(time.Millisecond) // the writer is busy, and does not look
				}
				if len(st.Warnings) == 0 || asked.Load() == 0 {
					t.Errorf("status warns of %q, and asked %d times for a refresh", st.Warnings, asked.Load())
				}
				ts.refresh()
				ts.wantAll(want, "running")
				if got := ts.Status().Recovered; got.Lines == 0 || !strings.Contains(strings.Join(got.From, ""), "daemon") {
					t.Errorf("status says %+v came back", got)
				}
				ts.wantSound("running")
				for id, text := range want {
					if text != "" {
						ts.edit(id, "content", text+" again")
						want[id] = text + " again"
						break
					}
				}
				k := ts.killed()
				k.wantAll(want, "killed")
				if st := k.Status(); st.Recovery.Gaps != 0 || len(st.Short) > 0 {
					t.Errorf("killed: %d records are missing, short are %q", st.Recovery.Gaps, st.Short)
				}
			})
		}
	}
}

// loseSecondOf saves three memories in each of some runs, closes the store, and removes the second segment and the
// snapshot.
func (ts *testStore) loseSecondOf(runs int) {
	ts.t.Helper()
	for run := range runs {
		if run > 0 {
			ts.reopen()
		}
		for n := range 3 {
			ts.save(fmt.Sprint("memory ", n, " of run ", run))
		}
	}
	if err := ts.Close(); err != nil {
		ts.t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(ts.root, "state", "index"))
	os.Remove(ts.segments()[1])
}

// TestWhatIsMissingIsToldOverRestarts has a start meet files that no copy makes good. Every start says how much is
// missing, and so does a check of the log, until the loss is accepted.
func TestWhatIsMissingIsToldOverRestarts(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.loseSecondOf(2)
	for range 3 {
		ts.open()
		ts.refresh()
		if st := ts.Status(); st.Recovery.Gaps != 3 || len(st.Short) != 1 {
			t.Errorf("%d records are missing, short are %q", st.Recovery.Gaps, st.Short)
		}
		if err := ts.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(ts.foundBy(logcheck.CheckDecided), "\n"); !strings.Contains(got, "records 4 to 6 are missing") {
			t.Errorf("log check finds %q", got)
		}
	}
	ts.open()
	if _, err := ts.AcceptLoss(t.Context()); err != nil {
		t.Fatal(err)
	}
	ts.wantSound("accepted")
	ts.withoutSnapshot()
	ts.wantSound("accepted, a start later")
	if got := ts.foundBy(logcheck.CheckDecided); len(got) > 0 {
		t.Errorf("accepted, log check finds %q", got)
	}
}

// TestWhatAnotherDeviceKeptIsMissedWithItsFile deletes what b wrote again for a, without any snapshot of a.
func TestWhatAnotherDeviceKeptIsMissedWithItsFile(t *testing.T) {
	for _, when := range []string{"before a's start", "while a runs"} {
		t.Run(when, func(t *testing.T) {
			p := newPair(t)
			want, _ := p.cutOff(t, damages[0].do)
			if when == "before a's start" {
				p.settle()
				p.a.open()
			} else {
				p.a.open()
				p.settle()
				p.a.refresh()
			}
			p.a.wantAll(want, "a")
			p.a.wantSound("a")
			p.b.reopen()
			want[p.b.save("b goes on").ID()] = "b goes on"
			p.a.refresh()
			if err := p.a.Close(); err != nil {
				t.Fatal(err)
			}
			if err := p.b.Close(); err != nil {
				t.Fatal(err)
			}
			p.b.removeWrittenAgain()
			os.RemoveAll(filepath.Join(p.a.root, "state", "index"))
			for range 2 {
				p.a.open()
				p.a.refresh()
				if st := p.a.Status(); st.Recovery.Gaps == 0 {
					t.Error("a misses nothing")
				}
				if err := p.a.Close(); err != nil {
					t.Fatal(err)
				}
			}
			p.b.open() // its snapshot has all
			p.settle()
			p.a.open()
			p.a.refresh()
			p.a.wantAll(want, "a in the end")
			p.a.wantSound("a in the end")
		})
	}
}

// removeWrittenAgain deletes the files with what a device wrote again.
func (ts *testStore) removeWrittenAgain() {
	ts.t.Helper()
	for _, name := range ts.filesOf(ts.Status().Device) {
		if text, _ := os.ReadFile(name); strings.Contains(string(text), `"do":"recover"`) {
			os.Remove(name)
		}
	}
}

// TestARunningDeviceKeepsWhatAnotherKeptForIt deletes what b wrote again for a while a has it in memory.
func TestARunningDeviceKeepsWhatAnotherKeptForIt(t *testing.T) {
	p := newPair(t)
	want, _ := p.cutOff(t, damages[0].do)
	p.settle()
	p.a.open()
	p.a.wantAll(want, "a")
	p.b.reopen()
	p.b.save("b goes on")
	p.a.refresh()
	if err := p.b.Close(); err != nil {
		t.Fatal(err)
	}
	p.b.removeWrittenAgain()
	p.a.refresh()
	p.elapsed.Add(int64(3 * 60e9))
	p.a.refresh()
	p.a.withoutSnapshot()
	for id, text := range want {
		if row, ok := p.a.Get(id); text != "" && (!ok || row.Content() != text) {
			t.Errorf("%q is lost", text)
		}
	}
	p.a.wantSound("a without b")
}

// TestACompactionForgetsNothingThatIsMissing compacts a log of which a file is gone.
func TestACompactionForgetsNothingThatIsMissing(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.loseSecondOf(3)
	ts.open()
	ts.save("life goes on")
	for range 2 {
		ts.reopen()
		ts.compact()
		if len(ts.unlink()) == 0 {
			t.Fatal("no file was compacted")
		}
		ts.withoutSnapshot()
		if st := ts.Status(); st.Recovery.Gaps != 3 {
			t.Errorf("%d records are missing, want 3", st.Recovery.Gaps)
		}
		if got := strings.Join(ts.foundBy(logcheck.CheckDecided), "\n"); !strings.Contains(got, "records 4 to 6 are missing") {
			t.Errorf("log check finds %q", got)
		}
		ts.save("and on")
	}
	if _, err := ts.AcceptLoss(t.Context()); err != nil {
		t.Fatal(err)
	}
	ts.withoutSnapshot()
	ts.wantSound("accepted")
	ts.reopen()
	ts.compact()
	ts.unlink()
	ts.withoutSnapshot()
	ts.wantSound("accepted and compacted")
}

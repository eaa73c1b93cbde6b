package stm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/stm/logcheck"
	"emberd/stm/wal"
)

// lostWithACopy closes a log of three segments, keeps a copy of it, removes the snapshot and damages the log.
func lostWithACopy(ts *testStore, damage func(names []string)) (copyOf string) {
	ts.t.Helper()
	if err := ts.Close(); err != nil {
		ts.t.Fatal(err)
	}
	copyOf = ts.t.TempDir()
	data := filepath.Join(ts.root, "data")
	if err := os.CopyFS(copyOf, os.DirFS(data)); err != nil {
		ts.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(ts.root, "state", "index")); err != nil {
		ts.t.Fatal(err)
	}
	damage(ts.segments())
	ts.open()
	return copyOf
}

// wantTold checks that a loss is told, or that nothing is missed.
func (ts *testStore) wantTold(lost bool, when string) {
	ts.t.Helper()
	st, found := ts.Status(), ts.foundBy(logcheck.CheckDecided)
	if told := st.Recovery.Gaps > 0 && len(st.Short) > 0 && len(st.Warnings) > 0; told != lost {
		ts.t.Errorf("%s: %d records missing, short %q, warnings %q", when, st.Recovery.Gaps, st.Short, st.Warnings)
	}
	if lost && len(found) == 0 {
		ts.t.Errorf("%s: the check of the log finds nothing", when)
	}
}

// TestAReplacedFileIsNoClone puts another file of a log in the place of a segment. The device stays who it is, tells
// the loss, and gets it back from a copy.
func TestAReplacedFileIsNoClone(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, names []string){
		"by an earlier one":   func(t *testing.T, names []string) { copyFile(t, names[0], names[1]) },
		"the newest":          func(t *testing.T, names []string) { copyFile(t, names[0], names[2]) },
		"by another device's": func(t *testing.T, names []string) { copyFile(t, anothers(t), names[1]) },
		"and a later one made": func(t *testing.T, names []string) {
			copyFile(t, names[0], filepath.Join(filepath.Dir(names[0]), "s-00000009.jsonl"))
			os.Remove(names[1])
		},
	} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			want, before := ts.livesOfThreeSegments(), ts.Status().Device
			kept := lostWithACopy(ts, func(names []string) { damage(t, names) })
			if now := ts.Status().Device; now != before {
				t.Errorf("the device is %s, was %s", now, before)
			}
			ts.wantTold(true, "at the start")
			ts.reopen()
			ts.wantTold(true, "after a restart")
			ts.healFrom(kept)
			for _, c := range ts.Table.Every() {
				if id := c.Row.Load().ID(); c.Row.Load().Live() && want[id] == "" {
					want[id] = "of another device"
				}
			}
			ts.wantAll(want, "after the repair")
			ts.withoutSnapshot()
			ts.wantAll(want, "after a start without a snapshot")
			ts.wantTold(false, "at the end")
		})
	}
}

// TestALossUnderAnEarlierNameIsTold damages a log and moves its folder, so that the device gets a new name.
func TestALossUnderAnEarlierNameIsTold(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want, before := ts.livesOfThreeSegments(), ts.Status().Device
	kept := lostWithACopy(ts, func(names []string) {
		mangleFile(names[1], func(b []byte) []byte { return b[:len(b)/2] })
		moveFolder(t, filepath.Join(ts.root, "data"))
	})
	if ts.Status().Device == before {
		t.Fatal("the device has no new name, so that this proves nothing")
	}
	ts.wantTold(true, "at the start")
	ts.reopen()
	ts.wantTold(true, "after a restart")
	ts.healFrom(kept)
	ts.wantAll(want, "after the repair")
	ts.wantTold(false, "after the repair")
	ts.withoutSnapshot()
	ts.wantAll(want, "after a start without a snapshot")
	ts.wantTold(false, "at the end")
}

// TestALossUnderAnEarlierNameIsAccepted gives it up instead.
func TestALossUnderAnEarlierNameIsAccepted(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.livesOfThreeSegments()
	lostWithACopy(ts, func(names []string) {
		os.Remove(names[1])
		moveFolder(t, filepath.Join(ts.root, "data"))
	})
	ts.wantTold(true, "at the start")
	if _, err := ts.AcceptLoss(t.Context()); err != nil {
		t.Fatal(err)
	}
	ts.wantTold(false, "once it is accepted")
	ts.reopen()
	ts.wantTold(false, "after a restart")
}

// anothers is a segment of another device.
func anothers(t *testing.T) string {
	other := openStore(t, wal.Options{})
	other.save("of another device")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	return other.segments()[0]
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// moveFolder makes a folder another one with the same files.
func moveFolder(t *testing.T, dir string) {
	t.Helper()
	err := os.Rename(dir, dir+".was")
	if err == nil {
		err = os.CopyFS(dir, os.DirFS(dir+".was"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestACheckTellsThatTheWholeLogIsGone removes every file of the log, with the folder they were in.
func TestACheckTellsThatTheWholeLogIsGone(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.livesOfThreeSegments()
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(ts.root, "data", "stm")); err != nil {
		t.Fatal(err)
	}
	if found := ts.foundBy(logcheck.CheckDecided); len(found) != 4 || !strings.HasPrefix(found[0], "records 1 to ") {
		t.Errorf("found is %q, want the numbers, and each of the three segments", found)
	}
}

package stm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/internal/durable"
	"emberd/stm"
	"emberd/stm/wal"
)

// spoilFile writes something else into a file.
func spoilFile(t *testing.T, name, text string) {
	t.Helper()
	if _, err := os.Lstat(name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantDamaged checks that the damage of one file is named, and that it is once its copy is deleted no more.
func (ts *testStore) wantDamaged(name string) {
	ts.t.Helper()
	state := filepath.Join(ts.root, "state")
	told := stm.Damaged(durable.OS{}, state)
	if len(told) != 1 || !strings.HasPrefix(told[0], name+" was damaged: ") {
		ts.t.Errorf("told is %q, want the damage of %s", told, name)
	}
	ts.reopen()
	if again := stm.Damaged(durable.OS{}, state); len(again) != len(told) {
		ts.t.Errorf("after a restart told is %q", again)
	}
	if err := os.RemoveAll(filepath.Join(state, "damaged")); err != nil {
		ts.t.Fatal(err)
	}
	ts.reopen()
	if again := stm.Damaged(durable.OS{}, state); len(again) > 0 {
		ts.t.Errorf("it is told again: %q", again)
	}
}

// TestADamagedIdentityIsFoundAgain damages device.json in several ways. The device stays who it is, and nothing is
// lost or missed.
func TestADamagedIdentityIsFoundAgain(t *testing.T) {
	for _, text := range []string{"", "garbage", "{}", `{"device":"k7q`} {
		ts := openStore(t, wal.Options{})
		want, before := ts.livesOfThreeSegments(), ts.Status().Device
		if err := ts.Close(); err != nil {
			t.Fatal(err)
		}
		spoilFile(t, filepath.Join(ts.root, "state", "device.json"), text)
		ts.open()
		if now := ts.Status().Device; now != before {
			t.Errorf("%q: the device is %s, was %s", text, now, before)
		}
		ts.wantTold(false, text)
		ts.wantDamaged("device.json")
		ts.save("life goes on")
		ts.reopen()
		if ts.Status().Device != before || ts.Len() < len(want)-2 {
			t.Errorf("%q: later the device is %s with %d memories", text, ts.Status().Device, ts.Len())
		}
	}
}

// TestADamagedIdentityInDoubtIsANewOne leaves two devices that the state folder may be of. What is lost of either
// is told.
func TestADamagedIdentityInDoubtIsANewOne(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.livesOfThreeSegments()
	before := ts.Status().Device
	lostWithACopy(ts, func(names []string) {
		written := filepath.Join(ts.root, "state", "written")
		if err := os.CopyFS(filepath.Join(written, "k7q2mzxa"), os.DirFS(filepath.Join(written, before))); err != nil {
			t.Fatal(err)
		}
		spoilFile(t, filepath.Join(ts.root, "state", "device.json"), "garbage")
		os.Remove(names[1])
	})
	if now := ts.Status().Device; now == before || now == "k7q2mzxa" {
		t.Errorf("the device is %s", now)
	}
	ts.wantTold(true, "at the start")
}

// TestADamagedExtentIsToldOnce damages what says how far a segment was written.
func TestADamagedExtentIsToldOnce(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want, before := ts.livesOfThreeSegments(), ts.Status().Device
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	spoilFile(t, filepath.Join(ts.root, "state", "written", before, "s-00000002"), "garbage\n")
	ts.open()
	ts.wantAll(want, "at the start")
	ts.wantTold(false, "at the start")
	ts.wantDamaged("s-00000002")
	lostWithACopy(ts, func(names []string) {
		mangleFile(names[1], func(b []byte) []byte { return b[:len(b)*2/3] })
	})
	ts.wantTold(true, "once the file is cut")
}

// TestADamagedKeyIsTold damages the key of fingerprints.
func TestADamagedKeyIsTold(t *testing.T) {
	ts := openStore(t, wal.Options{})
	if print := ts.Wal().Prints.PrintOf("a text to forget"); print == nil {
		t.Fatal("there is no key")
	}
	name := filepath.Join(ts.root, "data", "devices", ts.Status().Device+".key")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	spoilFile(t, name, "short")
	ts.open()
	if told := stm.Damaged(durable.OS{}, filepath.Join(ts.root, "state")); len(told) != 1 ||
		!strings.Contains(told[0], "clients can save texts again") {
		t.Errorf("told is %q", told)
	}
	if print := ts.Wal().Prints.PrintOf("another"); print == nil {
		t.Error("there is no new key")
	}
	ts.wantDamaged(filepath.Base(name))
}

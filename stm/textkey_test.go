package stm_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"emberd/internal/testutil/crashdisk"
	"emberd/stm"
	"emberd/stm/device"
	"emberd/stm/wal"
)

// Whatever of a forget reached the disk: if the memory is gone its text is known,
// and the key that it is known by is there.
func TestACrashLeavesTheKeyOfEveryFingerprint(t *testing.T) {
	for crash := range 40 {
		disk := crashdisk.New()
		opt := &wal.Options{FS: disk}
		s, err := stm.Open("/data", "/state", opt)
		if err != nil {
			t.Fatal(err)
		}
		ts := &testStore{Store: s, t: t}
		id := ts.put(idOf(1), "quixotic zeppelin").ID()
		disk.StopAfter(disk.Ops() + crash)
		_, failed := ts.try(wal.Tx{Verb: "forget", Changes: []wal.Change{{ID: id, Delete: true, Text: "quixotic zeppelin"}}})
		after := disk.Crash(rand.New(rand.NewPCG(1, uint64(crash))))
		_ = s.Close() // its disk has no power
		again, err := stm.Open("/data", "/state", &wal.Options{FS: after})
		if err != nil {
			t.Fatal(err)
		}
		_, live := again.Get(id)
		if known := len(again.ForgottenAs("quixotic zeppelin")) == 1; known == live || failed == nil && live {
			t.Errorf("crash after %d operations: live %v, known as forgotten %v, answered %v", crash, live, known, failed)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A key that cannot be read for a moment is not replaced: what was forgotten with it
// would be known to nobody.
func TestAKeyThatCannotBeReadIsNotReplaced(t *testing.T) {
	for name, fault := range map[string]crashdisk.Fault{
		"open":           {Op: crashdisk.OpOpen, Path: device.KeySuffix, Forever: true},
		"read":           {Op: crashdisk.OpRead, Path: device.KeySuffix, Forever: true},
		"of all devices": {Op: crashdisk.OpReadDir, Path: "/data/devices", Forever: true},
	} {
		t.Run(name, func(t *testing.T) {
			disk := crashdisk.New()
			ts := &testStore{Store: openDisk(t, disk), t: t}
			id := ts.put(idOf(1), "quixotic zeppelin").ID()
			ts.forgetText(id)
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			disk.Fail(fault)
			ts.Store = openDisk(t, disk)
			other := ts.put(idOf(2), "apple pie").ID()
			ts.forgetText(other)
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			disk.Heal()
			ts.Store = openDisk(t, disk)
			ts.wantForgotten("quixotic zeppelin", id)
			if err := ts.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is no key at all makes way for one.
func TestADamagedKeyIsReplaced(t *testing.T) {
	for _, damaged := range []string{"", "half a key"} {
		ts := openStore(t, wal.Options{})
		ts.forgetText(ts.save("quixotic zeppelin").ID())
		if err := ts.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(ts.Wal().Prints.KeyPath(ts.Wal().Device), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		ts.open()
		ts.wantForgotten("quixotic zeppelin")
		id := ts.save("apple pie").ID()
		ts.forgetText(id)
		ts.reopen()
		ts.wantForgotten("apple pie", id)
	}
}

// A process that was killed while it made the key leaves one that no power cut may
// take from the lines of the next process.
func TestAKeyThatAKilledProcessLeftSurvivesAPowerCut(t *testing.T) {
	for kill := range 20 {
		disk := crashdisk.New()
		ts := &testStore{Store: openDisk(t, disk), t: t}
		ts.put(idOf(1), "quixotic zeppelin")
		ts.put(idOf(2), "apple pie")
		disk.StopAfter(disk.Ops() + kill)
		// It may be answered or not.
		_, _ = ts.try(wal.Tx{Verb: "forget", Changes: []wal.Change{{ID: idOf(1), Delete: true, Text: "quixotic zeppelin"}}})
		next := disk.Kill()
		_ = ts.Close() // its disk has no power
		ts.Store = openDisk(t, next)
		ts.forgetText(idOf(2))
		after := next.Crash(nil)
		_ = ts.Close()
		ts.Store = openDisk(t, after)
		ts.wantForgotten("apple pie", idOf(2))
		if err := ts.Close(); err != nil {
			t.Error(err)
		}
	}
}

func openDisk(t *testing.T, disk *crashdisk.Disk) *stm.Store {
	t.Helper()
	s, err := stm.Open("/data", "/state", &wal.Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

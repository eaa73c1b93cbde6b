package device_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/stm/device"
)

// TestASnapshotIsPutAsideForGood fails to sync that a snapshot was put aside, and tries again. No power cut brings it
// back, to be compared with the log of the backup.
func TestASnapshotIsPutAsideForGood(t *testing.T) {
	for seed := range uint64(20) {
		disk := crashdisk.New()
		if err := durable.MkdirAll(disk, "/state/index"); err != nil {
			t.Fatal(err)
		}
		if err := durable.ReplaceFile(disk, device.SnapshotIn("/state"), []byte("memories")); err != nil {
			t.Fatal(err)
		}
		disk.Fail(crashdisk.Fault{Op: crashdisk.OpSyncDir, Path: "index"})
		if err := device.ForgetDevice(disk, "/state", ""); err == nil {
			t.Fatal("a sync that fails is no error")
		}
		if err := device.ForgetDevice(disk, "/state", ""); err != nil {
			t.Fatal(err)
		}
		after := disk.Crash(rand.New(rand.NewPCG(seed, 1)))
		if _, err := after.Lstat(device.SnapshotIn("/state")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("after a power cut the snapshot is there again (%v)", err)
		}
	}
}

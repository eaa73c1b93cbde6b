package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
)

// cutRoundsVar raises the number of power cuts on each file system.
const cutRoundsVar = "EMBERD_TEST_CUT_ROUNDS"

// The power is cut on real file systems: the daemon is stopped under load, the
// file system is shut down with (1) and without (2) its journal flushed, and
// mounted again. Nothing acknowledged may be missing.
func TestPowerCutOnRealFileSystems(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			disk := newLoopDisk(t, kind)
			rounds, seed := roundsOf(t, cutRoundsVar, 2), rand.Uint64()
			t.Logf("seed %d", seed)
			w := newWitness(seed, filepath.Join(disk.dir, "h"))
			for round := range rounds {
				d := w.start(t)
				w.check(t, round)
				w.load(t, 20+w.rng.IntN(200), false, func() { disk.cut(t, d, 1+round%2) })
			}
			d := w.start(t)
			w.check(t, rounds)
			if err := d.stop(syscall.SIGTERM); err != nil {
				t.Errorf("clean stop at the end: %v", err)
			}
			t.Logf("%s: %d power cuts, %d answers", kind, rounds, w.answers)
		})
	}
}

// The control: a log that does not sync loses, or else the cuts cut nothing.
func TestPowerCutWithoutSyncLoses(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			disk := newLoopDisk(t, kind)
			w := newWitness(1, filepath.Join(disk.dir, "h"))
			if err := os.MkdirAll(w.home, 0o700); err != nil {
				t.Fatal(err)
			}
			d, err := startDaemon(t.Context(), w.binary(t), w.home, filepath.Join(t.TempDir(), "log"),
				append(cli.ForeignFree(os.Environ()), adjustVar+"=unsynced"))
			if err != nil {
				t.Fatal(err)
			}
			w.load(t, 100, false, func() { disk.cut(t, d, 2) })
			d = w.start(t)
			lost := len(w.problems(t, 1))
			if err := d.stop(syscall.SIGKILL); err == nil {
				t.Error("killed, and ended well")
			}
			if lost < 50 {
				t.Errorf("%d problems after 100 unsynced answers, want most of them lost", lost)
			}
			t.Logf("%s: without sync %d of %d answers led to a problem", kind, lost, w.answers)
		})
	}
}

// loopDisk is a file system of its own in a file.
type loopDisk struct{ kind, image, dir string }

func newLoopDisk(t *testing.T, kind string) *loopDisk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a file system of one's own takes root")
	}
	if _, err := exec.LookPath("mkfs." + kind); err != nil {
		t.Skipf("mkfs.%s is missing; install e2fsprogs and xfsprogs", kind)
	}
	root := clitest.ShortDir(t)
	disk := &loopDisk{kind: kind, image: filepath.Join(root, "image"), dir: filepath.Join(root, "m")}
	if err := os.Mkdir(disk.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(disk.image)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(400 << 20); err != nil { // XFS takes no less than 300 MB
		t.Fatal(err)
	}
	f.Close()
	if out, err := exec.CommandContext(t.Context(), "mkfs."+kind, "-q", disk.image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.%s: %v\n%s", kind, err, out)
	}
	if out, err := disk.mount(); err != nil {
		t.Skipf("mounting %s from a loop device is not possible here: %v: %s", kind, err, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk.dir, 0) })
	return disk
}

func (disk *loopDisk) mount() ([]byte, error) {
	return exec.Command("mount", "-t", disk.kind, "-o", "loop", disk.image, disk.dir).CombinedOutput()
}

// cut stops every thread of the daemon, so that none is within a system call,
// shuts the file system down, and mounts it again.
func (disk *loopDisk) cut(t *testing.T, d *daemonProcess, flag int) {
	if err := d.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	for !allStopped(d.cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	if err := shutDown(disk.dir, flag); err != nil {
		t.Errorf("shut the file system down: %v", err)
	}
	_ = d.stop(syscall.SIGKILL) // the error is that it was killed
	if err := unix.Unmount(disk.dir, 0); err != nil {
		t.Errorf("unmount: %v", err)
	}
	if out, err := disk.mount(); err != nil {
		t.Errorf("mount again: %v: %s", err, out)
	}
}

// allStopped reports whether each thread is in state T.
func allStopped(pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 {
		return false
	}
	for _, name := range stats {
		b, err := os.ReadFile(name)
		_, after, found := strings.Cut(string(b), ") ")
		if err != nil || !found || !strings.HasPrefix(after, "T") {
			return false
		}
	}
	return true
}

// shutDown is FS_IOC_SHUTDOWN of linux/fs.h, EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN.
func shutDown(dir string, flag int) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), 0x8004587d, flag)
}

package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

const deep = "/home/data/stm/device"

// A process is killed after any of its operations, the next one makes the directory, and then the
// power fails: the directory must be there, also where the first process left a parent unsynced.
func TestMkdirAllSurvivesKillThenCrash(t *testing.T) {
	for n := 0; ; n++ {
		disk := crashdisk.New()
		disk.StopAfter(n)
		err := durable.MkdirAll(disk, deep)
		next := disk.Kill()
		must(t, durable.MkdirAll(next, deep))
		if info, lost := next.Crash(nil).Lstat(deep); lost != nil || !info.IsDir() {
			t.Errorf("killed after %d operations: %v, want the directory", n, lost)
		}
		if err == nil {
			return
		}
		wantCause(t, err, crashdisk.ErrPowerOff)
	}
}

func TestMkdirAllOnRealDisk(t *testing.T) {
	disk := at{durable.OS{}, t.TempDir()}
	for range 2 {
		must(t, durable.MkdirAll(disk, disk.path("a/b/c/")))
		info, err := disk.Lstat(disk.path("a/b/c"))
		must(t, err)
		if want := fs.ModeDir | 0o700; info.Mode() != want {
			t.Errorf("got mode %v, want %v", info.Mode(), want)
		}
	}
	save(t, disk, disk.path("file"), "")
	wantCause(t, durable.MkdirAll(disk, disk.path("file")), syscall.ENOTDIR)
	wantCause(t, durable.MkdirAll(disk, disk.path("file/d")), syscall.ENOTDIR)
}

func TestMkdirAllThroughLinks(t *testing.T) {
	disk := at{durable.OS{}, t.TempDir()}
	must(t, disk.Mkdir(disk.path("real")))
	must(t, os.Symlink("real", disk.path("link")))
	must(t, durable.MkdirAll(disk, disk.path("link")))
	must(t, durable.MkdirAll(disk, disk.path("link/d")))
	if got := listing(t, disk, disk.path("real")); got != "d" {
		t.Errorf("behind the link: got %q, want %q", got, "d")
	}
	must(t, os.Symlink("nowhere", disk.path("dangling")))
	wantCause(t, durable.MkdirAll(disk, disk.path("dangling")), fs.ErrNotExist)
}

// A parent that may be passed through but not listed, such as a shared /home, is no obstacle; a
// disk that cannot sync it is.
func TestMkdirAllParentSync(t *testing.T) {
	tests := []struct {
		name  string
		fault crashdisk.Fault
		want  error
	}{
		{"parent not ours", crashdisk.Fault{Op: crashdisk.OpSyncDir, Err: syscall.EACCES}, nil},
		{"parent cannot be synced", crashdisk.Fault{Op: crashdisk.OpSyncDir, Err: syscall.EIO}, syscall.EIO},
		{"new name cannot be synced", crashdisk.Fault{Op: crashdisk.OpSyncDir, Nth: 2, Err: syscall.EACCES}, syscall.EACCES},
		{"directory cannot be made", crashdisk.Fault{Op: crashdisk.OpMkdir, Err: syscall.ENOSPC}, syscall.ENOSPC},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := crashdisk.New()
			must(t, disk.Mkdir("/home"))
			disk.Fail(tt.fault)
			if err := durable.MkdirAll(disk, "/home/data"); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

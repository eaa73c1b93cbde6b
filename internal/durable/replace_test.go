package durable_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

const note = "/vault/note.md"

// Three blocks each, so that a crash can tear them.
var (
	oldText = strings.Repeat("the old text. ", 900)
	newText = strings.Repeat("and the new. ", 1000)
)

func diskWithNote(t *testing.T) *crashdisk.Disk {
	t.Helper()
	disk := crashdisk.New()
	must(t, durable.MkdirAll(disk, "/vault"))
	save(t, disk, note, oldText)
	return disk
}

// replaceFunc is ReplaceFile, or what a control test has instead of it.
type replaceFunc func(fsys durable.FS, name string, data []byte) error

// tornReplaces cuts the power after every operation of a replacement, lets the disk forget in
// many ways, and counts the disks whose note is neither the old nor the new text, or not the new
// one although the replacement had returned.
func tornReplaces(t *testing.T, replace replaceFunc) (torn, disks int) {
	t.Helper()
	const luck = 60
	for n := 0; ; n++ {
		disk := diskWithNote(t)
		disk.StopAfter(disk.Ops() + n)
		err := replace(disk, note, []byte(newText))
		for seed := range uint64(luck) {
			after := disk.Crash(rand.New(rand.NewPCG(seed, uint64(n))))
			if !wholeNote(t, after, err == nil) {
				torn++
			}
		}
		disks += luck
		if err == nil {
			return torn, disks
		}
		wantCause(t, err, crashdisk.ErrPowerOff)
	}
}

// wholeNote reports whether the note is there and sound, after the start-up of a program.
func wholeNote(t *testing.T, disk *crashdisk.Disk, acknowledged bool) bool {
	t.Helper()
	must(t, durable.SweepTemps(disk, "/vault"))
	if listing(t, disk, "/vault") != "note.md" {
		return false
	}
	got := content(t, disk, note)
	return got == newText || !acknowledged && got == oldText
}

func TestReplaceFileSurvivesEveryCrash(t *testing.T) {
	torn, disks := tornReplaces(t, durable.ReplaceFile)
	if torn > 0 {
		t.Errorf("%d of %d crashed disks have a torn or lost note, want none", torn, disks)
	}
	if disks < 6*60 {
		t.Errorf("tried %d disks, want some for each of the operations", disks)
	}
}

// Without any one of its steps the same experiment must find the loss.
func TestReplaceFileNeedsEveryStep(t *testing.T) {
	controls := map[string]replaceFunc{
		"no sync of the file": func(fsys durable.FS, name string, data []byte) error {
			return durable.ReplaceFile(noSync{fsys}, name, data)
		},
		"no sync of the directory": func(fsys durable.FS, name string, data []byte) error {
			return durable.ReplaceFile(noSyncDir{fsys}, name, data)
		},
		"written in place": func(fsys durable.FS, name string, data []byte) error {
			if err := fsys.Remove(name); err != nil {
				return err
			}
			f, err := fsys.CreateAppend(name)
			if err != nil {
				return err
			}
			_, err = f.Write(data)
			return errors.Join(err, f.Sync(), f.Close(), fsys.SyncDir("/vault"))
		},
	}
	for name, replace := range controls {
		t.Run(name, func(t *testing.T) {
			if torn, disks := tornReplaces(t, replace); torn == 0 {
				t.Errorf("all %d crashed disks are sound, want losses", disks)
			}
		})
	}
}

type noSync struct{ durable.FS }

func (n noSync) CreateAppend(name string) (durable.File, error) {
	f, err := n.FS.CreateAppend(name)
	return unsynced{f}, err
}

type unsynced struct{ durable.File }

func (unsynced) Sync() error { return nil }

type noSyncDir struct{ durable.FS }

func (noSyncDir) SyncDir(string) error { return nil }

// Whatever step fails, the note is whole and no temporary file stays, now and after a crash.
func TestReplaceFileCleansUp(t *testing.T) {
	faults := []crashdisk.Fault{
		{Op: crashdisk.OpCreate, Err: syscall.EACCES},
		{Op: crashdisk.OpWrite, Err: syscall.ENOSPC},
		{Op: crashdisk.OpWrite, Err: syscall.ENOSPC, ShortBy: 5000},
		{Op: crashdisk.OpSync, Err: syscall.EIO},
		{Op: crashdisk.OpClose, Err: syscall.EDQUOT},
		{Op: crashdisk.OpRename, Err: syscall.EPERM},
		{Op: crashdisk.OpSyncDir, Err: syscall.EIO},
	}
	for _, fault := range faults {
		t.Run(string(fault.Op), func(t *testing.T) {
			disk := diskWithNote(t)
			disk.Fail(fault)
			err := durable.ReplaceFile(disk, note, []byte(newText))
			wantCause(t, err, fault.Err)
			if !strings.Contains(err.Error(), note) {
				t.Errorf("got error %q, want it to name %s", err, note)
			}
			if got := listing(t, disk, "/vault"); got != "note.md" {
				t.Errorf("directory: got %q, want the note only", got)
			}
			want := oldText
			if fault.Op == crashdisk.OpSyncDir {
				want = newText
			}
			if got := content(t, disk, note); got != want {
				t.Errorf("note: got %.20q… (%d bytes), want %.20q…", got, len(got), want)
			}
			for seed := range uint64(50) {
				if after := disk.Crash(rand.New(rand.NewPCG(seed, 0))); !wholeNote(t, after, false) {
					t.Fatalf("torn after a crash with seed %d:\n%s", seed, strings.Join(after.Trace(), "\n"))
				}
			}
		})
	}
}

func TestReplaceFileOnRealDisk(t *testing.T) {
	disk := at{durable.OS{}, t.TempDir()}
	name := disk.path("note.md")
	for _, want := range []string{oldText, newText, ""} {
		must(t, durable.ReplaceFile(disk, name, []byte(want)))
		if got := content(t, disk, name); got != want {
			t.Errorf("got %.20q… (%d bytes), want %.20q…", got, len(got), want)
		}
	}
	must(t, disk.Mkdir(disk.path("folder")))
	if err := durable.ReplaceFile(disk, disk.path("folder"), nil); err == nil {
		t.Error("replaced a directory, want an error")
	}
	wantListing(t, disk, "folder note.md")
}

func TestSweepTemps(t *testing.T) {
	disk := diskWithNote(t)
	disk.StopAfter(disk.Ops() + 3) // create, write, sync; no rename
	wantCause(t, durable.ReplaceFile(disk, note, []byte(newText)), crashdisk.ErrPowerOff)
	killed := disk.Kill()
	if got := listing(t, killed, "/vault"); !strings.HasPrefix(got, ".durable-") || !strings.HasSuffix(got, ".tmp note.md") {
		t.Fatalf("directory: got %q, want a temporary file and the note", got)
	}
	keep := []string{".durable-.tmp", ".durable-abcdefghijklmnopqrstuvwxyz.tmp", "A.tmp"}
	for _, name := range keep {
		save(t, killed, "/vault/"+name, "the user's own")
	}
	folder := ".durable-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp"
	must(t, killed.Mkdir("/vault/"+folder))

	must(t, durable.SweepTemps(killed, "/vault"))
	want := strings.Join([]string{keep[0], folder, keep[1], keep[2], "note.md"}, " ")
	if got := listing(t, killed, "/vault"); got != want {
		t.Errorf("after the sweep: got %q, want %q", got, want)
	}
	must(t, durable.SweepTemps(killed, "/missing"))
}

func TestSweepTempsGoesOn(t *testing.T) {
	disk := crashdisk.New()
	save(t, disk, "/.durable-AAAAAAAAAAAAAAAAAAAAAAAAAA.tmp", "")
	save(t, disk, "/.durable-BBBBBBBBBBBBBBBBBBBBBBBBBB.tmp", "")
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpRemove, Err: syscall.EACCES})
	wantCause(t, durable.SweepTemps(disk, "/"), syscall.EACCES)
	if got, want := listing(t, disk, "/"), ".durable-AAAAAAAAAAAAAAAAAAAAAAAAAA.tmp"; got != want {
		t.Errorf("got %q, want only the one that could not be removed, %q", got, want)
	}
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpReadDir})
	wantCause(t, durable.SweepTemps(disk, "/"), syscall.EIO)
}

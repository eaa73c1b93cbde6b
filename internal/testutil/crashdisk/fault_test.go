package crashdisk_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"emberd/internal/testutil/crashdisk"
)

func wantCause(t *testing.T, what any, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v: got error %v, want %v", what, err, want)
	}
}

func TestEveryOperationCanFail(t *testing.T) {
	ops := []crashdisk.Op{
		crashdisk.OpCreate, crashdisk.OpOpen, crashdisk.OpRead, crashdisk.OpReadDir, crashdisk.OpLstat,
		crashdisk.OpWrite, crashdisk.OpSync, crashdisk.OpTruncate, crashdisk.OpClose, crashdisk.OpRename,
		crashdisk.OpRemove, crashdisk.OpMkdir, crashdisk.OpSyncDir, crashdisk.OpFree,
	}
	for _, op := range ops {
		t.Run(string(op), func(t *testing.T) {
			disk := crashdisk.New()
			f := saved(t, disk, "/log", "x")
			r, err := disk.OpenRead("/log")
			must(t, err)
			disk.Fail(crashdisk.Fault{Op: op, Err: syscall.EMFILE})
			failed := everyOperation(disk, f, r)
			wantCause(t, op, failed[op], syscall.EMFILE)
			for other, err := range failed {
				if other != op && errors.Is(err, syscall.EMFILE) {
					t.Errorf("%s failed too, want only %s", other, op)
				}
			}
		})
	}
}

func TestFailedOperationHasNoEffect(t *testing.T) {
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "x")
	r, err := disk.OpenRead("/log")
	must(t, err)
	disk.Fail(crashdisk.Fault{Forever: true})
	failed := everyOperation(disk, f, r)
	for _, op := range []crashdisk.Op{
		crashdisk.OpCreate, crashdisk.OpWrite, crashdisk.OpSync, crashdisk.OpTruncate,
		crashdisk.OpRename, crashdisk.OpRemove, crashdisk.OpMkdir, crashdisk.OpSyncDir,
	} {
		wantCause(t, op, failed[op], syscall.EIO)
		delete(failed, op)
	}
	for op, err := range failed {
		if err != nil {
			t.Errorf("%s: got %v, want only mutating operations to fail", op, err)
		}
	}
	if got := tree(t, disk, "/") + ": " + read(t, disk, "/log"); got != "log: x" {
		t.Errorf("got %q, want %q", got, "log: x")
	}
}

func TestFaultSelects(t *testing.T) {
	tests := []struct {
		name  string
		fault crashdisk.Fault
		want  string // one letter for each mkdir of a1 b1 a2 b2 a3 b3: ok or failed
	}{
		{"the first", crashdisk.Fault{Op: crashdisk.OpMkdir}, "f.....w"},
		{"the third", crashdisk.Fault{Op: crashdisk.OpMkdir, Nth: 3}, "..f...w"},
		{"from the third on", crashdisk.Fault{Op: crashdisk.OpMkdir, Nth: 3, Forever: true}, "..ffffw"},
		{"by name", crashdisk.Fault{Op: crashdisk.OpMkdir, Path: "b"}, ".f....w"},
		{"the second by name", crashdisk.Fault{Op: crashdisk.OpMkdir, Path: "b", Nth: 2}, "...f..w"},
		{"another operation", crashdisk.Fault{Op: crashdisk.OpCreate}, "......x"},
		{"any operation", crashdisk.Fault{Nth: 7}, "......x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := crashdisk.New()
			disk.Fail(tt.fault)
			var got strings.Builder
			for _, name := range []string{"/a1", "/b1", "/a2", "/b2", "/a3", "/b3"} {
				got.WriteByte(letter(disk.Mkdir(name), '.', 'f'))
			}
			_, err := disk.CreateAppend("/w")
			got.WriteByte(letter(err, 'w', 'x'))
			if got.String() != tt.want {
				t.Errorf("got %s, want %s", got.String(), tt.want)
			}
		})
	}
}

func letter(err error, ok, failed byte) byte {
	if err != nil {
		return failed
	}
	return ok
}

func TestRenameFaultMatchesEitherName(t *testing.T) {
	for _, part := range []string{"old", "new"} {
		disk := crashdisk.New()
		saved(t, disk, "/old", "")
		disk.Fail(crashdisk.Fault{Op: crashdisk.OpRename, Path: part, Err: syscall.EPERM})
		wantCause(t, part, disk.Rename("/old", "/new"), syscall.EPERM)
	}
}

func TestShortWrite(t *testing.T) {
	tests := []struct{ shortBy, want int }{{0, 0}, {1, 9}, {9, 1}, {10, 0}, {11, 0}}
	for _, tt := range tests {
		disk := crashdisk.New()
		f := saved(t, disk, "/log", "")
		disk.Fail(crashdisk.Fault{Op: crashdisk.OpWrite, Err: syscall.ENOSPC, ShortBy: tt.shortBy})
		n, err := io.WriteString(f, "0123456789")
		wantCause(t, "write", err, syscall.ENOSPC)
		if got := read(t, disk, "/log"); n != tt.want || got != "0123456789"[:tt.want] {
			t.Errorf("short by %d: got %d bytes, %q in the file, want %d", tt.shortBy, n, got, tt.want)
		}
	}
}

func TestFullDisk(t *testing.T) {
	disk := crashdisk.New()
	disk.Limit(10)
	wantFree := func(disk *crashdisk.Disk, want uint64) {
		t.Helper()
		if got, err := disk.Free("/"); got != want || err != nil {
			t.Errorf("free: got %d, %v, want %d", got, err, want)
		}
	}
	saved(t, disk, "/ballast", "1234")
	log := saved(t, disk, "/log", "")
	n, err := io.WriteString(log, "a record")
	wantCause(t, "write", err, syscall.ENOSPC)
	if n != 6 {
		t.Errorf("write: got %d bytes, want the 6 that fit", n)
	}
	wantFree(disk, 0)
	must(t, log.Truncate(0))
	wantCause(t, "growing", log.Truncate(7), syscall.ENOSPC)
	wantFree(disk, 6)
	must(t, disk.Remove("/ballast"))
	write(t, log, "a record")
	wantFree(disk, 2)
	wantFree(disk.Kill(), 2)
	wantFree(disk.Crash(nil), 6) // the ballast is back, the record is not
	disk = disk.Kill()
	must(t, disk.Rename("/log", "/renamed"))
	saved(t, disk, "/b", "12")
	must(t, disk.Rename("/renamed", "/b"))
	wantFree(disk, 2)
}

// Every stop leaves exactly the operations before it.
func TestStopAfter(t *testing.T) {
	const steps = 5
	for n := range steps + 1 {
		disk := crashdisk.New()
		disk.StopAfter(n)
		for i := range steps {
			err := disk.Mkdir(fmt.Sprintf("/%d", i))
			if want := i >= n; errors.Is(err, crashdisk.ErrPowerOff) != want {
				t.Errorf("stop after %d, operation %d: got %v, want power off: %v", n, i, err, want)
			}
		}
		want := strings.Fields("0/ 1/ 2/ 3/ 4/")[:n]
		if got := strings.Fields(tree(t, disk.Kill(), "/")); !slices.Equal(got, want) {
			t.Errorf("stop after %d: got %q, want %q", n, got, want)
		}
	}
}

func TestTrace(t *testing.T) {
	disk := crashdisk.New()
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpRename})
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpLstat})
	saved(t, disk, "/a", "")
	_, _ = disk.Lstat("/a")        // fails, and so
	_ = disk.Rename("/a", "/b")    // does this
	_, _ = disk.ReadDir("/")       // changes nothing, so it is left out
	next := disk.Crash(nil).Kill() // lines go on in the next lives
	must(t, next.Mkdir("/d"))
	want := []string{
		"1 create /a", "2 write /a", "3 sync /a", "4 syncdir /", "4 lstat /a: input/output error",
		"5 rename /a -> /b: input/output error", "crash", "kill", "1 mkdir /d",
	}
	if got := next.Trace(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// One seed gives one disk, whatever the order of Go's maps.
func TestCrashIsReproducible(t *testing.T) {
	disk := crashdisk.New()
	for i := range 20 {
		f := saved(t, disk, fmt.Sprintf("/%02d", i), "synced")
		write(t, f, strings.Repeat("unsynced ", 3000))
		must(t, disk.Rename(fmt.Sprintf("/%02d", i), fmt.Sprintf("/renamed-%02d", i)))
	}
	state := func() string {
		after := disk.Crash(rand.New(rand.NewPCG(7, 7)))
		var all strings.Builder
		for name := range strings.FieldsSeq(tree(t, after, "/")) {
			fmt.Fprintf(&all, "%s=%s\n", name, read(t, after, "/"+name))
		}
		return all.String()
	}
	first := state()
	for range 10 {
		if state() != first {
			t.Fatal("the same seed gave another disk")
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	disk := crashdisk.New()
	var wg sync.WaitGroup
	for i := range 8 {
		name := fmt.Sprintf("/%d", i)
		wg.Go(func() {
			f, err := disk.CreateAppend(name)
			for range 50 {
				_, writeErr := io.WriteString(f, "record\n")
				err = errors.Join(err, writeErr, f.Sync(), disk.SyncDir("/"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	after := disk.Crash(nil)
	for i := range 8 {
		if got := strings.Count(read(t, after, fmt.Sprintf("/%d", i)), "record\n"); got != 50 {
			t.Errorf("file %d: got %d records, want 50", i, got)
		}
	}
}

func TestAMendedDiskFailsNoMore(t *testing.T) {
	disk := crashdisk.New()
	f := create(t, disk, "/a")
	disk.Fail(crashdisk.Fault{Err: syscall.EIO, Forever: true})
	if _, err := io.WriteString(f, "refused"); !errors.Is(err, syscall.EIO) {
		t.Fatalf("write: %v, want EIO", err)
	}
	disk.Heal()
	write(t, f, "taken")
	if got := read(t, disk, "/a"); got != "taken" {
		t.Errorf("got %q", got)
	}
}

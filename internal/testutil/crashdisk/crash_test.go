package crashdisk_test

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB, disk *crashdisk.Disk, name string) durable.File {
	t.Helper()
	f, err := disk.CreateAppend(name)
	must(t, err)
	return f
}

func write(t testing.TB, f durable.File, text string) {
	t.Helper()
	_, err := io.WriteString(f, text)
	must(t, err)
}

// saved is an open file whose name and text are on the disk for good.
func saved(t testing.TB, disk *crashdisk.Disk, name, text string) durable.File {
	t.Helper()
	f := create(t, disk, name)
	write(t, f, text)
	must(t, f.Sync())
	must(t, disk.SyncDir(filepath.Dir(name)))
	return f
}

// gone is what read returns for a missing file.
const gone = "(gone)"

func read(t testing.TB, disk *crashdisk.Disk, name string) string {
	t.Helper()
	if _, err := disk.Lstat(name); err != nil {
		return gone
	}
	f, err := disk.OpenRead(name)
	must(t, err)
	data, err := io.ReadAll(f)
	must(t, err)
	return string(data)
}

// outcomes crashes the disk many times and counts what observe finds.
func outcomes(disk *crashdisk.Disk, observe func(*crashdisk.Disk) string) map[string]int {
	seen := map[string]int{}
	for seed := range uint64(400) {
		seen[observe(disk.Crash(rand.New(rand.NewPCG(seed, 1))))]++
	}
	return seen
}

// wantOutcomes checks that exactly these were found.
func wantOutcomes(t *testing.T, got map[string]int, want ...string) {
	t.Helper()
	for _, w := range want {
		if got[w] == 0 {
			t.Errorf("never found %q", w)
		}
		delete(got, w)
	}
	if len(got) > 0 {
		t.Errorf("found what cannot be: %v", got)
	}
}

// The control without which the other tests prove nothing.
func TestWriterWithoutSyncLoses(t *testing.T) {
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "")
	const records = 100
	for range records {
		write(t, f, "a record\n")
	}
	if got := read(t, disk.Crash(nil), "/log"); got != "" {
		t.Errorf("after a crash: got %q, want nothing of %d unsynced records", got, records)
	}
}

func TestSyncedSurvives(t *testing.T) {
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "first\n")
	write(t, f, "second\n")
	must(t, f.Sync())
	text := func(after *crashdisk.Disk) string { return read(t, after, "/log") }
	wantOutcomes(t, outcomes(disk, text), "first\nsecond\n")
	if got := text(disk.Crash(nil)); got != "first\nsecond\n" {
		t.Errorf("got %q, want both records", got)
	}
}

func TestUnsyncedTail(t *testing.T) {
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "keep")
	write(t, f, "ab")
	wantOutcomes(t, outcomes(disk, func(after *crashdisk.Disk) string { return read(t, after, "/log") }),
		"keep", "keepa", "keepab", "keep\x00\x00", "keepa\x00")
}

func TestUnsyncedBlocks(t *testing.T) {
	const block = 4096
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "")
	write(t, f, strings.Repeat("x", 3*block))
	seen := outcomes(disk, func(after *crashdisk.Disk) string {
		data := []byte(read(t, after, "/log"))
		if len(data) < 3*block {
			return "short"
		}
		var blocks []byte
		for part := range 3 {
			switch b := data[part*block : (part+1)*block]; {
			case bytes.Count(b, []byte("x")) == block:
				blocks = append(blocks, 'x')
			case bytes.Count(b, []byte{0}) == block:
				blocks = append(blocks, '0')
			default:
				blocks = append(blocks, '?')
			}
		}
		return string(blocks)
	})
	for _, hole := range []string{"short", "xxx", "0xx", "x0x", "0x0", "000"} {
		if seen[hole] == 0 {
			t.Errorf("never found blocks %s in %v", hole, seen)
		}
	}
}

func TestUnsyncedTruncate(t *testing.T) {
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "keep|old")
	must(t, f.Truncate(5))
	write(t, f, "N")
	wantOutcomes(t, outcomes(disk, func(after *crashdisk.Disk) string { return read(t, after, "/log") }),
		"keep|old", "keep|", "keep|N", "keep|\x00")
	if got := read(t, disk.Crash(nil), "/log"); got != "keep|old" {
		t.Errorf("without luck: got %q, want the synced %q", got, "keep|old")
	}

	disk = crashdisk.New()
	f = saved(t, disk, "/log", "keep|old")
	must(t, f.Truncate(4))
	must(t, f.Sync())
	if got := read(t, disk.Crash(nil), "/log"); got != "keep" {
		t.Errorf("after a sync: got %q, want %q", got, "keep")
	}
}

func TestUnsyncedNames(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, disk *crashdisk.Disk)
		want   []string // the directory after a crash, what a crash without luck leaves first
	}{
		{"create", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, create(t, disk, "/new").Sync())
		}, []string{"a b d/", "a b d/ new"}},
		{"remove", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Remove("/a"))
		}, []string{"a b d/", "b d/"}},
		{"rename", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Rename("/a", "/c"))
		}, []string{"a b d/", "b c d/"}},
		{"two renames", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Rename("/a", "/c"))
			must(t, disk.RenameNoReplace("/c", "/e"))
		}, []string{"a b d/", "b c d/", "b d/ e"}},
		{"independent changes", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Remove("/a"))
			must(t, disk.Remove("/b"))
		}, []string{"a b d/", "a d/", "b d/", "d/"}},
		{"mkdir", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Mkdir("/new"))
			saved(t, disk, "/new/file", "synced, but in a directory that may vanish")
		}, []string{"a b d/", "a b d/ new/file"}},
		{"into another directory", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Rename("/a", "/d/a"))
		}, []string{"a b d/", "b d/a"}},
		{"into another directory, target synced", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Rename("/a", "/d/a"))
			must(t, disk.SyncDir("/d"))
		}, []string{"a b d/a", "b d/a"}},
		{"into another directory, source synced", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Rename("/a", "/d/a"))
			must(t, disk.SyncDir("/"))
		}, []string{"b d/", "b d/a"}},
		{"all synced", func(t *testing.T, disk *crashdisk.Disk) {
			must(t, disk.Rename("/a", "/d/a"))
			must(t, disk.Remove("/b"))
			must(t, disk.SyncDir("/"))
			must(t, disk.SyncDir("/d"))
		}, []string{"d/a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := crashdisk.New()
			must(t, disk.Mkdir("/d"))
			saved(t, disk, "/a", "text of a")
			saved(t, disk, "/b", "text of b")
			tt.change(t, disk)
			look := func(after *crashdisk.Disk) string { return tree(t, after, "/") }
			wantOutcomes(t, outcomes(disk, look), tt.want...)
			if got := look(disk.Crash(nil)); got != tt.want[0] {
				t.Errorf("without luck: got %q, want %q", got, tt.want[0])
			}
		})
	}
}

// tree is all names under dir on one line.
func tree(t testing.TB, disk *crashdisk.Disk, dir string) string {
	t.Helper()
	entries, err := disk.ReadDir(dir)
	must(t, err)
	var all []string
	for _, e := range entries {
		switch {
		case !e.IsDir():
			all = append(all, e.Name())
		default:
			all = append(all, e.Name()+"/"+tree(t, disk, filepath.Join(dir, e.Name())))
		}
	}
	return strings.Join(all, " ")
}

func TestReplacedFileIsOldOrNew(t *testing.T) {
	disk := crashdisk.New()
	saved(t, disk, "/a", "old")
	must(t, create(t, disk, "/temp").Close())
	must(t, disk.Rename("/temp", "/a"))
	look := func(after *crashdisk.Disk) string { return tree(t, after, "/") + ": " + read(t, after, "/a") }
	wantOutcomes(t, outcomes(disk, look), "a: old", "a temp: old", "a: ")
}

// Kill keeps everything, but it does not sync it.
func TestKill(t *testing.T) {
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "synced,")
	write(t, f, "written")
	must(t, create(t, disk, "/new").Close())
	next := disk.Kill()
	if got := tree(t, next, "/"); got != "log new" {
		t.Errorf("after the kill: got %q, want both files", got)
	}
	wantOutcomes(t, outcomes(disk.Kill(), func(after *crashdisk.Disk) string { return tree(t, after, "/") }),
		"log", "log new")
	if got := read(t, next, "/log"); got != "synced,written" {
		t.Errorf("after the kill: got %q, want all that was written", got)
	}

	write(t, create(t, next, "/other"), "does not change the disk before")
	after := next.Crash(nil)
	if got := tree(t, after, "/") + ": " + read(t, after, "/log"); got != "log: synced," {
		t.Errorf("after kill and crash: got %q, want %q", got, "log: synced,")
	}
	if got := read(t, disk.Kill(), "/other"); got != gone {
		t.Errorf("the killed disk has the file of its successor: %q", got)
	}
}

func TestAFileOfADeadProcessCanBeSynced(t *testing.T) {
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "synced")
	write(t, f, ", not synced")
	disk = disk.Kill()
	if got := read(t, disk.Crash(nil), "/log"); got != "synced" {
		t.Errorf("without a sync: %q", got)
	}
	disk = disk.Kill()
	must(t, disk.SyncFile("/log"))
	if got := read(t, disk.Crash(nil), "/log"); got != "synced, not synced" {
		t.Errorf("after the sync: %q", got)
	}
}

func TestHandlesDieWithThePower(t *testing.T) {
	ends := map[string]func(disk *crashdisk.Disk){
		"crash": func(disk *crashdisk.Disk) { disk.Crash(nil) },
		"kill":  func(disk *crashdisk.Disk) { disk.Kill() },
		"stop":  func(disk *crashdisk.Disk) { disk.StopAfter(disk.Ops()) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			disk := crashdisk.New()
			f := saved(t, disk, "/log", "x")
			r, err := disk.OpenRead("/log")
			must(t, err)
			ops := disk.Ops()
			end(disk)
			for what, err := range everyOperation(disk, f, r) {
				wantCause(t, what, err, crashdisk.ErrPowerOff)
			}
			if got := disk.Ops(); got != ops {
				t.Errorf("operations without power were counted: got %d, want %d", got, ops)
			}
		})
	}
}

// everyOperation tries all of them on a disk with a file /log.
func everyOperation(disk *crashdisk.Disk, f durable.File, r durable.ReadFile) map[crashdisk.Op]error {
	_, writeErr := io.WriteString(f, "y")
	_, readErr := r.Read(make([]byte, 1))
	_, createErr := disk.CreateAppend("/new")
	_, openErr := disk.OpenRead("/log")
	_, readDirErr := disk.ReadDir("/")
	_, lstatErr := disk.Lstat("/log")
	_, freeErr := disk.Free("/")
	return map[crashdisk.Op]error{
		crashdisk.OpWrite: writeErr, crashdisk.OpRead: readErr, crashdisk.OpCreate: createErr,
		crashdisk.OpOpen: openErr, crashdisk.OpReadDir: readDirErr, crashdisk.OpLstat: lstatErr,
		crashdisk.OpFree: freeErr, crashdisk.OpSync: f.Sync(), crashdisk.OpTruncate: f.Truncate(0),
		crashdisk.OpMkdir: disk.Mkdir("/d"), crashdisk.OpSyncDir: disk.SyncDir("/"),
		crashdisk.OpRename: disk.Rename("/log", "/b"), crashdisk.OpRemove: disk.Remove("/log"),
		crashdisk.OpClose: f.Close(),
	}
}

// What one crash left is on the disk, and the next crash leaves it alone.
func TestCrashAfterCrash(t *testing.T) {
	disk := crashdisk.New()
	must(t, disk.Mkdir("/d"))
	write(t, create(t, disk, "/d/log"), "some text")
	for seed := range uint64(100) {
		once := disk.Crash(rand.New(rand.NewPCG(seed, 2)))
		want := tree(t, once, "/") + ": " + read(t, once, "/d/log")
		twice := once.Crash(nil)
		if got := tree(t, twice, "/") + ": " + read(t, twice, "/d/log"); got != want {
			t.Fatalf("first %q, then %q", want, got)
		}
	}
}

// A torn rename leaves two names of one file; renaming one to the other does nothing, as in
// rename(2).
func TestTwoNamesOfOneFile(t *testing.T) {
	disk := crashdisk.New()
	must(t, disk.Mkdir("/d"))
	saved(t, disk, "/a", "12345")
	must(t, disk.Rename("/a", "/d/a"))
	must(t, disk.SyncDir("/d"))
	torn := disk.Crash(nil)
	torn.Limit(5)
	must(t, torn.Rename("/a", "/d/a"))
	if got := tree(t, torn, "/"); got != "a d/a" {
		t.Errorf("after the rename: got %q, want both names", got)
	}
	must(t, torn.Remove("/a"))
	if free, err := torn.Free("/"); free != 0 || err != nil {
		t.Errorf("free with one name left: got %d, %v, want 0", free, err)
	}
}

func TestDirectoriesStayWithTheirParent(t *testing.T) {
	disk := crashdisk.New()
	must(t, disk.Mkdir("/a"))
	must(t, disk.Mkdir("/b"))
	if err := disk.Rename("/a", "/b/a"); err == nil {
		t.Error("moved a directory into another one, want it refused")
	}
	must(t, disk.Rename("/a", "/c"))
	wantCause(t, "remove of the root", disk.Remove("/"), syscall.EBUSY)
	wantCause(t, "making the root", disk.Mkdir("/"), fs.ErrExist)
}

// A file is told from another that took its name by its inode number, and a
// file that lost something from one that did not by its modification time.
func TestInodeAndTimeOverACrash(t *testing.T) {
	disk := crashdisk.New()
	saved(t, disk, "/whole", "all of it")
	f := saved(t, disk, "/cut", "half of it")
	write(t, f, " is not synced")
	before := map[string]fs.FileInfo{}
	for _, name := range []string{"/whole", "/cut"} {
		info, err := disk.Lstat(name)
		must(t, err)
		before[name] = info
	}
	disk = disk.Crash(nil)
	for name, was := range before {
		is, err := disk.Lstat(name)
		must(t, err)
		if ino(was) != ino(is) || ino(is) == 0 {
			t.Errorf("%s has inode %d after the crash, had %d", name, ino(is), ino(was))
		}
		if changed := !is.ModTime().Equal(was.ModTime()); changed != (name == "/cut") {
			t.Errorf("%s changed its time: %v", name, changed)
		}
	}
}

func ino(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

func TestExchangeIsOneChange(t *testing.T) {
	exchanged := func() *crashdisk.Disk {
		disk := crashdisk.New()
		saved(t, disk, "/note", "theirs")
		saved(t, disk, "/temp", "ours")
		must(t, disk.Exchange("/temp", "/note"))
		return disk
	}
	both := func(after *crashdisk.Disk) string { return read(t, after, "/note") + " " + read(t, after, "/temp") }
	wantOutcomes(t, outcomes(exchanged(), both), "theirs ours", "ours theirs")
	killed := exchanged().Kill()
	if got := both(killed); got != "ours theirs" {
		t.Errorf("after a kill: got %q, want both exchanged", got)
	}
	wantOutcomes(t, outcomes(killed, both), "theirs ours", "ours theirs")
	synced := exchanged()
	must(t, synced.SyncDir("/"))
	wantOutcomes(t, outcomes(synced, both), "ours theirs")
}

// The exchange of a file whose name was lost cannot have happened either.
func TestExchangeWithUnsyncedName(t *testing.T) {
	disk := crashdisk.New()
	saved(t, disk, "/note", "theirs")
	f := create(t, disk, "/temp")
	write(t, f, "ours")
	must(t, f.Sync())
	must(t, disk.Exchange("/temp", "/note"))
	wantOutcomes(t, outcomes(disk, func(after *crashdisk.Disk) string {
		return read(t, after, "/note") + " " + read(t, after, "/temp")
	}), "theirs (gone)", "theirs ours", "ours theirs")
}

func TestSyncFileIsASync(t *testing.T) {
	disk := crashdisk.New()
	write(t, saved(t, disk, "/note", "old"), " and new")
	must(t, disk.SyncFile("/note"))
	if got := read(t, disk.Crash(nil), "/note"); got != "old and new" {
		t.Errorf("got %q, want what was flushed", got)
	}
}

package stm_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/wal"
)

const kib = 1 << 10

// roomy is a store on a disk whose room the test decides on.
func roomy(t *testing.T, o wal.Options) (*stm.Store, *crashdisk.Disk) {
	t.Helper()
	disk := crashdisk.New()
	o.FS = disk
	s, err := stm.Open("/data", "/state", &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, disk
}

// leave makes so many bytes free on the disk.
func leave(t *testing.T, disk *crashdisk.Disk, free uint64) {
	t.Helper()
	const much = 1 << 40
	disk.Limit(much)
	have, err := disk.Free("/")
	if err != nil {
		t.Fatal(err)
	}
	disk.Limit(much - have + free)
}

func put(s *stm.Store, n int, text string) error {
	return one(s, "save", wal.Change{ID: idOf(n), Set: textOf(text)})
}

func forget(s *stm.Store, n int) error {
	return one(s, "forget", wal.Change{ID: idOf(n), Delete: true})
}

func wantCode(t *testing.T, what string, err error, want memory.Code) {
	t.Helper()
	if got := memory.CodeOf(err); got != want {
		t.Errorf("%s: %q (%v), want %q", what, got, err, want)
	}
}

func TestSavesStopBeforeTheDiskIsFullAndForgettingGoesOn(t *testing.T) {
	s, disk := roomy(t, wal.Options{})
	wantCode(t, "save with room", put(s, 1, "one"), "")
	leave(t, disk, wal.MinFree-1)
	s.Wal().Writer.Space.Asked = s.Wal().Now().Add(-wal.AskEvery)
	err := put(s, 2, "two")
	wantCode(t, "save without room", err, memory.DiskFull)
	if err == nil || !strings.Contains(err.Error(), "/data") || !strings.Contains(err.Error(), "16 MiB") {
		t.Errorf("the error names neither folder nor bound: %v", err)
	}
	wantCode(t, "edit without room", one(s, "edit", wal.Change{ID: idOf(1), Set: textOf("longer")}), memory.DiskFull)
	wantCode(t, "save and forget at once", one(s, "edit", wal.Change{ID: idOf(1), Delete: true}, wal.Change{ID: idOf(2), Set: textOf("two")}), memory.DiskFull)
	wantCode(t, "forget without room", forget(s, 1), "")
	if st := s.Status(); st.LowSpace == "" || st.ReadOnly != "" || len(st.Warnings) == 0 {
		t.Errorf("status %+v; want low space, and not read-only", st)
	}
	leave(t, disk, wal.MinFree+wal.BallastBytes)
	wantCode(t, "save with room again", put(s, 2, "two"), "")
	if st := s.Status(); st.LowSpace != "" {
		t.Errorf("status still says %q", st.LowSpace)
	}
}

// Case 9: ENOSPC at once. What there is no room for is refused, what makes room
// is written into the ballast's, and both are all right after a power cut.
func TestTheBallastIsForForgettingOnAFullDisk(t *testing.T) {
	s, disk := roomy(t, wal.Options{MinFree: 1, Ballast: 8 * kib})
	wantCode(t, "save", put(s, 1, "one"), "")
	if err := s.Wal().Ballast.Make(); err != nil {
		t.Fatal(err)
	}
	leave(t, disk, 10)
	wantCode(t, "save on a full disk", put(s, 2, "two"), memory.DiskFull)
	if _, err := disk.Lstat("/state/ballast"); err == nil {
		t.Error("the ballast is still there")
	}
	wantCode(t, "forget on a full disk", forget(s, 1), "")
	leave(t, disk, 4*kib)
	wantCode(t, "save where the ballast does not fit", put(s, 2, "two"), memory.DiskFull)
	leave(t, disk, 64*kib)
	wantCode(t, "save with room again", put(s, 2, "two"), "")
	if info, err := disk.Lstat("/state/ballast"); err != nil || info.Size() != 8*kib {
		t.Errorf("the ballast is not back: %v, %v", info, err)
	}
	after, err := openOn(disk.Crash(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if _, ok := after.Get(idOf(1)); ok {
		t.Error("what was forgotten is back")
	}
	if r, ok := after.Get(idOf(2)); !ok || r.Content() != "two" {
		t.Error("what was saved is not there")
	}
}

// Case 12, EDQUOT: the disk says that there is room. It is not believed for a
// minute, so that not each save writes the ballast in vain.
func TestAQuotaIsAFullDisk(t *testing.T) {
	now := time.Now()
	s, disk := roomy(t, wal.Options{Ballast: 8 * kib, Now: func() time.Time { return now }})
	wantCode(t, "save", put(s, 1, "one"), "")
	if err := s.Wal().Ballast.Make(); err != nil {
		t.Fatal(err)
	}
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpWrite, Path: ".jsonl", Err: syscall.EDQUOT, ShortBy: 20})
	wantCode(t, "save over the quota", put(s, 2, "two"), memory.DiskFull)
	ops := disk.Ops()
	wantCode(t, "another save", put(s, 2, "two"), memory.DiskFull)
	if disk.Ops() != ops {
		t.Errorf("the disk was bothered: %v", disk.Trace()[ops:])
	}
	wantCode(t, "forget", forget(s, 1), "")
	now = now.Add(wal.RetryAfter)
	wantCode(t, "save a minute later", put(s, 2, "two"), "")
	if _, err := disk.Lstat("/state/ballast"); err != nil {
		t.Errorf("the ballast is not back: %v", err)
	}
}

// One batch may hold both kinds; the forgets in it do not fail with the saves.
func TestAFullDiskRefusesOnlyTheSavesOfABatch(t *testing.T) {
	s, disk := roomy(t, wal.Options{MinFree: 1, Ballast: 8 * kib})
	wantCode(t, "save", put(s, 1, "one"), "")
	if err := s.Wal().Ballast.Make(); err != nil {
		t.Fatal(err)
	}
	leave(t, disk, 10)
	batch := make([]*wal.Pending, 0, 2)
	for _, tx := range []wal.Tx{
		{Verb: "forget", Changes: []wal.Change{{ID: idOf(1), Delete: true}}},
		{Verb: "save", Changes: []wal.Change{{ID: idOf(2), Set: textOf("two")}}},
	} {
		p, err := s.Encoded(&tx)
		if err != nil {
			t.Fatal(err)
		}
		p.Release = func() {}
		batch = append(batch, p)
	}
	if err := s.Wal().Writer.Commit(slices.Clone(batch)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "forget", batch[0].Err, "")
	wantCode(t, "save", batch[1].Err, memory.DiskFull)
}

func TestTheBallastStandsWhereItDoesNoHarm(t *testing.T) {
	state := t.TempDir()
	same := wal.NewBallast(durable.OS{}, t.TempDir(), state, kib)
	if want := filepath.Join(state, "ballast"); same.Name != want {
		t.Errorf("on one disk it is %s, want %s", same.Name, want)
	}
	first := filepath.Join(t.TempDir(), "k7q2mzxa") // the device's folder, before the first start
	if got, want := wal.NewBallast(durable.OS{}, first, state, kib).Name, filepath.Join(state, "ballast"); got != want {
		t.Errorf("at the first start it is %s, want %s", got, want)
	}
	other, err := os.MkdirTemp("/dev/shm", "emberd")
	if err != nil || wal.DiskOf(durable.OS{}, other) == wal.DiskOf(durable.OS{}, state) {
		t.Skip("there is no second file system at /dev/shm")
	}
	t.Cleanup(func() { os.RemoveAll(other) })
	if got, want := wal.NewBallast(durable.OS{}, other, state, kib).Name, filepath.Join(other, ".ballast"); got != want {
		t.Errorf("on another disk it is %s, want %s", got, want)
	}
}

// Earlier versions made it in the device's folder at the first start, where sync tools carry it.
func TestTheBallastOfTheFirstStartIsRemoved(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	old := filepath.Join(dir, ".ballast")
	if err := os.WriteFile(old, []byte("room"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := wal.NewBallast(durable.OS{}, dir, state, kib).Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still in the data folder: %v", err)
	}
}

func TestABallastThatWasCutOffIsMadeAgain(t *testing.T) {
	b := wal.NewBallast(durable.OS{}, t.TempDir(), t.TempDir(), 4*kib)
	if err := os.WriteFile(b.Name, []byte("cut off"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Make(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(b.Name); err != nil || info.Size() != 4*kib {
			t.Errorf("it is %v, %v", info, err)
		}
	}
	if !b.Drop() || b.Drop() {
		t.Error("it can be given up once")
	}
}

func TestAMissingLogIsNotBegunAnew(t *testing.T) {
	for name, lose := range map[string]func(data string) error{
		"not mounted": os.RemoveAll,
		"emptied": func(data string) error {
			return os.RemoveAll(filepath.Join(data, "stm"))
		},
		"segments deleted": func(data string) error {
			files, err := filepath.Glob(filepath.Join(data, "stm", "*", "*"))
			for _, f := range files {
				err = errors.Join(err, os.Remove(f))
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			before := ts.Wal().Device
			for range 2 {
				ts.save("on the disk")
				ts.reopen()
			}
			ts.Close()
			data := filepath.Join(ts.root, "data")
			if err := lose(data); err != nil {
				t.Fatal(err)
			}
			state := filepath.Join(ts.root, "state")
			_, err := stm.Open(data, state, &ts.opt)
			if wantCode(t, "start", err, memory.Unavailable); !errors.Is(err, device.ErrLogGone) || !strings.Contains(err.Error(), "--accept-empty-data") {
				t.Errorf("it is not said what is wrong and what to do: %v", err)
			}
			if _, err := os.Stat(data); name == "not mounted" && err == nil {
				t.Error("the folder was made")
			}
			ts.opt.AcceptEmpty = true
			ts.open()
			if ts.Wal().Device == before {
				t.Error("numbers that other devices may know would be used again")
			}
			id := ts.save("a new log").ID()
			ts.opt.AcceptEmpty = false
			ts.reopen()
			ts.wantContent(id, "a new log")
		})
	}
}

// Going back after a restore warns of the memories that only the restored log had, and of no others.
func TestGoingBackAfterARestore(t *testing.T) {
	for name, want := range map[string]string{"nothing new": "", "new memories": "memories=2"} {
		var said bytes.Buffer
		ts := openStore(t, wal.Options{Logger: slog.New(slog.NewTextHandler(&said, nil))})
		ts.save("from before")
		ts.Close()
		data, state := filepath.Join(ts.root, "data"), filepath.Join(ts.root, "state")
		aside := filepath.Join(ts.root, "before")
		err := os.CopyFS(aside, os.DirFS(data))
		if err == nil {
			err = device.ForgetDevice(durable.OS{}, state, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		ts.open()
		for range 2 {
			if id := ts.save("from after").ID(); want == "" {
				ts.purge(id)
			}
			ts.reopen()
		}
		ts.Close()
		if err := errors.Join(os.RemoveAll(data), os.Rename(aside, data)); err != nil {
			t.Fatal(err)
		}
		ts.opt.AcceptEmpty = true
		ts.open()
		_, warned, found := strings.Cut(said.String(), "without memories of the earlier log")
		if found != (want != "") || !strings.Contains(warned, want) {
			t.Errorf("%s: %s", name, said.String())
		}
	}
}

func TestDurabilityIsRefusedWhereItDoesNotExist(t *testing.T) {
	for d, ok := range map[wal.Durability]bool{"": true, wal.Full: true, wal.None: true, wal.Barrier: runtime.GOOS == "darwin", "later": false} {
		s, err := stm.Open(filepath.Join(t.TempDir(), "data"), t.TempDir(), &wal.Options{Durability: d})
		if ok != (err == nil) || !ok && memory.CodeOf(err) != memory.Invalid {
			t.Errorf("durability %q: %v", d, err)
		}
		if err == nil {
			s.Close()
		}
	}
}

func TestACommitIsToldEvenIfNobodyWaitsForIt(t *testing.T) {
	told := make(chan record.Entry, 2)
	ts := stalled(t, wal.Options{Committed: func(e record.Entry) { told <- e }})
	<-told // the memory before the stall
	ctx, giveUp := context.WithCancel(context.Background())
	answer := make(chan error)
	go func() { answer <- ts.saveFor(ctx, idOf(1), "in the stall") }()
	<-ts.waiting
	giveUp()
	wantCode(t, "gave up", <-answer, memory.Unknown)
	ts.release()
	if e := <-told; e.Verb != "save" || len(e.IDs) != 1 || e.IDs[0] != idOf(1) {
		t.Errorf("told %+v", e)
	}
	ts.wantContent(idOf(1), "in the stall")
}

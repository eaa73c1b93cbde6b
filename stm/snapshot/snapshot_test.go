package snapshot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"emberd/internal/testutil/bubble"
	"emberd/internal/testutil/crashdisk"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// contentOf is a log of n memories whose texts have size bytes. Its own numbers are said to end at n.
func contentOf(t *testing.T, n, size int) *snapshot.Content {
	t.Helper()
	dev, _ := record.ParseDevice("k7q2mzxa")
	c := &snapshot.Content{Meta: snapshot.Meta{Analyzer: "plain", Device: dev, Seq: uint64(n)}, Table: table.NewTable(),
		Journal: journal.NewJournal(nil, nil), Keys: journal.NewIdemKeys(), Words: words.New()}
	for i := range n {
		text, err := json.Marshal(map[string]string{"content": fmt.Sprint(i, strings.Repeat("z", size))})
		if err != nil {
			t.Fatal(err)
		}
		l := record.Line{Seq: uint64(i + 1), Stamp: record.Stamp{T: uint64(i+1) << 16, Dev: dev}, Op: record.OpPut,
			Changes: []record.Change{{Op: record.OpPut, ID: memory.DeriveID([]byte{byte(i)}), Data: text}}}
		if _, err := c.Table.Apply(&l.Changes[0], &l, record.Place{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// holds returns how many memories the snapshot of a disk has, -1 if there is none, and fails if it is
// anything but whole.
func holds(t *testing.T, disk *crashdisk.Disk) int {
	t.Helper()
	f, in, err := snapshot.Open(disk, "/index/stm.snap")
	if errors.Is(err, fs.ErrNotExist) {
		return -1
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m, err := f.Meta()
	if err != nil {
		t.Fatal(err)
	}
	got := table.NewTable()
	_, _, err = f.Table(got, 0, nil)
	_, indexErr := f.Words()
	if err := errors.Join(err, indexErr, f.Journal(journal.NewJournal(nil, nil), 0), f.Keys(journal.NewIdemKeys())); err != nil {
		t.Fatal(err)
	}
	if int(got.Live.Load()) != int(m.Seq) {
		t.Errorf("%d memories, want %d", got.Live.Load(), m.Seq)
	}
	return int(m.Seq)
}

// Whenever the power goes while a snapshot of several parts replaces another, one of them is there, whole.
func TestPowerCutsWhileASnapshotIsWritten(t *testing.T) {
	t.Parallel()
	first, second := contentOf(t, 3, 100), contentOf(t, 24, 100_000)
	write := func(stopAfter int) *crashdisk.Disk {
		disk := crashdisk.New()
		if err := snapshot.Save(t.Context(), disk, "/index/stm.snap", first, snapshot.Manner{}); err != nil {
			t.Fatal(err)
		}
		if stopAfter > 0 {
			disk.StopAfter(stopAfter)
		}
		err := snapshot.Save(t.Context(), disk, "/index/stm.snap", second, snapshot.Manner{})
		if err != nil && stopAfter == 0 {
			t.Fatal(err)
		}
		return disk
	}
	before := crashdisk.New()
	if err := snapshot.Save(t.Context(), before, "/index/stm.snap", first, snapshot.Manner{}); err != nil {
		t.Fatal(err)
	}
	all, seen := write(0), map[int]int{}
	for n := before.Ops() + 1; n <= all.Ops(); n++ {
		disk := write(n)
		for luck := range uint64(4) {
			seen[holds(t, disk.Crash(rand.New(rand.NewPCG(uint64(n), luck))))]++
		}
		seen[holds(t, disk.Kill())]++
	}
	if seen[3] == 0 || seen[24] == 0 || len(seen) != 2 {
		t.Errorf("snapshots by how many memories they have: %v, want some of 3, some of 24, no others", seen)
	}
}

// A snapshot whose uses are not in the log does not take the place of the earlier one.
func TestASnapshotCountsOnceItIsSettled(t *testing.T) {
	t.Parallel()
	disk := crashdisk.New()
	if err := snapshot.Save(t.Context(), disk, "/index/stm.snap", contentOf(t, 3, 100), snapshot.Manner{}); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("the uses are not on the disk")
	settle := func() error { return failed }
	err := snapshot.Save(t.Context(), disk, "/index/stm.snap", contentOf(t, 24, 100_000), snapshot.Manner{Settle: settle})
	if !errors.Is(err, failed) || holds(t, disk) != 3 {
		t.Errorf("%v, and %d memories", err, holds(t, disk))
	}
	if left, err := disk.ReadDir("/index"); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// What is written gently takes twice the time of what it is written to, whose own time it is.
func TestAGentleSnapshotLeavesHalfOfTheTime(t *testing.T) {
	t.Parallel()
	c := contentOf(t, 40, 100_000)
	bubble.Test(t, func(t *testing.T) {
		for _, gently := range []bool{false, true} {
			begin, disk := time.Now(), &slowDisk{}
			if err := snapshot.Write(t.Context(), disk, c, gently); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took < disk.busy || took > 2*disk.busy || gently == (took < disk.busy*3/2) {
				t.Errorf("gently %v: %v, %v of it writing", gently, took, disk.busy)
			}
		}
	})
}

// slowDisk takes a second for every MiB.
type slowDisk struct{ busy time.Duration }

func (d *slowDisk) Write(b []byte) (int, error) {
	takes := time.Duration(len(b)) * time.Second >> 20
	time.Sleep(takes)
	d.busy += takes
	return len(b), nil
}

func TestWriteEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancelCause(t.Context())
	why := errors.New("no time left")
	end(why)
	if err := snapshot.Write(ctx, io.Discard, contentOf(t, 1, 1), false); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

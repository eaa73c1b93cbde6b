package stm_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// counting counts the files that are opened to be read.
type counting struct {
	durable.OS
	reads atomic.Int64
}

func (d *counting) OpenRead(name string) (durable.ReadFile, error) {
	d.reads.Add(1)
	return d.OS.OpenRead(name)
}

// A line that forgot thousands of memories is read once for all of them.
func TestALineIsReadOnceForAllThatItForgot(t *testing.T) {
	disk := &counting{}
	ts := openStore(t, wal.Options{FS: disk})
	var ids []memory.ID
	for range 20 {
		ids = append(ids, ts.save("apple").ID())
	}
	live := ts.save("pear").ID()
	ts.forget(ids[:12]...)
	ts.forget(ids[12:]...)
	disk.reads.Store(0)
	found, n, err := ts.ReadTrash(append(ids, live))
	if err != nil || n != 21 || len(found) != 20 || disk.reads.Load() != 2 {
		t.Fatalf("%d of %d found in %d reads, %v", len(found), n, disk.reads.Load(), err)
	}
	for _, id := range ids {
		if b := found[id]; b.Memory.Content != "apple" || string(b.Fields["content"]) != `"apple"` || b.Forgotten.IsZero() {
			t.Errorf("unearthed %+v", b)
		}
	}
	disk.reads.Store(0)
	if _, err := ts.Restore(context.Background(), ids, memory.Actor{}); err != nil || disk.reads.Load() != 2 {
		t.Errorf("restored in %d reads, %v", disk.reads.Load(), err)
	}
	ts.wantContent(ids[19], "apple")
}

// What is read at a time is bounded by the lines, and one is read in any case.
func TestUnearthingEndsAtItsBound(t *testing.T) {
	ts := openStore(t, wal.Options{})
	var ids []memory.ID
	for range 6 {
		ids = append(ids, ts.save("apple").ID())
	}
	line := ts.forget(ids[:4]...)
	ts.forget(ids[4:]...)
	g, _ := ts.Tombstone(ids[0])
	for most, want := range map[int64]int{0: 4, int64(g.At.N): 4, math.MaxInt64: 6} {
		keys, n, err := ts.UnearthSome(ids, most)
		if err != nil || n != want || len(keys) != want {
			t.Errorf("%d bytes: %d of %d found, %v", most, len(keys), n, err)
		}
	}
	ts.undo(line.Entry)
	if found, n, err := ts.ReadTrash(ids[:4]); err != nil || n != 4 || len(found) != 0 {
		t.Errorf("of live ones %d of %d found, %v", len(found), n, err)
	}
}

// A line that a compaction moves while others are read is looked for where it is then.
func TestTheTrashIsReadWhileFilesGo(t *testing.T) {
	disk := &vanishing{}
	ts := openStore(t, wal.Options{FS: disk})
	ids := []memory.ID{ts.save("apple").ID(), ts.save("pear").ID()}
	ts.forget(ids...)
	ts.reopen()
	disk.look.Store(new(func() { ts.compact(); ts.unlink() }))
	found, n, err := ts.ReadTrash(ids)
	if err != nil || n != 2 || len(found) != 2 || found[ids[0]].Memory.Content != "apple" {
		t.Errorf("%d of %d found, %v", len(found), n, err)
	}
	if files := ts.segments(); disk.look.Load() != nil || slices.Contains(files, filepath.Join(ts.Wal().Writer.Dir, record.SegmentName(1))) {
		t.Errorf("nothing was removed meanwhile: %v", files)
	}
}

package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"emberd/engine/promote"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// queueDisk counts how often the queue of notes to write was written.
type queueDisk struct {
	durable.FS
	writes atomic.Int64
}

func (q *queueDisk) Rename(from, to string) error {
	if strings.HasSuffix(to, filepath.Join("pending", "notes.json")) {
		q.writes.Add(1)
	}
	return q.FS.Rename(from, to)
}

// atMost fails if the queue was written more often than that since the last call.
func (q *queueDisk) atMost(t *testing.T, most int64, when string) {
	t.Helper()
	if n := q.writes.Swap(0); n > most {
		t.Errorf("%s: the queue was written %d times, want %d at most", when, n, most)
	}
}

// The queue is written once for all notes that change, wait or are written together.
func TestTheQueueIsWrittenOnceForManyNotes(t *testing.T) {
	t.Parallel()
	const many = 20
	disk := &queueDisk{FS: durable.OS{}}
	d := shelf(t, nil)
	ok(t, d.Close())
	d.FS = disk
	d.start()
	var ids []memory.ID
	for i := range many {
		ids = append(ids, save(t, d.Engine, fmt.Sprintf("The kettle number %d leaks at the seam", i)).ID)
	}
	got := d.archived(ids...)
	disk.writes.Store(0)
	done := busy(t, d.house)
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	disk.atMost(t, 2, "the undo of an archiving, while git is at work")
	if n := len(d.Promote.Pending.List()); n != many {
		t.Errorf("%d notes wait, want %d", n, many)
	}
	d.advance(promote.FirstTry)
	d.Promote.WriteDue(t.Context())
	disk.atMost(t, 1, "a try while git is at work")
	done()
	d.advance(promote.LastTry)
	d.Promote.WriteDue(t.Context())
	disk.atMost(t, 1, "the removal")
	wantFiles(t, d.house)
	if left := reopenedQueue(t, d).List(); len(left) > 0 {
		t.Errorf("on disk is %+v", left)
	}
}

// The stages of notes that fade together are in the queue by one write, before the log has them, and so are those
// of an undo.
func TestTheQueueIsWrittenOnceForManyStages(t *testing.T) {
	t.Parallel()
	const many = 10
	disk := &queueDisk{FS: durable.OS{}}
	d := shelf(t, nil)
	ok(t, d.Close())
	d.FS = disk
	d.start()
	for i := range many {
		text := fmt.Sprintf("the kettle number %d leaks", i)
		path := fmt.Sprintf("Kettle %d.md", i)
		id := d.kept(text, path)
		d.edit(path, withProperties(id, "stage: active\n", text))
	}
	d.advance(10 * day)
	disk.writes.Store(0)
	run := runs(t, d.Engine)
	wantMoves(t, run, map[string]int{op.MoveDemote: many})
	disk.atMost(t, 1, "a lifecycle run")
	if left := reopenedQueue(t, d).List(); len(left) != many {
		t.Errorf("%d writes are on disk, want %d", len(left), many)
	}
	d.rest(t, d.Engine)
	disk.atMost(t, 1, "the writes of the notes")
	wantNote(t, d.house, "Kettle 3.md", `stage: "demoted"`)
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: run.Tx})
	disk.atMost(t, 1, "the undo")
	if left := reopenedQueue(t, d).List(); len(left) != many {
		t.Errorf("after the undo %d writes are on disk, want %d", len(left), many)
	}
}

// reopenedQueue is the queue as a restart finds it.
func reopenedQueue(t *testing.T, d *desk) *promote.PendingWrites {
	t.Helper()
	p, err := promote.OpenPending(durable.OS{}, d.State)
	ok(t, err)
	return p
}

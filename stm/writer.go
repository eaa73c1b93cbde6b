package stm

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"emberd/memory"
)

// Bounds of one group commit and of the queue before it.
const (
	maxBatchLines = 512
	maxBatchBytes = 1 << 20
	maxQueue      = 4096
	useDelay      = time.Second
	retryAfter    = 60 * time.Second // between probes of a log that failed to sync
	clockJump     = time.Hour
)

// pending is one transaction on its way to the disk.
type pending struct {
	line    line
	terms   []termCounts // of each change's text after it, empty for deletes
	bytes   int
	rows    []*Row
	err     error
	done    chan struct{}
	release func() // unlocks what the transaction touches
}

// writer owns the end of the log: one goroutine takes what is queued, writes it
// as one batch, syncs once, and only then changes the table and answers. What
// arrives meanwhile is the next batch, so nobody waits for company.
type writer struct {
	*Store
	clock hlc
	seq   uint64
	lost  [][2]uint64 // sequence numbers that may or may not be on disk
	dev   *device
	dir   string
	// dirInode tells whether dir is still the folder that was read.
	dirInode uint64

	lastSegment uint32
	active      *segment
	failed      time.Time // of the last sync that could not be recovered from

	queue   chan *pending
	marks   chan chan cursor // asks for a point of the log between two batches
	stop    chan struct{}
	stopped sync.WaitGroup
	buf     []byte
}

// trouble is why the last write failed, for status; nil when it did not.
type trouble struct {
	code   memory.Code
	reason string
}

func (w *writer) run() {
	var flush <-chan time.Time // armed while uses wait for company
	for {
		select {
		case p := <-w.queue:
			w.commit(w.gather(p))
		case <-w.uses.wake:
			if flush == nil {
				flush = time.After(useDelay)
			}
			continue
		case answer := <-w.marks:
			answer <- w.cursor()
			continue
		case <-flush:
			w.commit(nil)
		case <-w.stop:
			w.drain()
			return
		}
		if flush = nil; w.uses.waiting() {
			flush = time.After(useDelay)
		}
	}
}

// drain writes what was queued before Close.
func (w *writer) drain() {
	for {
		select {
		case p := <-w.queue:
			w.commit(w.gather(p))
		default:
			if !w.uses.waiting() || w.commit(nil) != nil {
				return
			}
		}
	}
}

// gather takes what is queued already, without waiting for more. Callers that
// the last batch has just answered get to run first: they are about to queue
// their next transaction, and would else wait for the sync of a batch of one.
func (w *writer) gather(first *pending) []*pending {
	runtime.Gosched()
	batch, size := []*pending{first}, first.bytes
	for len(batch) < maxBatchLines && size < maxBatchBytes {
		select {
		case p := <-w.queue:
			batch, size = append(batch, p), size+p.bytes
		default:
			return batch
		}
	}
	return batch
}

// commit writes one batch, with the uses that wait, and answers everybody.
func (w *writer) commit(batch []*pending) error {
	use := w.uses.take()
	if len(batch) == 0 && use == nil {
		return nil
	}
	err := w.store(batch, use)
	if err != nil {
		w.uses.giveBack(use)
	}
	for _, p := range batch {
		if p.err = err; err == nil {
			w.settle(p)
		}
		p.release()
		close(p.done)
	}
	return err
}

// settle makes a durable transaction visible.
func (w *writer) settle(p *pending) {
	for i := range p.line.changes {
		c := &p.line.changes[i]
		cell, err := w.table.apply(c, &p.line, p.line.at)
		if err != nil {
			w.log.Error("apply a committed change", "id", c.id, "error", err)
			continue
		}
		row := cell.row.Load()
		w.index.update(cell, row, p.terms[i])
		if !row.live() {
			row = nil
		}
		p.rows = append(p.rows, row)
	}
	w.journal.add(&p.line)
	w.keys.add(&p.line)
	w.changes.Add(int64(len(p.line.changes)))
}

// store puts the batch on disk, or fails as a whole.
func (w *writer) store(batch []*pending, use map[[16]byte]useTotal) error {
	if !w.failed.IsZero() && w.clock.now().Sub(w.failed) < retryAfter {
		t := w.trouble.Load()
		return memory.Errorf(t.code, "%s", t.reason)
	}
	if err := w.rotate(); err != nil {
		return w.refuse(err)
	}
	before := w.seq
	w.encode(batch, use)
	if err := w.write(before); err != nil {
		return err
	}
	for _, p := range batch {
		p.line.at.file, p.line.at.off = w.active.file, p.line.at.off+w.active.size
	}
	w.active.note(w.buf)
	w.bytes.Add(int64(len(w.buf)))
	w.failed = time.Time{}
	w.trouble.Store(nil)
	return nil
}

// encode stamps, numbers and encodes the batch into buf. Places are relative to
// buf until it is known which file holds it.
func (w *writer) encode(batch []*pending, use map[[16]byte]useTotal) {
	w.buf = w.buf[:0]
	for _, p := range batch {
		w.number(&p.line)
		if p.line.tx.IsZero() {
			p.line.tx = p.line.stamp
		}
		start := len(w.buf)
		w.buf = p.line.append(w.buf)
		p.line.at = place{off: int64(start), n: uint32(len(w.buf) - start)}
	}
	if len(use) > 0 {
		l := line{op: opUse, data: encodeUse(use)}
		w.number(&l)
		w.buf = l.append(w.buf)
	}
}

func (w *writer) number(l *line) {
	w.seq++
	l.seq, l.stamp = w.seq, w.clock.next()
}

// write appends buf and syncs. When the disk refuses bytes, the file is cut
// back and the numbers are used again. When it refuses to sync, the file is
// given up, since the kernel may call the lost pages clean, and everything
// unacknowledged goes to a new one; if that fails too, the log is read-only.
func (w *writer) write(before uint64) error {
	if n, err := w.active.f.Write(w.buf); err != nil {
		refused := w.refuse(err)
		if n > 0 && !w.cut(before) {
			return doubt(err) // what arrived may read as a whole line
		}
		w.seq = before
		return refused
	}
	if err := w.sync(w.active.f); err != nil {
		return w.rewrite(before, err)
	}
	return nil
}

// cut removes a partly written batch and reports whether it is gone for sure.
// The numbers may be used again only once the cut itself is on disk.
func (w *writer) cut(before uint64) bool {
	err := w.active.f.Truncate(w.active.size)
	if err == nil {
		err = w.sync(w.active.f)
	}
	if err != nil {
		w.poison(before)
	}
	return err == nil
}

// doubt is the answer to a change that the next start may find.
func doubt(cause error) error {
	return memory.Errorf(memory.Unknown, "the disk failed while saving (%v), so it is not known whether the change is stored; read it back once emberd status is ok again: %w", cause, cause)
}

// poison gives up the active file without touching it again.
func (w *writer) poison(before uint64) {
	w.log.Error("log segment given up", "segment", w.active.name)
	w.active.f.Close()
	w.active = nil
	w.activeIn.Store(nil)
	if w.seq > before {
		w.lost = append(w.lost, [2]uint64{before + 1, w.seq})
	}
}

// rewrite repeats an unsynced batch, same numbers and stamps, in a new segment.
func (w *writer) rewrite(before uint64, cause error) error {
	w.poison(before)
	err := w.createSegment()
	if err == nil {
		if _, err = w.active.f.Write(w.buf); err == nil {
			err = w.sync(w.active.f)
		}
		if err == nil {
			return nil
		}
		w.poison(before)
	}
	w.failed = w.clock.now()
	w.note(memory.ReadOnly, fmt.Sprintf("the log cannot be written (%v); memories can be read, and writing is tried again every minute", cause))
	return doubt(cause)
}

// rotate makes sure there is an active segment that may grow.
func (w *writer) rotate() error {
	if err := w.present(); err != nil {
		return err
	}
	s := w.active
	if s == nil {
		return w.createSegment()
	}
	now := w.clock.now()
	age := now.Sub(s.born)
	jumped := now.Round(0).Sub(s.born.Round(0)) - age
	if s.size < w.segmentBytes && age < w.segmentAge && jumped.Abs() < clockJump {
		return nil
	}
	if err := w.closeSegment(); err != nil {
		w.log.Warn("log segment left without its seal", "error", err)
	}
	return w.createSegment()
}

// errGone says that the log is not where it was.
var errGone = errors.New("deleted or replaced")

// present makes sure that what is written next lands in the log. Nothing is
// written into, or made beside, a folder that was deleted or replaced; a
// segment that was deleted is given up.
func (w *writer) present() error {
	for _, dir := range []struct {
		name  string
		inode uint64
	}{{w.data, w.dev.Data}, {w.dir, w.dirInode}} {
		if info, err := w.fs.Lstat(dir.name); errors.Is(err, fs.ErrNotExist) || err == nil && inodeOf(info) != dir.inode {
			return fmt.Errorf("%s: %w", dir.name, errGone)
		}
	}
	if s := w.active; s != nil {
		name := filepath.Join(w.dir, s.name)
		if info, err := w.fs.Lstat(name); errors.Is(err, fs.ErrNotExist) || err == nil && inodeOf(info) != s.inode {
			w.poison(w.seq)
		}
	}
	return nil
}

// refuse turns the disk's error into what a caller can act on.
func (w *writer) refuse(err error) error {
	code, reason := explain(w.data, err)
	w.note(code, reason)
	return &memory.Error{Code: code, Message: reason}
}

func (w *writer) note(code memory.Code, reason string) {
	if w.trouble.Swap(&trouble{code, reason}) == nil {
		w.log.Error("log cannot be written", "reason", reason)
	}
}

// counters that status reads while the writer works.
type counters struct {
	bytes    atomic.Int64
	changes  atomic.Int64
	trouble  atomic.Pointer[trouble]
	activeIn atomic.Pointer[string]
}

package stm

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"emberd/memory"
)

// Bounds of one group commit and of the queue before it.
const (
	maxBatchLines = 512
	maxBatchBytes = 1 << 20
	maxQueue      = 4096
	useDelay      = time.Second
	upkeepDelay   = 2 * time.Second  // after the start, when nobody waits for it
	probeEvery    = 5 * time.Second  // while the log cannot be written
	retryAfter    = 60 * time.Second // after a sync failed twice, and between attempts to rotate
	clockJump     = time.Hour
)

// pending is one transaction on its way to the disk.
type pending struct {
	line    line
	by      memory.Actor // as in line, decoded
	terms   []termCounts // of each change's text after it, empty for deletes
	bytes   int
	rows    []*Row
	err     error
	done    chan struct{}
	release func() // unlocks what the transaction touches
}

// answer tells the caller how it ended.
func (p *pending) answer(err error) {
	p.err = err
	p.release()
	close(p.done)
}

// writer owns the end of the log: one goroutine takes what is queued, writes it
// as one batch, syncs once, and only then changes the table and answers. What
// arrives meanwhile is the next batch, so nobody waits for company.
type writer struct {
	s     *Store
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
	unrotated   time.Time // of the last rotation that failed
	space       space
	doubtful    []*pending // answered with doubt, and to be written before all else

	queue    chan *pending
	calls    chan func()        // what is to run between two batches
	looks    chan chan struct{} // asks whether the log is where it was
	arrivals chan *arrival      // lines of other devices
	stop     chan struct{}
	stopped  sync.WaitGroup
	buf      []byte
	useLine  line // of the batch in buf: only its length, no operation if there is none
}

// trouble is why the last write failed, for status; nil when it did not.
type trouble struct {
	code   memory.Code
	reason string
	at     time.Time
	gone   bool // the log was not where it was
}

// run has no timer set while nothing waits and nothing is wrong.
func (w *writer) run() {
	var flush, probe <-chan time.Time
	upkeep := time.After(upkeepDelay)
	for {
		select {
		case p := <-w.queue:
			w.commit(w.gather(p))
			flush = nil
		case <-w.s.uses.wake:
		case call := <-w.calls:
			call()
		case a := <-w.arrivals:
			w.receive(a)
		case answer := <-w.looks:
			w.look()
			close(answer)
		case <-flush:
			flush = nil
			w.commit(nil)
		case <-probe:
			probe = nil
			w.probe()
		case <-upkeep:
			w.upkeep()
		case <-w.stop:
			w.drain()
			return
		}
		trouble := w.s.trouble.Load() != nil
		if flush == nil && !trouble && w.s.uses.waiting() {
			flush = time.After(useDelay)
		}
		if probe == nil && (trouble || w.s.shortage.Load() != nil) {
			probe = time.After(probeEvery)
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
			if !w.s.uses.waiting() || w.commit(nil) != nil {
				_ = w.confirm() // the next start settles what this cannot
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

// commit writes one batch, with the uses that wait, and answers everybody. When
// the disk is full, what leads to room gets a second chance with the ballast's.
func (w *writer) commit(batch []*pending) error {
	batch = w.admit(batch)
	use := w.s.table.countable(w.s.uses.take())
	if len(batch) == 0 && len(use) == 0 {
		return nil
	}
	err := w.store(batch, use)
	if err != nil && w.makeRoom(err) {
		if batch = onlyDeletes(batch, err); len(batch) > 0 {
			err = w.store(batch, use)
		}
	}
	if err != nil {
		w.s.uses.giveBack(use)
	}
	if memory.CodeOf(err) == memory.Unknown {
		w.doubtful = append(w.doubtful, batch...)
		w.s.inDoubt.Store(len(w.doubtful) > 0)
	}
	for _, p := range batch {
		if err == nil {
			w.settle(p)
		}
		p.answer(err)
	}
	return err
}

// settle makes a durable transaction visible.
func (w *writer) settle(p *pending) {
	for i := range p.line.changes {
		c := &p.line.changes[i]
		cell, err := w.s.table.apply(c, &p.line, p.line.at)
		if err != nil {
			w.s.log.Error("apply a committed change", "id", c.id, "error", err)
			continue
		}
		row := cell.row.Load()
		w.s.index.update(cell, row, p.terms[i])
		if !row.live() {
			row = nil
		}
		p.rows = append(p.rows, row)
	}
	w.s.table.lift(p.line.lift, p.line.stamp)
	w.s.tellPast(&p.line)
	w.s.journal.add(&p.line)
	w.s.keys.add(&p.line, w.s.now())
	w.s.waste(&p.line)
	w.s.changes.Add(int64(len(p.line.changes)))
	if w.s.committed != nil {
		w.s.committed(p.line.entryBy(p.by))
	}
}

// store puts the batch on disk, or fails as a whole.
func (w *writer) store(batch []*pending, use map[[16]byte]useTotal) error {
	if err := w.patient(); err != nil {
		return err
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
	w.written()
	if w.useLine.op == opUse {
		w.useLine.at.file = w.active.file
		w.s.waste(&w.useLine)
	}
	w.recovered()
	return nil
}

// written takes note of what is in buf and, by now, at the end of the segment.
func (w *writer) written() {
	w.active.note(w.buf)
	w.s.bytes.Add(int64(len(w.buf)))
	w.s.lastSeq.Store(w.seq)
	w.s.newest.Store(w.clock.last)
	w.space.written += len(w.buf)
	w.s.counts.batches.Add(1)
	w.s.counts.appended.Add(uint64(len(w.buf)))
}

// encode stamps, numbers and encodes the batch into buf. Places are relative to
// buf until it is known which file holds it.
func (w *writer) encode(batch []*pending, use map[[16]byte]useTotal) {
	w.buf, w.useLine = w.buf[:0], line{}
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
		start := len(w.buf)
		w.buf = l.append(w.buf)
		w.useLine = line{op: opUse, at: place{n: uint32(len(w.buf) - start)}}
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

// poison gives up the active file without touching it again.
func (w *writer) poison(before uint64) {
	w.s.log.Error("log segment given up", "segment", w.active.name)
	w.active.f.Close()
	w.active = nil
	w.s.activeIn.Store(nil)
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
	w.note(trouble{code: memory.ReadOnly, reason: fmt.Sprintf("the log cannot be written (%v); memories can be read, and writing is tried again every minute", cause)})
	return doubt(cause)
}

// present makes sure that what is written next lands in the log. Nothing is
// written into, or made beside, a folder that was deleted or replaced; a
// segment that was deleted is given up. A segment that is at its name proves the
// folders above it too.
func (w *writer) present() error {
	if w.active != nil && w.here(w.active) {
		return nil
	}
	for _, dir := range []struct {
		name  string
		inode uint64
	}{{w.s.data, w.dev.Data}, {w.dir, w.dirInode}} {
		if info, err := w.s.fs.Lstat(dir.name); errors.Is(err, fs.ErrNotExist) || err == nil && inodeOf(info) != dir.inode {
			return fmt.Errorf("%s: %w", dir.name, errGone)
		}
	}
	if s := w.active; s != nil {
		_, err := w.s.fs.Lstat(s.path)
		w.s.cloned.Store(w.s.cloned.Load() || err == nil)
		w.poison(w.seq)
	}
	return nil
}

// here reports whether a segment is at its name, as far as can be seen.
func (w *writer) here(s *segment) bool {
	info, err := w.s.fs.Lstat(s.path)
	return err == nil && inodeOf(info) == s.inode || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// upkeep is what a start leaves for later.
func (w *writer) upkeep() {
	if w.look(); w.room() != nil {
		return
	}
	if err := w.s.ballast.make(); err != nil {
		w.s.log.Warn("no room is kept back for when the disk is full", "error", err)
	}
}

// look notices a log that was deleted or replaced, for status.
func (w *writer) look() {
	if err := w.present(); err != nil {
		_ = w.refuse(err) // status tells it
	} else if t := w.s.trouble.Load(); t != nil && (t.gone || w.clock.now().Sub(t.at).Abs() >= probeEvery) {
		w.probe()
	}
}

// probe tries whether the log can be written again, with a new segment, and
// whether there is room again.
func (w *writer) probe() {
	if w.s.shortage.Load() != nil {
		_ = w.room() // status tells it
	}
	now := w.clock.now()
	if w.s.trouble.Load() == nil || now.Sub(w.failed).Abs() < retryAfter {
		return
	}
	err := w.present()
	if err == nil && (w.active == nil || len(w.doubtful) == 0) {
		err = w.succeed()
	}
	if err == nil {
		err = w.repeat()
	}
	if err != nil {
		_ = w.refuse(err) // status tells it
		return
	}
	w.recovered()
}

// recovered notes that the log was written.
func (w *writer) recovered() {
	w.failed = time.Time{}
	if w.s.trouble.Swap(nil) != nil {
		w.s.log.Info("the log can be written again", "segment", w.active.name)
	}
}

// refuse turns the disk's error into what a caller can act on.
func (w *writer) refuse(err error) error {
	code, reason := explain(w.faulty(err), err)
	w.note(trouble{code: code, reason: reason, gone: errors.Is(err, errGone)})
	return &memory.Error{Code: code, Message: reason}
}

// faulty is the folder that an error is about.
func (w *writer) faulty(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok && filepath.Dir(e.Path) == w.s.state {
		return w.s.state
	}
	return w.s.data
}

func (w *writer) note(t trouble) {
	t.at = w.clock.now()
	if w.s.trouble.Swap(&t) == nil {
		w.s.log.Error("log cannot be written", "reason", t.reason)
	}
}

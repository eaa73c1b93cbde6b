package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
)

// Bounds of one group commit and of the queue before it.
const (
	MaxBatchLines = 512
	maxBatchBytes = 1 << 20
	MaxQueue      = 4096
	useDelay      = time.Second
	upkeepDelay   = 2 * time.Second  // after the start, when no caller waits for it
	ProbeEvery    = 5 * time.Second  // while the log cannot be written
	RetryAfter    = 60 * time.Second // after a sync failed twice, and between attempts to rotate
	clockJump     = time.Hour
)

// Writer owns the end of the log: one goroutine takes what is queued, writes it as one
// batch, syncs once, and only then changes the table and answers. Transactions that arrive
// in the meantime are the next batch, so no caller waits for company.
//
// Only that goroutine touches the fields, except for the channels. A caller hands a
// transaction over through the queue and does not touch it again until Done is closed; the
// locks of its memories go with it, and the writer releases them before it closes Done.
// Lines of other devices come through arrivals under the same rule. Calls run between two
// batches. After stop is closed the writer empties the queue and ends; then Close owns the
// fields.
type Writer struct {
	S     *Log
	clock record.Clock
	seq   uint64
	lost  [][2]uint64   // sequence numbers that may or may not be on disk
	kept  []record.Kept // what the next header is to say
	Dev   *device.Identity
	Dir   string
	// dirInode reports whether dir is still the folder that was read.
	dirInode uint64

	lastSegment uint32
	active      *segment
	failed      time.Time // of the last sync that could not be recovered from
	unrotated   time.Time // of the last rotation that failed
	Space       space
	doubtful    []*Pending // answered with doubt, and to be written before all else

	Queue    chan *Pending
	calls    chan func()        // what is to run between two batches
	looks    chan chan struct{} // asks whether the log is where it was
	arrivals chan *arrival      // lines of other devices
	stop     chan struct{}
	stopped  sync.WaitGroup
	buf      []byte
	changed  uint64      // no change by a caller has a higher number
	useLine  record.Line // of the batch in buf: only its length, no operation if there is none
}

// writeError is why the last write failed, for status; nil when it did not.
type writeError struct {
	code   memory.Code
	reason string
	at     time.Time
	gone   bool // the log was not where it was
}

// run has no timer set while nothing waits and nothing is wrong.
func (w *Writer) run() {
	var flush, probe <-chan time.Time
	upkeep := time.After(upkeepDelay)
	for {
		select {
		case p := <-w.Queue:
			w.Commit(w.gather(p))
		case <-w.S.Uses.wake:
		case call := <-w.calls:
			call()
		case a := <-w.arrivals:
			w.receive(a)
		case answer := <-w.looks:
			w.Look()
			close(answer)
		case <-flush:
			flush = nil
			w.Commit(nil)
		case <-probe:
			probe = nil
			w.probe()
		case <-upkeep:
			w.startupMaintenance()
		case <-w.stop:
			w.drain()
			return
		}
		trouble := w.S.trouble.Load() != nil
		if flush == nil && !trouble && w.S.Uses.Waiting() {
			flush = time.After(untilFlush(time.Now()))
		}
		if probe == nil && (trouble || w.S.shortage.Load() != nil) {
			probe = time.After(ProbeEvery)
		}
	}
}

// untilFlush returns how long uses wait for the disk: until the next full second. So which of two uses
// the log has as one does not depend on what else is written and used, which a caller's timeline of
// its own memories would show.
func untilFlush(now time.Time) time.Duration {
	return now.Truncate(useDelay).Add(useDelay).Sub(now)
}

// drain writes what was queued before Close.
func (w *Writer) drain() {
	for {
		select {
		case p := <-w.Queue:
			w.Commit(w.gather(p))
		default:
			if !w.S.Uses.Waiting() || w.Commit(nil) != nil {
				_ = w.confirm() // the next start settles what this cannot
				return
			}
		}
	}
}

// gather takes what is queued already, without waiting for more. Callers that
// the last batch has just answered get to run first: they are about to queue
// their next transaction, and would else wait for the sync of a batch of one.
func (w *Writer) gather(first *Pending) []*Pending {
	runtime.Gosched()
	batch, size := []*Pending{first}, first.Bytes
	for len(batch) < MaxBatchLines && size < maxBatchBytes {
		select {
		case p := <-w.Queue:
			batch, size = append(batch, p), size+p.Bytes
		default:
			return batch
		}
	}
	return batch
}

// Commit writes one batch, with the uses of its memories, and answers all waiting callers. An empty
// batch writes all uses that wait. When
// the disk is full, what leads to room gets a second chance with the ballast's.
func (w *Writer) Commit(batch []*Pending) error {
	batch = w.admit(batch)
	var waiting map[[16]byte]record.UseTotal
	if len(batch) == 0 {
		waiting = w.S.Uses.take()
	} else {
		waiting = w.S.Uses.takeOf(changedKeys(batch))
	}
	use := w.S.Table.Countable(waiting)
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
		w.giveBack(use, err)
	}
	if memory.CodeOf(err) == memory.Unknown {
		w.doubtful = append(w.doubtful, batch...)
		w.S.inDoubt.Store(len(w.doubtful) > 0)
	}
	for _, p := range batch {
		if err == nil {
			w.publish(p)
		}
		p.answer(err)
	}
	if err == nil {
		w.noteExtent()
	}
	return err
}

// giveBack keeps uses that could not be written. They are written with the next ones.
func (w *Writer) giveBack(use map[[16]byte]record.UseTotal, err error) {
	if len(use) > 0 {
		w.S.Uses.giveBack(use)
		w.S.Logger.Warn("uses and accesses not written to the log; retrying later", "memories", len(use), "err", err)
	}
}

// changedKeys returns the keys of the memories that a batch changes.
func changedKeys(batch []*Pending) (keys [][16]byte) {
	for _, p := range batch {
		for i := range p.Line.Changes {
			keys = append(keys, p.Line.Changes[i].ID.Bytes())
		}
	}
	return keys
}

// publish makes a durable transaction visible to readers.
func (w *Writer) publish(p *Pending) {
	for i := range p.Line.Changes {
		c := &p.Line.Changes[i]
		cell, err := w.S.Table.Apply(c, &p.Line, p.Line.At)
		if err != nil {
			w.S.Logger.Error("cannot apply a committed change", "id", c.ID, "error", err)
			continue
		}
		row := cell.Row.Load()
		w.S.Words.Update(cell, row, p.Terms[i])
		if !row.Live() {
			row = nil
		}
		p.Rows = append(p.Rows, row)
	}
	w.S.Table.ClearFingerprint(p.Line.Lift, p.Line.Stamp)
	w.S.notePast(&p.Line)
	w.S.Journal.Add(&p.Line)
	w.S.Keys.Add(&p.Line, w.S.Now())
	w.S.countDead(&p.Line)
	w.S.changes.Add(int64(len(p.Line.Changes)))
	if w.S.committed != nil {
		w.S.committed(p.Line.EntryBy(p.By))
	}
}

// store puts the batch on disk, or fails as a whole.
func (w *Writer) store(batch []*Pending, use map[[16]byte]record.UseTotal) error {
	if err := w.atEnd(len(batch) > 0, func() { w.encode(batch, use) }); err != nil {
		return err
	}
	for _, p := range batch {
		w.place(&p.Line)
	}
	w.written()
	if w.useLine.Op == record.OpUse {
		w.place(&w.useLine)
		w.S.countDead(&w.useLine)
	}
	w.recovered()
	return nil
}

// atEnd writes what encode puts into buf to the end of the segment, or fails as a whole. begins tells whether
// that is more than uses.
func (w *Writer) atEnd(begins bool, encode func()) error {
	if err := w.checkBackoff(); err != nil {
		return err
	}
	if err := w.rotate(); err != nil {
		return w.refuse(err)
	}
	if begins {
		w.begun()
	}
	before := w.seq
	w.buf, w.useLine = w.buf[:0], record.Line{}
	encode()
	return w.write(before)
}

// put encodes a line into buf. Its place is relative to buf until it is known which file holds it.
func (w *Writer) put(l *record.Line) {
	start := len(w.buf)
	w.buf = l.Append(w.buf)
	l.At = record.Place{Off: int64(start), N: uint32(len(w.buf) - start)}
}

// place says that a line of buf comes at the end of the active segment.
func (w *Writer) place(l *record.Line) { l.At.File, l.At.Off = w.active.file, l.At.Off+w.active.size }

// begun tells once that something is about to be written.
func (w *Writer) begun() {
	if begin := w.S.beginning; begin != nil {
		w.S.beginning = nil
		begin(w.S)
	}
}

// written takes note of what is in buf and, by now, at the end of the segment.
func (w *Writer) written() {
	w.active.note(w.buf)
	w.S.bytes.Add(int64(len(w.buf)))
	w.S.LastSeq.Store(w.seq)
	w.S.newest.Store(w.clock.Last)
	w.Space.written += len(w.buf)
	w.S.counts.batches.Add(1)
	w.S.counts.appended.Add(uint64(len(w.buf)))
}

// encode stamps, numbers and encodes the batch into buf.
func (w *Writer) encode(batch []*Pending, use map[[16]byte]record.UseTotal) {
	for _, p := range batch {
		w.number(&p.Line)
		w.changed = w.seq
		if p.Line.Tx.IsZero() {
			p.Line.Tx = p.Line.Stamp
		}
		if w.S.sign != nil {
			p.Line.Audit = w.S.sign(new(p.Line.EntryBy(p.By)))
		}
		w.put(&p.Line)
	}
	if len(use) > 0 {
		l := record.Line{Op: record.OpUse, Data: record.EncodeUse(use)}
		w.number(&l)
		w.put(&l)
		w.useLine = record.Line{Op: record.OpUse, At: l.At}
	}
}

func (w *Writer) number(l *record.Line) {
	w.seq++
	l.Seq, l.Stamp = w.seq, w.clock.Next()
}

// write appends buf and syncs. When the disk refuses bytes, the file is cut
// back and the numbers are used again. When it refuses to sync, the file is
// given up, since the kernel may call the lost pages clean, and everything
// unacknowledged goes to a new one; if that fails too, the log is read-only.
func (w *Writer) write(before uint64) error {
	if n, err := w.active.f.Write(w.buf); err != nil {
		refused := w.refuse(err)
		if n > 0 && !w.cut(before) {
			return indeterminateError(err) // what arrived may read as a whole line
		}
		w.seq = before
		return refused
	}
	if err := w.sync(w.active.f); err != nil {
		return w.repeatInNewSegment(before, err)
	}
	return nil
}

// cut removes a partly written batch and reports whether it is gone for sure.
// The numbers may be used again only once the cut itself is on disk.
func (w *Writer) cut(before uint64) bool {
	err := w.active.f.Truncate(w.active.size)
	if err == nil {
		err = w.sync(w.active.f)
	}
	if err != nil {
		w.abandonSegment(before, err)
	}
	return err == nil
}

// abandonSegment gives up the active file without touching it again.
func (w *Writer) abandonSegment(before uint64, why error) {
	w.S.Logger.Error("log segment abandoned; new records go to a new segment", "segment", w.active.name, "because", why)
	w.active.f.Close()
	w.active = nil
	w.S.activeIn.Store(nil)
	if w.seq > before {
		w.lost = append(w.lost, [2]uint64{before + 1, w.seq})
	}
}

// repeatInNewSegment repeats an unsynced batch, same numbers and stamps, in a new segment.
func (w *Writer) repeatInNewSegment(before uint64, cause error) error {
	w.abandonSegment(before, cause)
	err := w.CreateSegment()
	if err == nil {
		if _, err = w.active.f.Write(w.buf); err == nil {
			err = w.sync(w.active.f)
		}
		if err == nil {
			return nil
		}
		w.abandonSegment(before, err)
	}
	w.failed = w.clock.Now()
	w.note(writeError{code: memory.ReadOnly,
		reason: fmt.Sprintf(
			"cannot write the log (%v); you can read memories, and emberd tries to write again every minute", cause)})
	return indeterminateError(cause)
}

// present makes sure that what is written next lands in the log. Nothing is
// written into, or made beside, a folder that was deleted or replaced; a
// segment that is not as this writer left it is given up, and what it lacks is healed. A
// segment that is at its name proves the folders above it too.
func (w *Writer) present() error {
	damage := w.activeDamage()
	if w.active != nil && damage == nil {
		return nil
	}
	for _, dir := range []struct {
		name  string
		inode uint64
	}{{w.S.Data, w.Dev.Data}, {w.Dir, w.dirInode}} {
		if info, err := w.S.FS.Lstat(dir.name); errors.Is(err, fs.ErrNotExist) || err == nil &&
			device.InodeOf(info) != dir.inode {
			return fmt.Errorf("%s: %w", dir.name, device.ErrGone)
		}
	}
	if w.active != nil {
		w.S.cloned.Store(w.S.cloned.Load() || errors.Is(damage, errOtherFile))
		w.abandonSegment(w.seq, damage)
		w.S.own.AskForRepair()
	}
	return nil
}

// startupMaintenance is what a start leaves for later.
func (w *Writer) startupMaintenance() {
	if w.Look(); w.room() != nil {
		return
	}
	if err := w.S.Ballast.Make(); err != nil {
		w.S.Logger.Warn("cannot reserve disk space", "error", err)
	}
}

// Look notices a log that was deleted or replaced, for status.
func (w *Writer) Look() {
	LookAtFiles(w.S)
	if err := w.present(); err != nil {
		_ = w.refuse(err) // status tells it
	} else if t := w.S.trouble.Load(); t != nil && (t.gone || w.clock.Now().Sub(t.at).Abs() >= ProbeEvery) {
		w.probe()
	}
}

// probe tries whether the log can be written again, with a new segment, and
// whether there is room again.
func (w *Writer) probe() {
	if w.S.shortage.Load() != nil {
		_ = w.room() // status tells it
	}
	now := w.clock.Now()
	if w.S.trouble.Load() == nil || now.Sub(w.failed).Abs() < RetryAfter {
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
func (w *Writer) recovered() {
	w.failed = time.Time{}
	if w.S.trouble.Swap(nil) != nil {
		w.S.Logger.Info("the log is writable again", "segment", w.active.name)
	}
}

// refuse turns the disk's error into what a caller can act on.
func (w *Writer) refuse(err error) error {
	code, reason := device.Explain(w.errorPath(err), err)
	w.note(writeError{code: code, reason: reason, gone: errors.Is(err, device.ErrGone)})
	return &memory.Error{Code: code, Message: reason}
}

// errorPath is the folder that an error is about.
func (w *Writer) errorPath(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok && filepath.Dir(e.Path) == w.S.State {
		return w.S.State
	}
	return w.S.Data
}

func (w *Writer) note(t writeError) {
	t.at = w.clock.Now()
	if w.S.trouble.Swap(&t) == nil {
		w.S.Logger.Error("cannot write the log", "reason", t.reason)
	}
}

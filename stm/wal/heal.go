package wal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"emberd/memory"
	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/repair"
)

// heal merges at a start what a copy of the memories holds and the files do not. The lines
// are written as soon as the writer runs.
func (r *recovery) heal(held *repair.Folded) {
	if held == nil {
		return
	}
	s := r.s
	r.healed = repair.Missing(held.Table, s.Table)
	r.bringBack(r.healed)
	s.Uses.giveBack(repair.Uses(held.Table, s.Table, s.Device))
	r.held, r.heldBy = *held.Seen.Of(s.Device), held.Seen
	r.damaged = slices.DeleteFunc(r.damaged, func(l damagedLine) bool {
		return l.oneBit && l.at.Off < held.Upto[s.FileName(l.at.File)] // what it said is in the copy
	})
}

// settle returns how many of this device's numbers up to last no file and no copy explains.
// Those that a copy covers are given up, which the next header says.
func (r *recovery) settle(last uint64) int {
	own := r.seen.Of(r.s.Device)
	known := record.Ranges{Spans: slices.Clone(own.Spans)}
	known.AddAll(&r.lost)
	gone, regained := known.Lacking(last, &r.held)
	r.regained.AddAll(&regained)
	r.lost.AddAll(&regained)
	return gone.Count() - regained.Count()
}

// found is what a start found that is to be written down.
type found struct {
	mu     sync.Mutex         // guards what follows
	purges []record.Line      // that were known and in no file
	lines  []record.Line      // that a copy held and no file
	sound  bool               // with them, what every damaged line said is back
	short  []extent.ShortFile // own files that hold less than was written to them, and nothing makes good
	before []predecessor      // devices that this one goes on for, and of which something is missed
	healed repair.Healed      // what came back
	back   []record.Line      // in these lines
}

// healer repairs the log of a running store.
type healer struct{ *Log }

// recover writes what the start found in a copy, unless that has been done.
func (h healer) recover(ctx context.Context) error {
	r := &h.found
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writePurges(ctx, h); err != nil {
		return err
	}
	if len(r.lines) > 0 {
		if err := h.write(ctx, r.lines); err != nil {
			return fmt.Errorf("what a copy held and the log did not could not be written yet: %w", err)
		}
		r.tell(r.lines, theSnapshot)
		h.Logger.Warn("memories that the log had lost came back from the snapshot", "memories", r.healed.Memories,
			"from", r.healed.Oldest, "until", r.healed.Newest, "files", r.short)
		r.lines = nil
	}
	if r.sound {
		h.settleQuarantine()
	}
	if h.recovery.Gaps == 0 {
		r.short = h.settleExtents(r.short)
	}
	return nil
}

// pending reports whether something that came back is in memory and not in the log yet. The
// snapshot that it came from stays until then.
func (f *found) pending() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.lines)+len(f.purges) > 0
}

// met is what the start met in this device's log and nothing has settled since.
func (s *Log) met() record.Recovery {
	r := s.recovery.Less(int(s.Decided.since.Load()))
	r.Gaps = max(0, r.Gaps-int(s.repaired.Load())) + int(s.missedBefore.Load())
	return r
}

// settleQuarantine says of every damaged line that what it said is back.
func (h healer) settleQuarantine() {
	damaged, err := h.Decided.Quarantine()
	for _, q := range damaged {
		if q.Hindrance != "" || record.OneBit(q.Text) { // what a person may have meant to write is for a person
			err = errors.Join(err, h.Decided.Decide(q, "recovered"))
		}
	}
	if err != nil {
		h.Logger.Warn("damaged lines that came back are still listed", "error", err)
	}
}

// write hands lines to the writer, which appends them to the log and merges them.
func (h healer) write(ctx context.Context, lines []record.Line) error {
	var got ForeignChange
	for len(lines) > 0 {
		p := h.newPickup("", &got)
		p.arrival.write = true
		n := atOnce(lines)
		p.arrival.lines, lines = slices.Clone(lines[:n]), lines[n:]
		if err := p.handOver(ctx); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many of some lines the writer takes without making saves wait for long.
func atOnce(lines []record.Line) (n int) {
	for size := 0; n < min(len(lines), maxArrivalLines) && size < maxArrivalBytes; n++ {
		for _, c := range lines[n].Changes {
			size += len(c.Data)
		}
	}
	return n
}

// Heal compares what the files of all devices add up to with the memories as they are, and with a
// copy of the log if one is given, and writes again what no file holds. With dry it only counts. It
// is busy during a compaction.
func (s *Log) Heal(ctx context.Context, held *repair.Folded, dry bool) (repair.Healed, error) {
	if !s.Rewriting.TryLock() {
		return repair.Healed{}, errRewriting()
	}
	defer s.Rewriting.Unlock()
	h := healer{s}
	found, err := h.compare(ctx, held)
	if err != nil || dry {
		return found.Healed, err
	}
	s.Uses.giveBack(found.uses) // which are written with the next ones
	if len(found.lines)+found.covered.Count()+len(found.kept) == 0 {
		s.found.settleBefore(h, held)
		return found.Healed, nil
	}
	if err := h.write(ctx, found.lines); err != nil {
		return found.Healed, err
	}
	if err := h.keep(ctx, found.kept); err != nil {
		return found.Healed, err
	}
	s.found.settleBefore(h, held)
	return found.Healed, h.giveUp(ctx, &found.covered)
}

// AcceptLoss takes the log as it is: the records that no file and no copy holds are given up, and
// the files that hold less than was written to them are taken for whole.
func (s *Log) AcceptLoss(ctx context.Context) (repair.Healed, error) {
	if !s.Rewriting.TryLock() {
		return repair.Healed{}, errRewriting()
	}
	defer s.Rewriting.Unlock()
	h := healer{s}
	found, err := h.compare(ctx, nil)
	if err != nil {
		return repair.Healed{}, err
	}
	if err := h.giveUp(ctx, &found.gone); err != nil {
		return repair.Healed{}, err
	}
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	for _, f := range s.found.short {
		if err := h.acceptExtent(f); err != nil {
			return repair.Healed{}, err
		}
	}
	s.found.short = nil
	s.found.acceptBefore(h)
	return found.Healed, nil
}

// comparison is what the files lack.
type comparison struct {
	repair.Healed
	lines         []record.Line
	uses          map[[16]byte]record.UseTotal // of this device
	gone, covered record.Ranges                // own numbers that no file holds, and those whose effect is known
	kept          map[string][][2]uint64       // those of other devices whose effect is known, by device
}

func (h healer) compare(ctx context.Context, held *repair.Folded) (found comparison, err error) {
	var c Cursor
	var seen map[record.Device]*record.Ranges
	err = h.OnWriter(ctx, func() { c, seen = h.Writer.Cursor(), h.Snapshot.Seen.Clone() })
	if err != nil {
		return found, err
	}
	have, err := repair.Fold(ctx, h.FS, h.Data, h.Logger)
	if err != nil {
		return found, err
	}
	found.lines = slices.DeleteFunc(repair.Missing(h.Table, have.Table), func(l record.Line) bool {
		return l.Stamp.T > c.clock // written while the files were read
	})
	found.uses = repair.Uses(h.Table, have.Table, h.Device)
	known := have.Seen.Of(h.Device)
	h.Snapshot.mu.Lock()
	known.AddAll(&h.Snapshot.lost)
	h.Snapshot.mu.Unlock()
	effect := seen[h.Device]
	found.kept = h.keepable(seen, have.Seen)
	if held != nil {
		back := slices.DeleteFunc(repair.Missing(held.Table, h.Table), h.mayBeDeleted)
		found.lines = append(found.lines, back...)
		effect.AddAll(held.Seen.Of(h.Device))
	}
	found.gone, found.covered = known.Lacking(c.seq, effect)
	found.Note(found.lines)
	found.Records, found.Covered = found.gone.Count(), found.covered.Count()
	return found, nil
}

// mayBeDeleted reports whether a line is older than a tombstone that compaction dropped, and of a
// memory of which nothing is known: nobody can tell that it was not deleted.
func (h healer) mayBeDeleted(l record.Line) bool { return h.Review.older(h.Table, &l) }

// settleTime is how long files of other devices may hold less than was read of them before what is
// missing is written again: a sync tool may be at work.
const settleTime = 2 * time.Minute

// afterRefresh writes again what is in no file any more, some time after a file of another device
// was found to be shorter or gone, and at once if it is one of this device.
func (h healer) afterRefresh(ctx context.Context, got *ForeignChange) error {
	if err := h.believe(ctx, got); err != nil {
		return err
	}
	since, now := h.others.lostSince(), h.Now()
	short := extent.ShortFiles(h.FS, h.OwnDir(), lengths(h.extents.All()))
	switch {
	case since.IsZero() && len(short) == 0:
		return nil
	case len(short) == 0 && now.Sub(since) < settleTime:
		got.Due = firstOf(got.Due, since.Add(settleTime))
		return nil
	}
	back, err := h.Heal(ctx, nil, false)
	if err != nil {
		if memory.CodeOf(err) == memory.Busy {
			got.Due = firstOf(got.Due, now.Add(settleTime))
			return nil
		}
		return fmt.Errorf("write again what files of the log have lost: %w", err)
	}
	h.retire(h.others.regained())
	h.settleExtents(short)
	h.Logger.Warn("files of the log were cut or removed; what they held is in this device's log",
		"lines written again", back.Lines, "memories", back.Memories, "own records", back.Records)
	return nil
}

// lengths leaves out the checksums, which take a reading of every file.
func lengths(all map[string]extent.Extent) map[string]extent.Extent {
	for name, e := range all {
		e.Sum = 0
		all[name] = e
	}
	return all
}

func firstOf(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// giveUp begins a segment whose header says that some numbers are in no file any more.
func (h healer) giveUp(ctx context.Context, numbers *record.Ranges) error {
	if numbers.Count() == 0 {
		return nil
	}
	h.Snapshot.mu.Lock() // which the writer may not wait for
	h.Snapshot.lost.AddAll(numbers)
	h.Snapshot.mu.Unlock()
	err := h.OnWriter(ctx, func() { h.Writer.lost = append(h.Writer.lost, numbers.Spans...) })
	if err != nil {
		return err
	}
	h.letGo()
	if err := h.sealNow(ctx); err != nil {
		return err
	}
	h.repaired.Add(int64(numbers.Count()))
	return nil
}

// letGo forgets the files of this device that are gone.
func (h healer) letGo() {
	var gone []string
	for _, name := range h.CurrentFiles() {
		if name == "" || !h.Ours(name) {
			continue
		}
		if _, err := h.FS.Lstat(name); err != nil {
			gone = append(gone, name)
		}
	}
	h.retire(gone)
	for _, name := range gone {
		if err := h.extents.Forget(filepath.Base(name)); err != nil {
			h.Logger.Warn("a file that is gone is still missed", "file", name, "error", err)
		}
	}
}

// retire forgets where in files that are gone lines were.
func (h healer) retire(gone []string) {
	if len(gone) == 0 {
		return
	}
	retired := h.Retire(gone)
	h.Journal.Swap(retired, nil)
	h.Table.Moved(retired, nil)
	h.Snapshot.fresh.Store(false)
	for _, name := range gone {
		h.Forget(name)
	}
}

// append puts the lines of an arrival at the end of this device's log. Own ones get a new number,
// those of other devices none.
func (w *Writer) append(a *arrival) error {
	if err := w.checkBackoff(); err != nil {
		return err
	}
	if err := w.rotate(); err != nil {
		return w.refuse(err)
	}
	w.begun()
	before := w.seq
	w.buf, w.useLine = w.buf[:0], record.Line{}
	for i := range a.lines {
		l := &a.lines[i]
		if l.Seq = 0; l.Stamp.Dev == w.S.Device {
			w.seq++
			l.Seq = w.seq
		}
		if w.S.sign != nil {
			l.Audit = w.S.sign(new(l.Entry()))
		}
		start := len(w.buf)
		w.buf = l.Append(w.buf)
		l.At = record.Place{Off: int64(start), N: uint32(len(w.buf) - start)}
	}
	if err := w.write(before); err != nil {
		return err
	}
	for i := range a.lines {
		a.lines[i].At.File, a.lines[i].At.Off = w.active.file, a.lines[i].At.Off+w.active.size
	}
	w.written()
	w.recovered()
	return nil
}

// heldBySnapshot reads the memories of a snapshot that was not used, nil if there is none of
// this log, or if nothing of it can be read.
func (h healer) heldBySnapshot(gone bool) *repair.Folded {
	if h.Snapshot.used == "used" || h.Snapshot.used == "absent" {
		return nil
	}
	held, err := repair.OfSnapshot(h.FS, h.SnapshotPath())
	if err == nil && !gone {
		err = h.isOfThisLog(held)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.Logger.Warn("the snapshot cannot be compared with the log", "error", err)
		}
		return nil
	}
	return held
}

// isOfThisLog returns an error unless a device that a copy knows has files in the data folder:
// the snapshot of another folder's log has no business in this one.
func (h healer) isOfThisLog(held *repair.Folded) error {
	err := error(fs.ErrNotExist)
	for dev := range held.Seen.By {
		if _, err = h.FS.Lstat(filepath.Join(h.Data, "stm", dev.String())); err == nil {
			return nil
		}
	}
	return err
}

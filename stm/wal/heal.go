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

	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/repair"
	"emberd/stm/table"
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
	r.held = *held.Seen.Of(s.Device)
	for dev, of := range held.Seen.By {
		if dev != s.Device {
			r.seen.Of(dev).AddAll(of)
		}
	}
	r.damaged = slices.DeleteFunc(r.damaged, func(l damagedLine) bool {
		return l.oneBit && held.Covers(s.FileName(l.at.File), l.at.Off) // what it said is in the copy
	})
}

// settle returns how many of this device's numbers up to last no file and no copy explains.
// Those that the snapshot covers are given up, which the next header says. Those in files of other
// devices are missed again when these are gone.
func (r *recovery) settle(last uint64) int {
	own := r.seen.Of(r.s.Device)
	known := record.Ranges{Spans: slices.Clone(own.Spans)}
	known.AddAll(&r.lost)
	_, regained := known.Lacking(last, &r.held)
	r.regained.AddAll(&regained)
	r.lost.AddAll(&regained)
	known.AddAll(&r.lost)
	known.AddAll(&r.carried)
	r.missed, _ = known.Lacking(last, &record.Ranges{})
	return r.missed.Count()
}

// found is what a start found that is to be written down.
type found struct {
	mu     sync.Mutex    // guards what follows
	purges []record.Line // that were known and in no file
	lines  []record.Line // that a copy held and no file
	sound  bool          // with them, what every damaged line said is back
	healed repair.Healed // what came back
	back   []record.Line // in these lines
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
			return fmt.Errorf("cannot write restored records to the log yet: %w", err)
		}
		r.tell(r.lines, theSnapshot)
		h.Logger.Warn("restored memories from the snapshot, because they were missing from the log", "memories",
			r.healed.Memories, "from", r.healed.Oldest, "until", r.healed.Newest, "files", h.own.Missed())
		r.lines = nil
		h.others.Lose(h.Now()) // Refresh writes again what these files lose from here on
		if err := h.keepReturned(ctx); err != nil {
			return fmt.Errorf("cannot save the list of restored log records: %w", err)
		}
	}
	if r.sound {
		h.Quarantine.Settle()
	}
	return h.settleShort(ctx)
}

// keepReturned says in a header of which other devices' records the lines that came back are.
func (h healer) keepReturned(ctx context.Context) error {
	have, err := repair.Fold(ctx, h.FS, h.Data, h.Logger)
	if err != nil {
		return err
	}
	return h.keep(ctx, h.keepable(h.Snapshot.Seen.Clone(), have.Seen))
}

// settleShort takes the files that the start found short as they are, if nothing of them is missed any more. The
// header of a segment remembers how far their numbers went.
func (h healer) settleShort(ctx context.Context) error {
	if h.met().Gaps > 0 {
		return nil
	}
	h.Quarantine.DropMoot()
	if len(h.own.Missed()) == 0 {
		return nil
	}
	if h.activeName() == "" {
		if err := h.sealNow(ctx); err != nil {
			return err
		}
	}
	h.own.Settle()
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
	r := s.recovery.Less(s.Quarantine.Since())
	r.Gaps = max(0, r.Gaps-int(s.repaired.Load())) + s.before.Missing()
	return r
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
			size += len(c.Data) + len(c.Prev)
		}
	}
	return n
}

// Heal compares what the files of all devices add up to with the memories as they are, and with a
// copy of the log if one is given, and writes again what no file holds. With dry it only counts. It
// is busy during a compaction.
func (s *Log) Heal(ctx context.Context, held *repair.Folded, dry bool) (repair.Healed, error) {
	s.healing.Lock()
	defer s.healing.Unlock()
	if !s.Rewriting.TryLock() {
		return repair.Healed{}, errRewriting()
	}
	defer s.Rewriting.Unlock()
	h := healer{s}
	if dry {
		found, err := h.compare(ctx, held)
		return found.Healed, err
	}
	found, err := h.heal(ctx, held)
	return found.Healed, err
}

// heal is Heal for a caller that holds both locks.
func (h healer) heal(ctx context.Context, held *repair.Folded) (comparison, error) {
	found, err := h.compare(ctx, held)
	if err != nil {
		return found, err
	}
	h.Table.Strip(found.have, found.until)
	h.Uses.giveBack(found.uses) // which are written with the next ones
	if len(found.lines)+found.covered.Count()+found.told.Count()+len(found.kept) == 0 {
		h.before.Return(h.Home, held, h.Snapshot.Seen)
		return found, nil
	}
	if err := h.write(ctx, found.lines); err != nil {
		return found, err
	}
	if err := h.keep(ctx, found.kept); err != nil {
		return found, err
	}
	h.before.Return(h.Home, held, h.Snapshot.Seen)
	giveUp := record.Ranges{Spans: slices.Clone(found.covered.Spans)}
	giveUp.AddAll(&found.told)
	if err := h.giveUp(ctx, &giveUp); err != nil {
		return found, err
	}
	if met := h.met(); met.Gaps == 0 && len(found.lines) >= met.Quarantined {
		h.Quarantine.Settle() // what every damaged line said is back
	}
	return found, nil
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
	if err := s.own.AcceptLoss(); err != nil {
		return repair.Healed{}, err
	}
	found.Records += s.before.Accept(s.Home)
	return found.Healed, s.Quarantine.GiveUp(h.bareNow())
}

// comparison is what the files lack.
type comparison struct {
	repair.Healed
	lines         []record.Line
	uses          map[[16]byte]record.UseTotal // of this device
	gone, covered record.Ranges                // own numbers that no file holds, and those whose effect is known
	told          record.Ranges                // own numbers that were given up in a header that no file has any more
	kept          map[string][][2]uint64       // those of other devices whose effect is known, by device
	have          *table.Table                 // what the files hold
	until         uint64                       // of the clock, as far as they were sure to be read
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
	found.have, found.until = have.Table, c.clock
	found.lines = slices.DeleteFunc(repair.Missing(h.Table, have.Table), func(l record.Line) bool {
		return l.Stamp.T > c.clock // written while the files were read
	})
	found.uses = repair.Uses(h.Table, have.Table, h.Device)
	known := have.Seen.Of(h.Device)
	h.Snapshot.mu.Lock()
	_, found.told = known.Lacking(h.Snapshot.lost.Last(), &h.Snapshot.lost)
	known.AddAll(&h.Snapshot.lost)
	carried := record.Ranges{Spans: slices.Clone(h.Snapshot.carried.Spans)}
	h.Snapshot.mu.Unlock()
	effect := seen[h.Device]
	effect.AddAll(&carried)
	if c.seq > h.Snapshot.began { // what this run wrote
		effect.Add(h.Snapshot.began+1, c.seq)
	}
	h.regain(seen, held)
	found.kept = h.keepable(seen, have.Seen)
	if held != nil {
		if found.lines, err = h.completed(ctx, found.lines, held); err != nil {
			return found, err
		}
		effect.AddAll(held.Seen.Of(h.Device))
	}
	found.gone, found.covered = known.Lacking(c.seq, effect)
	found.Note(found.lines)
	found.Records, found.Covered = found.gone.Count(), found.covered.Count()
	return found, nil
}

// regain adds to seen the missed records of other devices that a copy has, which may be nil.
func (h healer) regain(seen map[record.Device]*record.Ranges, held *repair.Folded) {
	if held == nil {
		return
	}
	for dev, of := range held.Seen.By {
		missed := h.before.Lacks(dev)
		for _, gap := range missed.Spans {
			if seen[dev] == nil {
				seen[dev] = &record.Ranges{}
			}
			for _, part := range of.Within(gap[0], gap[1]) {
				seen[dev].Add(part[0], part[1])
			}
		}
	}
}

// undeleted takes out of lines what is older than a tombstone that compaction dropped, and of memories of
// which nothing is known: nobody can tell that they were not deleted.
func (h healer) undeleted(lines []record.Line) []record.Line {
	for i := range lines {
		h.Review.reduce(h.Table, &lines[i])
	}
	return slices.DeleteFunc(lines, func(l record.Line) bool { return len(l.Changes)+len(l.Lift) == 0 })
}

// settleTime is how long files of other devices may hold less than was read of them before what is
// missing is written again: a sync tool may be at work.
const settleTime = 2 * time.Minute

// afterRefresh writes again what is in no file any more, some time after a file of another device
// was found to be shorter or gone, and at once if it is one of this device.
func (h healer) afterRefresh(ctx context.Context, got *ForeignChange) error {
	if err := h.believe(ctx); err != nil {
		return err
	}
	since, now := h.others.LostSince(), h.Now()
	LookAtFiles(h.Log)
	hurt := h.own.Damaged()
	switch {
	case since.IsZero() && len(hurt) == 0:
		return nil
	case len(hurt) == 0 && now.Sub(since) < settleTime:
		got.Due = firstOf(got.Due, since.Add(settleTime))
		return nil
	}
	return h.makeGood(ctx, hurt, !since.IsZero(), got)
}

// makeGood writes again what damaged files of this device, and lost ones of others, held.
func (h healer) makeGood(ctx context.Context, hurt []extent.ShortFile, others bool, got *ForeignChange) error {
	h.healing.Lock()
	defer h.healing.Unlock()
	due := got.Due
	got.Due = firstOf(got.Due, h.Now().Add(ProbeEvery)) // unless it succeeds
	if !h.Rewriting.TryLock() {
		return nil
	}
	defer h.Rewriting.Unlock()
	gone := h.goneFiles()
	h.Journal.Swap(func(file uint32) bool { return slices.Contains(gone, h.FileName(file)) }, nil)
	back, err := h.heal(ctx, nil) // the journal lists the lines where they are written again
	if err != nil {
		return fmt.Errorf("cannot write the records that are missing from log files again: %w", err)
	}
	got.Due = due
	h.madeGood(hurt, &back)
	if !others {
		return nil
	}
	h.retire(h.others.Regained())
	if len(hurt) == 0 && back.Lines > 0 {
		h.Logger.Warn("log files were truncated or removed; their records are in the log of this device", "lines",
			back.Lines, "memories", back.Memories)
	}
	return nil
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
	h.missNoMore(numbers)
	return nil
}

// missNoMore takes numbers out of those that are missing since the start.
func (h healer) missNoMore(numbers *record.Ranges) {
	h.Snapshot.mu.Lock()
	defer h.Snapshot.mu.Unlock()
	missed := &h.Snapshot.missed
	_, left := numbers.Lacking(missed.Last(), missed)
	h.repaired.Add(int64(missed.Count() - left.Count()))
	*missed = left
}

// goneFiles lists the files of the log that are not there any more.
func (h healer) goneFiles() (gone []string) {
	for _, name := range h.CurrentFiles() {
		if name == "" {
			continue
		}
		if _, err := h.FS.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, name)
		}
	}
	return gone
}

// letGo forgets the files of this device that are gone.
func (h healer) letGo() {
	gone := slices.DeleteFunc(h.goneFiles(), func(name string) bool { return !h.Ours(name) })
	h.retire(gone)
	for _, name := range gone {
		if err := h.own.Forget(filepath.Base(name)); err != nil {
			h.Logger.Warn("a removed log file is still recorded as missing", "file", name, "error", err)
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
	if err := w.atEnd(true, func() { w.encodeArrival(a) }); err != nil {
		return err
	}
	for i := range a.lines {
		w.place(&a.lines[i])
	}
	w.written()
	w.recovered()
	return nil
}

func (w *Writer) encodeArrival(a *arrival) {
	for i := range a.lines {
		l := &a.lines[i]
		if l.Seq = 0; l.Stamp.Dev == w.S.Device {
			w.seq++
			l.Seq = w.seq
		}
		if w.S.sign != nil {
			l.Audit = w.S.sign(new(l.Entry()))
		}
		w.put(l)
	}
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
			h.Logger.Warn("cannot compare the snapshot with the log", "error", err)
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

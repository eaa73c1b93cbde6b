package wal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// recovery reads the log back. It writes nothing but copies of damaged lines.
type recovery struct {
	s     *Log
	clock *record.Clock
	count record.Recovery
	// settled counts damaged lines that a human has decided about.
	settled  int
	damaged  []damagedLine // own ones that no copy makes good
	seen     *device.Numbers
	lost     record.Ranges // own numbers that a header gave up, or that a human edited
	upto     uint64        // highest own number that a header or a seal describes
	edits    []ManualEdit
	start    map[string]snapshot.Mark // what a snapshot covers
	taken    map[string]bool          // hand edits that were taken at an earlier start
	live     *pickup                  // takes the lines instead while the store is running
	healed   []record.Line            // what a copy held and no file does
	purges   []record.Line            // that are known and in no file
	held     record.Ranges            // own numbers that this copy has the effect of
	carried  record.Ranges            // and those that the log of another device has
	missed   record.Ranges            // and those that nothing has
	returned []record.Line            // own ones that other devices have written again
	// regained are own numbers that no file has, and that copy the effect of; short are the own
	// files that hold less than was written to them.
	regained record.Ranges
	short    []extent.ShortFile
	altered  []snapshot.Mark // of files of others, which do not hold what the snapshot had read of them
	file     fileRead
	kept     bool // something in the folder being read was synced
	// failed is why the start fails: a change of a memory could not be applied to what the snapshot has of it.
	failed error
}

// fileRead is what is known of the file being read.
type fileRead struct {
	name      record.Name
	compacted bool
	dev       record.Device
	accounted record.Ranges // sequence numbers that its header accounts for
	lines     int
	whole     bool // its seal counts as many lines
	sums      record.SealCheck
	sealed    bool      // there was a seal
	garbled   bool      // it was not read to its end, since that is no log
	upto      int64     // and up to there
	due       time.Time // when the first line that is held may be taken
}

func NewRecovery(s *Log, clock *record.Clock) *recovery {
	s.Snapshot.marks = map[string]snapshot.Mark{}
	return &recovery{s: s, clock: clock, seen: device.NewNumbers(), taken: map[string]bool{}}
}

// all reads every segment of every device, own ones first. Order does not matter to the result.
func (r *recovery) all() error {
	root := filepath.Join(r.s.Data, "stm")
	devices, err := r.s.FS.ReadDir(root)
	if err != nil {
		return fmt.Errorf("list %s: %w", root, err)
	}
	slices.SortStableFunc(devices, func(a, b fs.DirEntry) int { return r.s.foreign(a) - r.s.foreign(b) })
	for _, d := range devices {
		if d.IsDir() {
			r.floors(filepath.Join(root, d.Name()))
		}
	}
	for _, d := range devices {
		if !d.IsDir() {
			continue
		}
		if err := r.directory(filepath.Join(root, d.Name())); err != nil {
			return err
		}
	}
	r.s.vanished()
	return nil
}

func (r *recovery) directory(dir string) error {
	entries, err := r.s.FS.ReadDir(dir)
	if err != nil {
		return r.unreadable(dir, dir, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !record.IsLogFile(e) })
	replaced := r.replacedIn(dir, entries)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if record.ParseName(e.Name()).Kind == record.History {
			r.s.Journal.NoteHistory(name)
			if h, ok := r.s.HeaderOf(name); ok && r.s.Ours(name) {
				r.upto = max(r.upto, h.Last)
			}
			continue
		}
		if replaced[e.Name()] {
			r.count.Replaced++
			continue
		}
		if err := r.Segment(name); err != nil {
			if err = r.unreadable(name, dir, err); err != nil {
				return err
			}
		}
	}
	if r.kept {
		// A killed process may have made a file and not synced its name, and this
		// one counts on its number being used.
		r.kept = false
		return r.s.FS.SyncDir(dir)
	}
	return nil
}

// unreadable takes note of what cannot be read of another device, which may be
// on its way here. What cannot be read of ours is an error.
func (r *recovery) unreadable(name, dir string, err error) error {
	if filepath.Base(dir) == r.s.Device.String() {
		return fmt.Errorf("read %s: %w", dir, err)
	}
	r.s.others.SetUnreadable(name)
	r.s.Logger.Warn("log of another device not read", "name", name, "error", err)
	return nil
}

// Segment reads one file and marks how far. Damage in it is counted, never an
// error; a file that cannot be read at all is one.
func (r *recovery) Segment(name string) error {
	f, err := r.s.FS.OpenRead(name)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	before, settled := r.count, r.settled
	r.file = fileRead{name: record.ParseName(filepath.Base(name))}
	r.file.compacted = r.file.name.Kind == record.Compacted
	in, err := r.lines(f, name)
	if err = cmp.Or(err, r.failed); err != nil {
		return err
	}
	if err := r.keep(name, in.Off); err != nil {
		return err
	}
	if r.file.sums.Wrong && before.Damaged()+settled == r.count.Damaged()+r.settled && r.start[name].Size == 0 {
		r.count.BadSeals++
		r.s.Logger.Warn("log segment differs from its seal", "file", name)
	}
	if r.file.whole && r.file.compacted {
		r.seen.Of(r.file.dev).AddAll(&r.file.accounted)
	}
	r.s.bytes.Add(in.Off)
	switch {
	case !r.s.Ours(name):
		r.setAside(name, info, in, before)
	case in.Off == info.Size() && before.PassedOver()+settled == r.count.PassedOver()+r.settled:
		r.s.Snapshot.marks[name] = snapshot.MarkOf(name, info)
	}
	return nil
}

// lines reads a file from where a snapshot ends to its own end.
func (r *recovery) lines(f durable.ReadFile, name string) (*record.LineReader, error) {
	file, covered := r.s.FileOf(name), r.start[name]
	in := record.NewLineReader(f, covered.Size, covered.Sum)
	for {
		b, at, whole, err := in.Next()
		place := record.Place{File: file, Off: at, N: uint32(len(b))}
		switch {
		case errors.Is(err, io.EOF):
			return in, nil
		case errors.Is(err, record.ErrGarbage):
			r.stop(b, place)
			return in, nil
		case err != nil:
			return in, fmt.Errorf("cannot read log segment %s at byte %d: %w", name, in.Off, err)
		}
		r.Line(b, place, whole)
	}
}

// stop takes note of where a file ceases to be a log. In a file of this device the rest counts as
// one damaged line, of which the beginning goes to the quarantine; b is that.
func (r *recovery) stop(b []byte, at record.Place) {
	r.file.garbled, r.file.upto = true, at.Off
	name := r.s.FileName(at.File)
	if !r.s.Ours(name) {
		return // it is flagged by its name, see otherfiles
	}
	r.s.Logger.Warn("log file not read to its end", "file", name, "offset", at.Off, "error", record.ErrGarbage)
	if r.s.Quarantine.Has(b) {
		r.settled++
		return
	}
	r.damage(b, at)
}

// damagedLine is a line that was passed over.
type damagedLine struct {
	at     record.Place
	oneBit bool // it is a sound line but for one bit
}

// damage counts a line that is passed over, and has a copy kept.
func (r *recovery) damage(b []byte, at record.Place) {
	r.count.Quarantined++
	if r.isOwn(at) {
		r.damaged = append(r.damaged, damagedLine{at: at, oneBit: record.OneBit(b)})
	}
	r.s.Quarantine.Keep(r.s.FileName(at.File), at.Off, b)
}

// Line takes one line, whole reports whether its LF is there. If a line makes its reader panic, it
// counts as damaged and a copy of an own one goes to the quarantine. A change of several memories
// may then have reached the first of them; each row is whole, as it was or as it became. The next
// start reads the line again.
func (r *recovery) Line(b []byte, at record.Place, whole bool) {
	before := r.count
	err := contain.Do(r.s.Logger, contain.Line, fmt.Sprintf("%s@%d", filepath.Base(r.s.FileName(at.File)), at.Off),
		func() error {
			r.line(b, at, whole)
			return nil
		})
	if err != nil {
		r.count = before
		r.damage(b, at)
	}
}

func (r *recovery) line(b []byte, at record.Place, whole bool) {
	if len(bytes.TrimSpace(b)) == 0 {
		return
	}
	if len(bytes.Trim(b, "\x00\r\n ")) == 0 {
		r.count.NulTail++
		return
	}
	r.file.lines++
	good, err := record.Trim(b)
	switch {
	case err == nil:
		r.read(good, at)
	case errors.Is(err, record.ErrNoSum) && whole && r.live == nil && r.manualEdit(b):
	case r.s.Quarantine.Has(b):
		if whole && r.isOwn(at) {
			r.settled++
		}
	case !whole:
		r.count.TornTail++
		r.s.Quarantine.Keep(r.s.FileName(at.File), at.Off, b)
	default:
		r.damage(b, at)
	}
}

// read applies a line whose checksum holds.
func (r *recovery) read(b []byte, at record.Place) {
	l, err := record.Decode(b)
	if err != nil || l.Version != record.FormatVersion || l.Stamp.IsZero() {
		r.count.Unknown++
		return
	}
	l.At = at
	if l.Op != record.OpSeal {
		r.file.sums.Note(b, &l)
	}
	if err := l.Applicable(); err != nil {
		r.unexpected(&l, err)
		return
	}
	switch l.Op {
	case record.OpSegment:
		r.header(&l)
	case record.OpSeal:
		r.seal(&l)
	case record.OpPut, record.OpSet, record.OpDelete, record.OpPurge, record.OpAll, record.OpUse:
		r.apply(&l)
	default:
		r.count.Unknown++
	}
}

func (r *recovery) header(l *record.Line) {
	h, err := record.DecodeHeader(l.Data)
	if err == nil {
		r.s.Review.raise(&h)
	}
	if err == nil && l.Stamp.Dev == r.s.Device {
		for _, lost := range h.Lost {
			r.lost.Add(lost[0], lost[1])
		}
		r.s.others.Keeps(r.s.FileName(l.At.File), h.Kept)
		r.upto = max(r.upto, max(h.First, 1)-1, h.Last)
	}
	if r.file.dev = l.Stamp.Dev; h.Fits(r.file.name) {
		r.file.accounted = *h.Accounted()
	}
	r.observe(l.Stamp)
}

func (r *recovery) seal(l *record.Line) {
	var end record.Seal
	r.file.sealed = true
	if json.Unmarshal(l.Data, &end) == nil {
		r.file.sums.Check(&end)
		if l.Stamp.Dev == r.s.Device {
			r.upto = max(r.upto, end.Last)
		}
	}
	r.file.whole = end.Count == r.file.lines-1
	r.observe(l.Stamp)
}

func (r *recovery) observe(s record.Stamp) {
	if !r.clock.Future(s) {
		r.clock.Observe(s)
	}
}

// apply merges a line. One whose number was met before is merged too, which
// changes nothing if it is the same line, and loses nothing if it is not.
func (r *recovery) apply(l *record.Line) {
	if r.clock.Future(l.Stamp) && l.Stamp.Dev != r.s.Device {
		r.hold(l)
		return
	}
	if r.live != nil {
		r.live.add(l)
		return
	}
	isNew := l.Seq > 0 && r.seen.Add(l.Stamp.Dev, l.Seq, l.Seq)
	r.clock.Observe(l.Stamp)
	if r.s.Review.holds(r.s.Table, l) {
		return
	}
	if err := r.merge(l); err != nil {
		r.unexpected(l, err)
		return
	}
	switch {
	case isNew:
		r.count.Applied++
	case !r.file.compacted: // where a snapshot knew the lines by their earlier files
		r.count.Duplicate++
	}
	if l.Stamp.Dev == r.s.Device && isNew && !r.file.compacted { // what that superseded went
		r.s.countDead(l)
	}
}

// unexpected passes over a line as a whole. Whether a value that cannot be read
// counts depends on what else was read before, and the line's others with it.
func (r *recovery) unexpected(l *record.Line, err error) {
	r.count.Unknown++
	r.s.Logger.Warn("skipped a log line with unexpected fields", "stamp", l.Stamp.String(), "error", err)
}

// numbers returns the last sequence number that may have been used, and how
// many before it are missing.
func (r *recovery) numbers() (last uint64, gaps int) {
	own := r.seen.Of(r.s.Device)
	own.Add(0, 0)
	for _, e := range r.edits {
		// A human may have changed the number too.
		if e.stamp.Dev == r.s.Device && e.seq <= own.Last()+uint64(len(r.edits)) {
			r.lost.Add(e.seq, e.seq)
		}
	}
	last = max(own.Last(), r.lost.Last(), r.upto, r.held.Last(), r.carried.Last())
	if len(r.s.own.All()) == 0 { // of which each would tell more
		last = max(last, device.Told(r.s.FS, r.s.Data, r.s.Device))
	}
	for _, f := range r.short {
		last = max(last, f.Was.Last)
		unfelt := f.Unfelt()
		r.held.AddAll(&unfelt)
	}
	return last, max(0, r.settle(last)-r.settled)
}

// merge merges a line. If it cannot be applied to what the snapshot has, the start fails.
func (r *recovery) merge(l *record.Line) error {
	if err := r.s.Table.Fetch(l); err != nil {
		r.failed = cmp.Or(r.failed, err)
		return nil
	}
	if err := r.s.merge(l, r.s.Words.Drop); err != nil {
		return err
	}
	if record.IsHandKey(l.Key) {
		r.taken[l.Key] = true
	}
	return nil
}

func (r *recovery) isOwn(at record.Place) bool {
	return filepath.Base(filepath.Dir(r.s.FileName(at.File))) == r.s.Device.String()
}

// merge brings one line of the log into table, journal and idempotency keys. It
// is for recovery, and then for the writer. Every memory that the line names is
// told to changed.
func (s *Log) merge(l *record.Line, changed func(*table.Cell)) error {
	if l.Op == record.OpUse {
		return record.DecodeUse(l.Data, l.Stamp.Dev, s.Table.Raise)
	}
	for i := range l.Changes {
		s.Apart.note(s.Table, &l.Changes[i], l.Stamp)
		cell, err := s.Table.Apply(&l.Changes[i], l, l.At)
		if err != nil {
			return err
		}
		changed(cell)
	}
	s.Table.ClearFingerprint(l.Lift, l.Stamp)
	s.Journal.Add(l)
	s.Keys.Add(l, s.Now())
	return nil
}

// floors reads the headers of the compacted files of a folder, before any line
// is merged that they are about. What cannot be read is told when it is read
// whole.
func (r *recovery) floors(dir string) {
	entries, err := r.s.FS.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if record.ParseName(e.Name()).Kind == record.Compacted && e.Type().IsRegular() {
			if h, ok := r.s.HeaderOf(filepath.Join(dir, e.Name())); ok {
				r.s.Review.raise(&h)
			}
		}
	}
}

// reconsider merges at the end of recovery what is no longer in doubt.
func (r *recovery) reconsider() {
	for lines := r.s.Review.released(r.s.Table); len(lines) > 0; lines = r.s.Review.released(r.s.Table) {
		for i := range lines {
			if err := r.merge(&lines[i]); err != nil {
				r.unexpected(&lines[i], err)
			}
		}
	}
	for _, file := range r.s.Review.files() {
		delete(r.s.Snapshot.marks, r.s.FileName(file)) // the next start is to meet them again
	}
}

package stm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
)

// Recovery counts the lines met at start.
type Recovery struct {
	Applied     int // transactions and use lines
	Duplicate   int // the same line met again
	TornTail    int // unfinished last lines
	NulTail     int // runs of NUL bytes that a power cut left
	Quarantined int // lines with a wrong checksum, copied to state/quarantine
	HandEdited  int // lines without a checksum, taken as a human's edit
	Future      int // stamped more than a day ahead, held back
	Unknown     int // of a later version, kept and passed over
	Gaps        int // own sequence numbers that are missing
	BadSeals    int // whole segments that do not hold the lines their seal tells of
	Replaced    int // files that a compacted one stands for, not read
}

// passedOver counts the lines that a later start may take after all: in time,
// by a later version, or mended.
func (r *Recovery) passedOver() int { return r.Quarantined + r.Future + r.Unknown }

// recovery reads the log back. It writes nothing but copies of damaged lines.
type recovery struct {
	s     *Store
	clock *hlc
	count Recovery
	// settled counts damaged lines that a human has decided about.
	settled int
	seen    *numbers
	lost    ranges // own numbers that a header gave up, or that a human edited
	upto    uint64 // highest own number that a header or a seal tells of
	edits   []handEdit
	start   map[string]fileMark // what a snapshot covers
	taken   map[string]bool     // hand edits that were taken at an earlier start
	live    *pickup             // takes the lines instead while the store is running
	file    fileRead
	kept    bool // something in the folder being read was synced
}

// fileRead is what is known of the file being read.
type fileRead struct {
	compacted bool
	dev       Device
	span      [2]uint64 // sequence numbers that its header accounts for
	lines     int
	whole     bool // its seal counts as many lines
	sums      sealCheck
	sealed    bool      // there was a seal
	due       time.Time // when the first line that is held may be taken
}

func newRecovery(s *Store, clock *hlc) *recovery {
	s.snapshot.marks = map[string]fileMark{}
	return &recovery{s: s, clock: clock, seen: newNumbers(), taken: map[string]bool{}}
}

// all reads every segment of every device. Order does not matter.
func (r *recovery) all() error {
	root := filepath.Join(r.s.data, "stm")
	devices, err := r.s.fs.ReadDir(root)
	if err != nil {
		return fmt.Errorf("list %s: %w", root, err)
	}
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
	entries, err := r.s.fs.ReadDir(dir)
	if err != nil {
		return r.unreadable(dir, dir, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !isLogFile(e) })
	replaced := r.replacedIn(dir, entries)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if parseFileName(e.Name()).kind == History {
			r.s.noteHistory(name)
			continue
		}
		if replaced[e.Name()] {
			r.count.Replaced++
			continue
		}
		if err := r.segment(name); err != nil {
			if err = r.unreadable(name, dir, err); err != nil {
				return err
			}
		}
	}
	if r.kept {
		// A killed process may have made a file and not synced its name, and this
		// one counts on its number being used.
		r.kept = false
		return r.s.fs.SyncDir(dir)
	}
	return nil
}

// unreadable takes note of what cannot be read of another device, which may be
// on its way here. What cannot be read of ours is an error.
func (r *recovery) unreadable(name, dir string, err error) error {
	if filepath.Base(dir) == r.s.device.String() {
		return fmt.Errorf("read %s: %w", dir, err)
	}
	r.s.others.unreadable(name)
	r.s.log.Warn("log of another device not read", "name", name, "error", err)
	return nil
}

// segment reads one file and marks how far. Damage in it is counted, never an
// error; a file that cannot be read at all is one.
func (r *recovery) segment(name string) error {
	f, err := r.s.fs.OpenRead(name)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	before, settled := r.count, r.settled
	r.file = fileRead{compacted: parseFileName(filepath.Base(name)).kind == Compacted}
	in, err := r.lines(f, name)
	if err != nil {
		return err
	}
	if err := r.keep(name, in.off); err != nil {
		return err
	}
	if r.file.sums.wrong && before.damaged()+settled == r.count.damaged()+r.settled && r.start[name].size == 0 {
		r.count.BadSeals++
		r.s.log.Warn("log segment does not hold what its seal tells", "file", name)
	}
	if r.file.whole && r.file.compacted && r.file.span[0] <= r.file.span[1] {
		r.seen.add(r.file.dev, r.file.span[0], r.file.span[1])
	}
	r.s.bytes.Add(in.off)
	switch {
	case !r.s.ours(name):
		r.setAside(name, info, in, before)
	case in.off == info.Size() && before.passedOver()+settled == r.count.passedOver()+r.settled:
		r.s.snapshot.marks[name] = markOf(name, info)
	}
	return nil
}

// lines reads a file from where a snapshot ends to its own end.
func (r *recovery) lines(f durable.ReadFile, name string) (*lineReader, error) {
	file, covered := r.s.fileOf(name), r.start[name]
	in := newLineReader(f, covered.size, covered.sum)
	for {
		b, at, whole, err := in.next()
		if errors.Is(err, io.EOF) {
			return in, nil
		}
		if err != nil {
			return in, fmt.Errorf("read segment %s at %d: %w", name, in.off, err)
		}
		r.line(b, place{file: file, off: at, n: uint32(len(b))}, whole)
	}
}

// line takes one line, whole says whether its LF is there.
func (r *recovery) line(b []byte, at place, whole bool) {
	if len(bytes.TrimSpace(b)) == 0 {
		return
	}
	if len(bytes.Trim(b, "\x00\r\n ")) == 0 {
		r.count.NulTail++
		return
	}
	r.file.lines++
	good, err := mend(b)
	switch {
	case err == nil:
		r.take(good, at)
	case errors.Is(err, errNoSum) && whole && r.live == nil && r.handEdit(b):
	case r.s.decided.has(b):
		if whole && r.isOwn(at) {
			r.settled++
		}
	case !whole:
		r.count.TornTail++
		r.quarantine(b, at)
	default:
		r.count.Quarantined++
		r.quarantine(b, at)
	}
}

// mend strips what programs put around a line without touching it (NUL runs
// before it, a byte-order mark, CR or spaces after it) and verifies it.
func mend(b []byte) ([]byte, error) {
	b = bytes.TrimLeft(b, "\x00")
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	b = bytes.TrimSpace(b)
	return b, checkLine(b)
}

// take applies a line whose checksum holds.
func (r *recovery) take(b []byte, at place) {
	l, err := decodeLine(b)
	if err != nil || l.version != formatVersion || l.stamp.IsZero() {
		r.count.Unknown++
		return
	}
	l.at = at
	if l.op != opSeal {
		r.file.sums.note(b, &l)
	}
	if err := l.applicable(); err != nil {
		r.unexpected(&l, err)
		return
	}
	switch l.op {
	case opSegment:
		r.header(&l)
	case opSeal:
		r.seal(&l)
	case opPut, opSet, opDelete, opPurge, opAll, opUse:
		r.apply(&l)
	default:
		r.count.Unknown++
	}
}

func (r *recovery) header(l *line) {
	h, err := decodeHeader(l.data)
	if err == nil {
		r.s.review.raise(&h)
	}
	if err == nil && l.stamp.Dev == r.s.device {
		for _, lost := range h.Lost {
			r.lost.add(lost[0], lost[1])
		}
		r.upto = max(r.upto, max(h.First, 1)-1, h.Last)
	}
	r.file.dev, r.file.span = l.stamp.Dev, [2]uint64{max(h.First, 1), h.Last}
	r.observe(l.stamp)
}

// damaged counts the lines that no seal can fit any more, each told by itself.
func (r *Recovery) damaged() int {
	return r.passedOver() + r.TornTail + r.NulTail + r.HandEdited
}

// sealCheck adds up the lines of a file as its seal does.
type sealCheck struct {
	lines int
	sums  uint32
	last  uint64
	wrong bool
}

func (k *sealCheck) note(b []byte, l *line) {
	k.lines++
	k.sums = crc32.Update(k.sums, castagnoli, b[len(b)-len(`9f8e7d6c"}`):len(b)-len(`"}`)])
	k.last = max(k.last, l.seq)
}

// check compares with what the seal says. Numbers that were given up may make
// its last one higher than that of any line.
func (k *sealCheck) check(end *seal) {
	k.wrong = k.lines != end.Count || fmt.Sprintf("%08x", k.sums) != end.Sum || k.last > end.Last
}

func (r *recovery) seal(l *line) {
	var end seal
	r.file.sealed = true
	if json.Unmarshal(l.data, &end) == nil {
		r.file.sums.check(&end)
		if l.stamp.Dev == r.s.device {
			r.upto = max(r.upto, end.Last)
		}
	}
	r.file.whole = end.Count == r.file.lines-1
	r.observe(l.stamp)
}

func (r *recovery) observe(s Stamp) {
	if !r.clock.future(s) {
		r.clock.observe(s)
	}
}

// apply merges a line. One whose number was met before is merged too, which
// changes nothing if it is the same line, and loses nothing if it is not.
func (r *recovery) apply(l *line) {
	if r.clock.future(l.stamp) && l.stamp.Dev != r.s.device {
		r.hold(l)
		return
	}
	if r.live != nil {
		r.live.add(l)
		return
	}
	isNew := r.seen.add(l.stamp.Dev, l.seq, l.seq)
	r.clock.observe(l.stamp)
	if r.s.review.holds(r.s.table, l) {
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
	if l.stamp.Dev == r.s.device && isNew && !r.file.compacted { // what that superseded went
		r.s.waste(l)
	}
}

// unexpected passes over a line as a whole. Whether a value that cannot be read
// counts depends on what else was read before, and the line's others with it.
func (r *recovery) unexpected(l *line, err error) {
	r.count.Unknown++
	r.s.log.Warn("log line with unexpected fields", "stamp", l.stamp.String(), "error", err)
}

// numbers returns the last sequence number that may have been used, and how
// many before it are missing.
func (r *recovery) numbers() (last uint64, gaps int) {
	own := r.seen.of(r.s.device)
	own.add(0, 0)
	for _, e := range r.edits {
		// A human may have changed the number too.
		if e.stamp.Dev == r.s.device && e.seq <= own.last()+uint64(len(r.edits)) {
			r.lost.add(e.seq, e.seq)
		}
	}
	last = max(own.last(), r.lost.last(), r.upto)
	given := ranges{spans: slices.Clone(r.lost.spans)}
	given.add(last+1, last+1)
	return last, max(0, own.missing(given)-r.settled)
}

func (r *recovery) merge(l *line) error {
	if err := r.s.merge(l, r.s.index.drop); err != nil {
		return err
	}
	if isHandKey(l.key) {
		r.taken[l.key] = true
	}
	return nil
}

func (r *recovery) isOwn(at place) bool {
	return filepath.Base(filepath.Dir(r.s.fileName(at.file))) == r.s.device.String()
}

// merge brings one line of the log into table, journal and idempotency keys. It
// is for recovery, and then for the writer. Every memory that the line names is
// told to changed.
func (s *Store) merge(l *line, changed func(*cell)) error {
	if l.op == opUse {
		return decodeUse(l.data, l.stamp.Dev, s.table.raise)
	}
	for i := range l.changes {
		cell, err := s.table.apply(&l.changes[i], l, l.at)
		if err != nil {
			return err
		}
		changed(cell)
	}
	s.table.lift(l.lift, l.stamp)
	s.journal.add(l)
	s.keys.add(l, s.now())
	return nil
}

// quarantine keeps a copy of a damaged own line. The original stays in place,
// so a copy that cannot be made is no loss.
func (r *recovery) quarantine(b []byte, at place) {
	if !r.isOwn(at) {
		return
	}
	name := r.s.fileName(at.file)
	dir := r.s.quarantineDir()
	copyName := filepath.Join(dir, fmt.Sprintf("%s@%d", filepath.Base(name), at.off))
	if _, err := r.s.fs.Lstat(copyName); err == nil {
		return
	}
	err := durable.MkdirAll(r.s.fs, dir)
	if err == nil {
		err = durable.ReplaceFile(r.s.fs, copyName, b)
	}
	if err != nil {
		r.s.log.Warn("damaged line not copied to quarantine", "file", copyName, "error", err)
	}
}

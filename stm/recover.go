package stm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

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
}

// passedOver counts the lines that a later start may take after all: in time,
// by a later version, or mended.
func (r *Recovery) passedOver() int { return r.Quarantined + r.Future + r.Unknown }

// recovery reads the log back. It writes nothing but copies of damaged lines.
type recovery struct {
	*Store
	clock *hlc
	count Recovery
	seen  map[Device]*ranges
	lost  ranges // own numbers that a header gave up, or that a human edited
	upto  uint64 // highest own number that a header or a seal tells of
	edits []handEdit
	start map[string]int64 // where reading begins, for files a snapshot covers
	taken map[string]bool  // hand edits that were taken at an earlier start
	sums  sealCheck        // of the file being read
}

func newRecovery(s *Store, clock *hlc) *recovery {
	s.snapshot.marks = map[string]fileMark{}
	return &recovery{Store: s, clock: clock, seen: map[Device]*ranges{}, taken: map[string]bool{}}
}

// all reads every segment of every device. Order does not matter.
func (r *recovery) all() error {
	root := filepath.Join(r.data, "stm")
	devices, err := r.fs.ReadDir(root)
	if err != nil {
		return fmt.Errorf("list %s: %w", root, err)
	}
	for _, d := range devices {
		if !d.IsDir() {
			continue
		}
		if err := r.directory(filepath.Join(root, d.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (r *recovery) directory(dir string) error {
	entries, err := r.fs.ReadDir(dir)
	if err != nil {
		return r.unreadable(dir, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".jsonl") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := r.segment(filepath.Join(dir, e.Name())); err != nil {
			if err = r.unreadable(dir, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// unreadable counts what cannot be read of another device, which may be on its
// way here. What cannot be read of ours is an error.
func (r *recovery) unreadable(dir string, err error) error {
	if filepath.Base(dir) == r.device.String() {
		return fmt.Errorf("read %s: %w", dir, err)
	}
	r.Store.unreadable++
	r.log.Warn("log of another device not read", "directory", dir, "error", err)
	return nil
}

// segment reads one file and marks how far. Damage in it is counted, never an
// error; a file that cannot be read at all is one.
func (r *recovery) segment(name string) error {
	f, err := r.fs.OpenRead(name)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	before := r.count.passedOver()
	damaged := r.count.damaged()
	r.sums = sealCheck{}
	end, err := r.lines(f, name)
	if err != nil {
		return err
	}
	if err := r.keep(name, end); err != nil {
		return err
	}
	if r.sums.wrong && damaged == r.count.damaged() && r.start[name] == 0 {
		r.count.BadSeals++
		r.log.Warn("log segment does not hold what its seal tells", "file", name)
	}
	r.bytes.Add(end)
	if end == info.Size() && before == r.count.passedOver() {
		r.snapshot.marks[name] = markOf(name, info)
	}
	return nil
}

// lines reads a file to its end and returns where that is.
func (r *recovery) lines(f durable.ReadFile, name string) (end int64, err error) {
	file := r.fileOf(name)
	in := bufio.NewReaderSize(f, 1<<18)
	off := r.resume(f, in, name)
	var b []byte
	for {
		var n int
		off += skipEmpty(in)
		b, n, err = readBounded(in, b[:0])
		if n > 0 && (err == nil || errors.Is(err, io.EOF)) {
			r.line(b, place{file: file, off: off, n: uint32(len(b))}, err == nil)
		}
		off += int64(n)
		if errors.Is(err, io.EOF) {
			return off, nil
		}
		if err != nil {
			return off, fmt.Errorf("read segment %s at %d: %w", name, off, err)
		}
	}
}

// fileOf returns the number of a file, the snapshot's if it has one.
func (r *recovery) fileOf(name string) uint32 {
	if i := slices.Index(r.files, name); i >= 0 {
		return uint32(i)
	}
	return r.addFile(name)
}

// resume skips what a snapshot covers and returns the offset to read from.
func (r *recovery) resume(f io.ReaderAt, in *bufio.Reader, name string) int64 {
	off := r.start[name]
	if off > 0 {
		in.Reset(io.NewSectionReader(f, off, math.MaxInt64-off))
	}
	return off
}

// skipEmpty skips empty lines, of which a damaged file may hold a billion.
func skipEmpty(in *bufio.Reader) (n int64) {
	for {
		_, _ = in.Peek(1) // fills the buffer; the next read meets the error
		b, _ := in.Peek(in.Buffered())
		rest := bytes.TrimLeft(b, "\r\n")
		empty, _ := in.Discard(len(b) - len(rest))
		if n += int64(empty); empty == 0 || len(rest) > 0 {
			return n
		}
	}
}

// readBounded reads to the next LF. Of a line longer than MaxLine it returns
// the beginning; n counts all of it. It appends to b.
func readBounded(in *bufio.Reader, b []byte) (_ []byte, n int, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += len(part)
		if room := MaxLine + 1 - len(b); room > 0 {
			b = append(b, part[:min(len(part), room)]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b, n, err
		}
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
	good, err := mend(b)
	switch {
	case err == nil:
		r.take(good, at)
	case errors.Is(err, errNoSum) && whole && r.handEdit(b):
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
		r.sums.note(b, &l)
	}
	switch l.op {
	case opSegment:
		r.header(&l)
	case opSeal:
		r.seal(&l)
	case opPut, opSet, opDelete, opAll, opUse:
		r.apply(&l)
	default:
		r.count.Unknown++
	}
}

func (r *recovery) header(l *line) {
	h, err := decodeHeader(l.data)
	if err == nil && l.stamp.Dev == r.device {
		for _, lost := range h.Lost {
			r.lost.add(lost[0], lost[1])
		}
		r.upto = max(r.upto, max(h.First, 1)-1)
	}
	if !r.clock.future(l.stamp) {
		r.clock.observe(l.stamp)
	}
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
	if json.Unmarshal(l.data, &end) == nil {
		r.sums.check(&end)
		if l.stamp.Dev == r.device {
			r.upto = max(r.upto, end.Last)
		}
	}
	if !r.clock.future(l.stamp) {
		r.clock.observe(l.stamp)
	}
}

// apply merges a line. One whose number was met before is merged too, which
// changes nothing if it is the same line, and loses nothing if it is not.
func (r *recovery) apply(l *line) {
	if r.clock.future(l.stamp) && l.stamp.Dev != r.device {
		r.count.Future++
		return
	}
	isNew := r.isNew(l)
	r.clock.observe(l.stamp)
	if err := r.merge(l); err != nil {
		r.count.Unknown++
		r.log.Warn("log line with unexpected fields", "stamp", l.stamp.String(), "error", err)
		return
	}
	if isNew {
		r.count.Applied++
	} else {
		r.count.Duplicate++
	}
}

// numbers returns the last sequence number that may have been used, and how
// many before it are missing.
func (r *recovery) numbers() (last uint64, gaps int) {
	own := r.seen[r.device]
	if own == nil {
		own = &ranges{}
		r.seen[r.device] = own
	}
	own.add(0, 0)
	for _, e := range r.edits {
		// A human may have changed the number too.
		if e.stamp.Dev == r.device && e.seq <= own.last()+uint64(len(r.edits)) {
			r.lost.add(e.seq, e.seq)
		}
	}
	last = max(own.last(), r.lost.last(), r.upto)
	given := ranges{spans: slices.Clone(r.lost.spans)}
	given.add(last+1, last+1)
	return last, own.missing(given)
}

// isNew takes note of a line's number and reports whether it is the first time.
func (r *recovery) isNew(l *line) bool {
	seen := r.seen[l.stamp.Dev]
	if seen == nil {
		seen = &ranges{}
		r.seen[l.stamp.Dev] = seen
	}
	return seen.add(l.seq, l.seq)
}

func (r *recovery) merge(l *line) error {
	if l.op == opUse {
		return decodeUse(l.data, l.stamp.Dev, r.table.raise)
	}
	for i := range l.changes {
		cell, err := r.table.apply(&l.changes[i], l, l.at)
		if err != nil {
			return err
		}
		r.index.drop(cell)
	}
	r.journal.add(l)
	r.keys.add(l, r.now())
	if strings.HasPrefix(l.key, handPrefix) {
		r.taken[l.key] = true
	}
	return nil
}

// quarantine keeps a copy of a damaged own line. The original stays in place,
// so a copy that cannot be made is no loss.
func (r *recovery) quarantine(b []byte, at place) {
	name := r.fileName(at.file)
	if filepath.Base(filepath.Dir(name)) != r.device.String() {
		return
	}
	dir := filepath.Join(r.state, "quarantine")
	copyName := filepath.Join(dir, fmt.Sprintf("%s@%d", filepath.Base(name), at.off))
	if _, err := r.fs.Lstat(copyName); err == nil {
		return
	}
	err := durable.MkdirAll(r.fs, dir)
	if err == nil {
		err = durable.ReplaceFile(r.fs, copyName, b)
	}
	if err != nil {
		r.log.Warn("damaged line not copied to quarantine", "file", copyName, "error", err)
	}
}

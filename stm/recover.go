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
	"emberd/memory"
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
}

// recovery reads the log back. It writes nothing but copies of damaged lines.
type recovery struct {
	*Store
	clock *hlc
	count Recovery
	seen  map[Device]*ranges
	lost  ranges // own numbers that a header gave up
	edits []handEdit
	start map[string]int64 // where reading begins, for files a snapshot covers
	taken map[string]bool  // hand edits that were taken at an earlier start
}

// handEdit is a line whose checksum a human removed.
type handEdit struct {
	key  string // names the line, so that it is taken once
	id   memory.ID
	data []byte
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
		return fmt.Errorf("list %s: %w", dir, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".jsonl") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := r.segment(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// segment reads one file. Damage in it is counted, never an error; a file that
// cannot be read at all is one.
func (r *recovery) segment(name string) error {
	f, err := r.fs.OpenRead(name)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	file := r.fileOf(name)
	in := bufio.NewReaderSize(f, 1<<18)
	off := r.resume(f, in, name)
	var b []byte
	for {
		var n int
		b, n, err = readBounded(in, b[:0])
		if n > 0 {
			r.line(b, place{file: file, off: off, n: uint32(len(b))}, err == nil)
		}
		off += int64(n)
		if errors.Is(err, io.EOF) {
			r.bytes.Add(off)
			return nil
		}
		if err != nil {
			return fmt.Errorf("read segment %s at %d: %w", name, off, err)
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
	case errors.Is(err, errNoSum) && whole && r.handEdit(b, at):
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
	switch l.op {
	case opSegment:
		r.header(&l)
	case opSeal:
		r.clock.observe(l.stamp)
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
	}
	if !r.clock.future(l.stamp) {
		r.clock.observe(l.stamp)
	}
}

func (r *recovery) apply(l *line) {
	if r.clock.future(l.stamp) && l.stamp.Dev != r.device {
		r.count.Future++
		return
	}
	if !r.isNew(l) {
		r.count.Duplicate++
		return
	}
	r.clock.observe(l.stamp)
	if err := r.merge(l); err != nil {
		r.count.Unknown++
		r.log.Warn("log line with unexpected fields", "stamp", l.stamp.String(), "error", err)
		return
	}
	r.count.Applied++
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
	r.keys.add(l)
	if strings.HasPrefix(l.key, handPrefix) {
		r.taken[l.key] = true
	}
	return nil
}

const handPrefix = "hand:"

// handEdit remembers a line that is a valid put or set but for its checksum:
// somebody changed it in an editor and took the checksum out on purpose.
func (r *recovery) handEdit(b []byte, at place) bool {
	b = bytes.TrimSpace(b)
	if !json.Valid(b) {
		return false
	}
	l, err := decodeLine(b)
	if err != nil || l.version != formatVersion || l.op != opPut && l.op != opSet {
		return false
	}
	key := fmt.Sprintf("%s%s@%d:%08x", handPrefix, filepath.Base(r.fileName(at.file)), at.off, crc32.Checksum(b, castagnoli))
	r.edits = append(r.edits, handEdit{key: key, id: l.changes[0].id, data: bytes.Clone(l.data)})
	r.count.HandEdited++
	r.isNew(&l)
	return true
}

// transactions turns the hand edits that were not taken before into changes:
// the keys that differ from what the memory holds.
func (r *recovery) transactions() []*Tx {
	var txs []*Tx
	for _, e := range r.edits {
		if r.taken[e.key] {
			continue
		}
		set := map[string]json.RawMessage{}
		row := r.table.get(e.id)
		// The edit was decoded before.
		_ = eachField(e.data, func(name, value []byte) bool {
			if row == nil || !bytes.Equal(row.value(string(name)), value) {
				set[string(name)] = bytes.Clone(value)
			}
			return true
		})
		if len(set) > 0 {
			txs = append(txs, &Tx{Verb: "edit", By: memory.Actor{Via: "hand edit of the log"}, Key: e.key,
				Changes: []Change{{ID: e.id, Set: set}}})
		}
	}
	return txs
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

// ranges is a set of numbers as sorted, disjoint intervals.
type ranges struct{ spans [][2]uint64 }

// add inserts lo to hi and reports whether any of it is new.
func (r *ranges) add(lo, hi uint64) bool {
	if n := len(r.spans); n > 0 && r.spans[n-1][1]+1 == lo {
		r.spans[n-1][1] = hi
		return true
	}
	i, _ := slices.BinarySearchFunc(r.spans, lo, func(s [2]uint64, lo uint64) int {
		switch {
		case s[1] < lo:
			return -1
		case s[0] > lo:
			return 1
		}
		return 0
	})
	if i < len(r.spans) && r.spans[i][0] <= lo && hi <= r.spans[i][1] {
		return false
	}
	r.spans = slices.Insert(r.spans, i, [2]uint64{lo, hi})
	r.join(i)
	if i > 0 {
		r.join(i - 1)
	}
	return true
}

// join merges into span i those after it that touch or overlap it.
func (r *ranges) join(i int) {
	for i+1 < len(r.spans) && r.spans[i+1][0] <= r.spans[i][1]+1 {
		r.spans[i][0] = min(r.spans[i][0], r.spans[i+1][0])
		r.spans[i][1] = max(r.spans[i][1], r.spans[i+1][1])
		r.spans = slices.Delete(r.spans, i+1, i+2)
	}
}

func (r *ranges) last() uint64 {
	if len(r.spans) == 0 {
		return 0
	}
	return r.spans[len(r.spans)-1][1]
}

// missing counts the numbers between the first and the last that are in
// neither set.
func (r *ranges) missing(given ranges) int {
	all := ranges{spans: slices.Clone(r.spans)}
	for _, s := range given.spans {
		all.add(s[0], s[1])
	}
	n := 0
	for i := 1; i < len(all.spans); i++ {
		n += int(all.spans[i][0] - all.spans[i-1][1] - 1)
	}
	return n
}

package compaction

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"time"

	"emberd/memory"
	"emberd/stm/record"
)

// recordFilter decides, line by line in the order of the input, which part of a line goes
// into the compacted file and which into the history.
type recordFilter struct {
	*Fold
	now         time.Time
	trashKeep   time.Duration
	historyKeep time.Duration
	hot, cold   *output
	kept        lineSum // of the whole lines that went into either
	count       emitted
	isCold      func(key [16]byte) bool // reports an archived memory; nil is none
}

// emitted counts what became of the operations.
type emitted struct {
	whole, cut, gone, expired, repeated int
}

// line takes one line of a class other than empty and meta.
func (e *recordFilter) line(b, good []byte, l *record.Line, is record.Class) error {
	switch {
	case is == record.Torn:
		return e.keep(e.cold, b, record.Stamp{})
	case is == record.Verbatim:
		return e.keep(e.hot, bytes.TrimSuffix(b, []byte("\n")), record.Stamp{})
	case l.Op == record.OpUse:
		return nil // their totals follow at the end
	case e.keepsWholeLine(l):
		return e.whole(good, l)
	}
	left, fate := e.reduce(l)
	lift := e.lifts(l)
	switch {
	case fate.whole && len(lift) == len(l.Lift):
		return e.keepWhole(good, l, left, fate.same)
	case len(left)+len(lift) == 0:
		e.count.gone++
	default:
		if err := e.cut(l, left, lift); err != nil {
			return err
		}
	}
	if !fate.lost && len(lift) == len(l.Lift) {
		return nil
	}
	return e.toHistory(good, l)
}

// keepWhole keeps a line of which an undo needs nothing else, as it is if it is the same.
func (e *recordFilter) keepWhole(good []byte, l *record.Line, left []record.Change, same bool) error {
	short := *l
	short.Changes, short.Packed = left, e.packs(l, left)
	if same && short.Packed == l.Packed {
		return e.whole(good, l)
	}
	if short.Packed {
		short.Op = record.OpAll
	}
	b := short.Append(nil)
	return e.whole(b[:len(b)-1], l)
}

// packs reports whether most of what is left of a line is about archived memories, whose lines are packed.
func (e *recordFilter) packs(l *record.Line, left []record.Change) bool {
	if l.Packed || e.isCold == nil {
		return l.Packed
	}
	n := 0
	for _, c := range left {
		if e.isCold(c.ID.Bytes()) {
			n++
		}
	}
	return 2*n > len(left)
}

// archived takes one line of a history.
func (e *recordFilter) archived(b, good []byte, l *record.Line, is record.Class) error {
	if is == record.Counted {
		return e.toHistory(good, l)
	}
	return e.keep(e.cold, bytes.TrimSuffix(b, []byte("\n")), record.Stamp{})
}

// cut keeps the changes of a line that still count.
func (e *recordFilter) cut(l *record.Line, left []record.Change, lift []memory.ID) error {
	short := *l
	short.Changes, short.Lift, short.Cut, short.Packed = left, lift, true, e.packs(l, left)
	if len(left) == 0 || short.Packed {
		short.Op = record.OpAll
	}
	b := short.Append(nil)
	fresh, err := e.hot.put(b[:len(b)-1], l.Stamp)
	e.countLine(&e.count.cut, fresh)
	return err
}

// countLine adds a line to n, or to the repetitions if it is not fresh.
func (e *recordFilter) countLine(n *int, fresh bool) {
	if !fresh {
		n = &e.count.repeated
	}
	*n++
}

func (e *recordFilter) whole(good []byte, l *record.Line) error {
	fresh, err := e.hot.put(good, l.Stamp)
	if fresh && !l.Cut {
		e.kept.add(good)
	}
	e.countLine(&e.count.whole, fresh)
	return err
}

// toHistory puts a line that no longer counts, or not wholly, into the history,
// unless it is there already or too old.
func (e *recordFilter) toHistory(good []byte, l *record.Line) error {
	if l.Cut {
		return nil
	}
	if e.now.Sub(l.Stamp.Time()) >= e.historyKeep {
		e.count.expired++
		return nil
	}
	return e.keep(e.cold, good, l.Stamp)
}

func (e *recordFilter) keep(o *output, b []byte, at record.Stamp) error {
	fresh, err := o.put(b, at)
	if fresh {
		e.kept.add(b)
	}
	return err
}

// keepsWholeLine reports lines that are kept as they are although some of what they
// say may be superseded, which does no harm: those whose idempotency key still
// counts, or reports which hand edit was taken, and those with members that only a
// later version could cut.
func (e *recordFilter) keepsWholeLine(l *record.Line) bool {
	return l.Extra || record.IsHandKey(l.Key) || l.Key != "" && !l.Cut && e.now.Sub(l.Stamp.Time()) < record.KeyLife
}

// fate is what becomes of the changes of a line.
type fate struct {
	whole bool // an undo needs nothing else than what is left
	same  bool // nothing is left out
	lost  bool // something goes that belongs into the history
}

// reduce returns the changes of a line less what no longer counts.
func (e *recordFilter) reduce(l *record.Line) (left []record.Change, f fate) {
	f.whole, f.same = len(l.Changes) > 0, true
	for i := range l.Changes {
		k := e.winner(&l.Changes[i], l.Stamp)
		f.whole, f.lost = f.whole && k.whole, f.lost || k.lost
		f.same = f.same && k.Change == &l.Changes[i]
		if k.Change != nil {
			left = append(left, *k.Change)
		}
	}
	return left, f
}

// lifts returns of the ids whose fingerprints a line lifts those that none does later.
func (e *recordFilter) lifts(l *record.Line) (lift []memory.ID) {
	for _, id := range l.Lift {
		if row := e.rows[id.Bytes()]; row != nil && row.lifted == l.Stamp {
			lift = append(lift, id)
		}
	}
	return lift
}

func (e *recordFilter) winner(c *record.Change, at record.Stamp) kept {
	key := c.ID.Bytes()
	row := e.rows[key]
	switch {
	case row == nil: // its tombstone is dropped
		return keptOf(nil, false)
	case c.Op == record.OpPurge:
		return keptOf(c, at == row.purged)
	case c.Op == record.OpDelete:
		return keptOf(e.tombstone(c, row, at))
	case !at.After(e.hidden(key, row)):
		return keptOf(nil, false)
	}
	left, superseded := row.split(c, at)
	if k, ok := e.aged(c, row, at, superseded); ok {
		return k
	}
	if len(superseded) == 0 && c.Prev == nil {
		return keptOf(c, true)
	}
	return keptOf(part(c, left, row, at), false)
}

// split returns the object of the keys of a change that count, and the others.
func (r *folded) split(c *record.Change, at record.Stamp) (left []byte, superseded []string) {
	left = append(make([]byte, 0, len(c.Data)), '{')
	_ = record.EachField(c.Data, func(name, value []byte) bool {
		if !r.wins(name, at) {
			superseded = append(superseded, string(name))
			return true
		}
		if len(left) > 1 {
			left = append(left, ',')
		}
		left = append(append(record.AppendName(left, name), ':'), value...)
		return true
	})
	return append(left, '}'), superseded
}

// tombstone keeps what a delete superseded for as long as it can be restored, and
// the fingerprint of its text for as long as that counts.
func (e *recordFilter) tombstone(c *record.Change, row *folded, at record.Stamp) (_ *record.Change, whole bool) {
	stays := at == row.tomb && at.After(e.hide[c.ID.Bytes()])
	left := &record.Change{Op: record.OpDelete, ID: c.ID}
	if row.prints(at) {
		left.Print = c.Print
	}
	switch {
	case stays && (c.Prev == nil || e.now.Sub(at.Time()) < e.trashKeep):
		return c, true
	case stays, left.Print != nil:
		return left, false
	}
	return nil, false
}

// totals writes the totals of use as the latest use lines.
func (e *recordFilter) totals() error {
	keys := slices.SortedFunc(maps.Keys(e.use), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	marks := slices.SortedFunc(slices.Values(e.useLines), func(a, b numbered) int { return a.stamp.Compare(b.stamp) })
	for part := range slices.Chunk(keys, record.MaxUses) {
		totals := make(map[[16]byte]record.UseTotal, len(part))
		for _, key := range part {
			totals[key] = e.use[key]
		}
		// There were as many lines: none holds more totals than these.
		at := marks[len(marks)-1]
		marks = marks[:max(1, len(marks)-1)]
		l := record.Line{Op: record.OpUse, Seq: at.seq, Stamp: at.stamp, Data: record.EncodeUse(totals)}
		b := l.Append(nil)
		if _, err := e.hot.put(b[:len(b)-1], l.Stamp); err != nil {
			return err
		}
	}
	return nil
}

// lineSum sums up lines whatever their order.
type lineSum struct {
	seed maphash.Seed
	sum  uint64
}

func (s *lineSum) add(b []byte) { s.sum += maphash.Bytes(s.seed, b) }

// output is a file in the making, or, without a writer, only its size.
type output struct {
	w              io.Writer
	size           int64
	lines          int
	crc, sums      uint32
	oldest, newest record.Stamp // of its lines
	seen           lineSet
	buf            []byte
}

// put appends a line, given without its LF, that is not there yet.
func (o *output) put(b []byte, at record.Stamp) (fresh bool, err error) {
	if !o.seen.add(at, b) {
		return false, nil
	}
	if !at.IsZero() {
		if o.newest = record.Later(o.newest, at); o.oldest.IsZero() || o.oldest.After(at) {
			o.oldest = at
		}
	}
	return true, o.write(b)
}

func (o *output) write(b []byte) error {
	if record.Verify(b) == nil {
		o.sums = crc32.Update(o.sums, record.Castagnoli, record.SumText(b))
	}
	o.buf = append(append(o.buf[:0], b...), '\n')
	o.crc = crc32.Update(o.crc, record.Castagnoli, o.buf)
	o.size += int64(len(o.buf))
	o.lines++
	if o.w == nil {
		return nil
	}
	_, err := o.w.Write(o.buf)
	return err
}

// end returns the seal.
func (o *output) end(at record.Stamp, last uint64) []byte {
	return record.MetaLine(record.OpSeal, at, record.Seal{Count: o.lines, Last: last, Sum: fmt.Sprintf("%08x",
		o.sums), CRC: fmt.Sprintf("%08x", o.crc)})
}

// lineSet knows which lines were written. Lines come nearly in order, so most
// are known by looking at the last.
type lineSet struct {
	seed   maphash.Seed
	sorted []knownLine
	others map[knownLine]bool
}

type knownLine struct {
	at  record.Stamp
	sum uint64
}

// add reports whether the line is new.
func (s *lineSet) add(at record.Stamp, b []byte) bool {
	k := knownLine{at, maphash.Bytes(s.seed, b)}
	n := len(s.sorted)
	if n == 0 || at.After(s.sorted[n-1].at) {
		s.sorted = append(s.sorted, k)
		return true
	}
	i, found := slices.BinarySearchFunc(s.sorted, at, func(a knownLine,
		at record.Stamp) int {
		return a.at.Compare(at)
	})
	if found && s.sorted[i] == k || s.others[k] {
		return false
	}
	if s.others == nil {
		s.others = map[knownLine]bool{}
	}
	s.others[k] = true
	return true
}

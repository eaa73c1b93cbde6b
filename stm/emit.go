package stm

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"time"

	"emberd/memory"
)

// class says what compaction makes of a line.
type class int

const (
	empty    class = iota // nothing, or NUL bytes that a power cut left
	torn                  // an unfinished last line
	meta                  // header or seal
	verbatim              // damaged, of a later version, or a human's: kept as it is
	counted               // an operation of this device
)

// classify decodes one line of a file of dev. good is the line without what
// other programs put around it.
func classify(b []byte, whole bool, dev Device) (l line, good []byte, is class) {
	if len(bytes.Trim(b, "\x00\r\n\t ")) == 0 {
		return l, nil, empty
	}
	good, err := mend(b)
	if err != nil && !whole {
		return l, good, torn
	}
	if err == nil {
		l, err = decodeLine(good)
	}
	if err != nil || l.version != formatVersion || l.stamp.IsZero() || l.stamp.Dev != dev {
		return l, good, verbatim
	}
	switch l.op {
	case opSegment, opSeal:
		return l, good, meta
	case opPut, opSet, opDelete, opPurge, opAll, opUse:
		if l.applicable() == nil && l.useful() {
			return l, good, counted
		}
	}
	return l, good, verbatim
}

// applicable returns why a row would not take the line.
func (l *line) applicable() error {
	for _, c := range l.changes {
		if c.buries() {
			continue
		}
		var h hot
		var bad error
		err := eachField(c.data, func(name, value []byte) bool {
			if !bytes.Equal(value, null) {
				bad = h.take(string(name), value)
			}
			return bad == nil
		})
		if err = errors.Join(err, bad); err != nil {
			return err
		}
	}
	return nil
}

// useful reports whether the totals of a use line can be read.
func (l *line) useful() bool {
	return l.op != opUse || decodeUse(l.data, l.stamp.Dev, func([16]byte, useTotal) {}) == nil
}

// emitter decides, line by line in the order of the input, what of a line goes
// into the compacted file and what into the history.
type emitter struct {
	*fold
	now         time.Time
	trashKeep   time.Duration
	historyKeep time.Duration
	hot, cold   *output
	kept        lineSum // of the whole lines that went into either
	count       emitted
}

// emitted counts what became of the operations.
type emitted struct {
	whole, cut, gone, expired, repeated int
}

// line takes one line of a class other than empty and meta.
func (e *emitter) line(b, good []byte, l *line, is class) error {
	switch {
	case is == torn:
		return e.keep(e.cold, b, Stamp{})
	case is == verbatim:
		return e.keep(e.hot, bytes.TrimSuffix(b, []byte("\n")), Stamp{})
	case l.op == opUse:
		return nil // their totals follow at the end
	case e.staysWhole(l):
		return e.whole(good, l)
	}
	left, whole := e.reduce(l)
	lift := e.lifts(l)
	switch {
	case whole && len(lift) == len(l.lift):
		return e.whole(good, l)
	case len(left)+len(lift) == 0:
		e.count.gone++
	default:
		if err := e.cut(l, left, lift); err != nil {
			return err
		}
	}
	return e.past(good, l)
}

// archived takes one line of a history.
func (e *emitter) archived(b, good []byte, l *line, is class) error {
	if is == counted {
		return e.past(good, l)
	}
	return e.keep(e.cold, bytes.TrimSuffix(b, []byte("\n")), Stamp{})
}

// cut keeps what is left of a line.
func (e *emitter) cut(l *line, left []change, lift []memory.ID) error {
	short := *l
	short.changes, short.lift, short.cut = left, lift, true
	if len(left) == 0 {
		short.op = opAll
	}
	b := short.append(nil)
	fresh, err := e.hot.put(b[:len(b)-1], l.stamp)
	e.tally(&e.count.cut, fresh)
	return err
}

// tally counts a line as what it is or as a repetition.
func (e *emitter) tally(n *int, fresh bool) {
	if !fresh {
		n = &e.count.repeated
	}
	*n++
}

func (e *emitter) whole(good []byte, l *line) error {
	fresh, err := e.hot.put(good, l.stamp)
	if fresh && !l.cut {
		e.kept.add(good)
	}
	e.tally(&e.count.whole, fresh)
	return err
}

// past puts a line that no longer counts, or not wholly, into the history,
// unless it is there already or too old.
func (e *emitter) past(good []byte, l *line) error {
	if l.cut {
		return nil
	}
	if e.now.Sub(l.stamp.Time()) >= e.historyKeep {
		e.count.expired++
		return nil
	}
	return e.keep(e.cold, good, l.stamp)
}

func (e *emitter) keep(o *output, b []byte, at Stamp) error {
	fresh, err := o.put(b, at)
	if fresh {
		e.kept.add(b)
	}
	return err
}

// staysWhole reports lines that are kept as they are although some of what they
// say may be superseded, which does no harm: those whose idempotency key still
// counts, or says which hand edit was taken, and those with members that only a
// later version could cut.
func (e *emitter) staysWhole(l *line) bool {
	return l.extra || isHandKey(l.key) || l.key != "" && !l.cut && e.now.Sub(l.stamp.Time()) < keyLife
}

// reduce returns the changes of a line less what no longer counts, and whether
// that is the whole line.
func (e *emitter) reduce(l *line) (left []change, whole bool) {
	whole = len(l.changes) > 0
	for i := range l.changes {
		c, all := e.winner(&l.changes[i], l.stamp)
		if whole = whole && all; c != nil {
			left = append(left, *c)
		}
	}
	return left, whole
}

// lifts returns of the ids whose fingerprints a line lifts those that none does later.
func (e *emitter) lifts(l *line) (lift []memory.ID) {
	for _, id := range l.lift {
		if row := e.rows[id.Bytes()]; row != nil && row.lifted == l.stamp {
			lift = append(lift, id)
		}
	}
	return lift
}

func (e *emitter) winner(c *change, at Stamp) (_ *change, whole bool) {
	key := c.id.Bytes()
	row := e.rows[key]
	switch {
	case row == nil: // its tombstone is dropped
		return nil, false
	case c.op == opPurge:
		return c, at == row.purged
	case c.op == opDelete:
		return e.tombstone(c, row, at)
	case !at.after(e.hidden(key, row)):
		return nil, false
	}
	left := append(make([]byte, 0, len(c.data)), '{')
	all := true
	_ = eachField(c.data, func(name, value []byte) bool {
		if !row.wins(name, at) {
			all = false
			return true
		}
		if len(left) > 1 {
			left = append(left, ',')
		}
		left = append(append(appendName(left, name), ':'), value...)
		return true
	})
	left = append(left, '}')
	if len(left) == 2 && (c.op != opPut || at != row.born) {
		return nil, false
	}
	if all && c.prev == nil {
		return c, true
	}
	return &change{op: c.op, id: c.id, data: left}, false
}

// tombstone keeps what a delete superseded for as long as it can be restored, and
// the fingerprint of its text for as long as that counts.
func (e *emitter) tombstone(c *change, row *folded, at Stamp) (_ *change, whole bool) {
	stays := at == row.tomb && at.after(e.hide[c.id.Bytes()])
	left := &change{op: opDelete, id: c.id}
	if row.prints(at) {
		left.print = c.print
	}
	switch {
	case stays && (c.prev == nil || e.now.Sub(at.Time()) < e.trashKeep):
		return c, true
	case stays, left.print != nil:
		return left, false
	}
	return nil, false
}

// totals writes the totals of use as the latest use lines.
func (e *emitter) totals() error {
	keys := slices.SortedFunc(maps.Keys(e.use), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	marks := slices.SortedFunc(slices.Values(e.useLines), func(a, b numbered) int { return a.stamp.Compare(b.stamp) })
	for part := range slices.Chunk(keys, maxUses) {
		totals := make(map[[16]byte]useTotal, len(part))
		for _, key := range part {
			totals[key] = e.use[key]
		}
		// There were as many lines: none holds more totals than these.
		at := marks[len(marks)-1]
		marks = marks[:max(1, len(marks)-1)]
		l := line{op: opUse, seq: at.seq, stamp: at.stamp, data: encodeUse(totals)}
		b := l.append(nil)
		if _, err := e.hot.put(b[:len(b)-1], l.stamp); err != nil {
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
	oldest, newest Stamp // of its lines
	seen           lineSet
	buf            []byte
}

// put appends a line, given without its LF, that is not there yet.
func (o *output) put(b []byte, at Stamp) (fresh bool, err error) {
	if !o.seen.add(at, b) {
		return false, nil
	}
	if !at.IsZero() {
		if o.newest = later(o.newest, at); o.oldest.IsZero() || o.oldest.after(at) {
			o.oldest = at
		}
	}
	return true, o.write(b)
}

func (o *output) write(b []byte) error {
	if checkLine(b) == nil {
		o.sums = crc32.Update(o.sums, castagnoli, sumText(b))
	}
	o.buf = append(append(o.buf[:0], b...), '\n')
	o.crc = crc32.Update(o.crc, castagnoli, o.buf)
	o.size += int64(len(o.buf))
	o.lines++
	if o.w == nil {
		return nil
	}
	_, err := o.w.Write(o.buf)
	return err
}

// sumText is the checksum of a line without its LF, as text.
func sumText(b []byte) []byte { return b[len(b)-len(`9f8e7d6c"}`) : len(b)-len(`"}`)] }

// end returns the seal.
func (o *output) end(at Stamp, last uint64) []byte {
	return metaLine(opSeal, at, seal{Count: o.lines, Last: last, Sum: fmt.Sprintf("%08x", o.sums), CRC: fmt.Sprintf("%08x", o.crc)})
}

// lineSet knows which lines were written. Lines come nearly in order, so most
// are known by looking at the last.
type lineSet struct {
	seed   maphash.Seed
	sorted []knownLine
	others map[knownLine]bool
}

type knownLine struct {
	at  Stamp
	sum uint64
}

// add reports whether the line is new.
func (s *lineSet) add(at Stamp, b []byte) bool {
	k := knownLine{at, maphash.Bytes(s.seed, b)}
	n := len(s.sorted)
	if n == 0 || at.after(s.sorted[n-1].at) {
		s.sorted = append(s.sorted, k)
		return true
	}
	i, found := slices.BinarySearchFunc(s.sorted, at, func(a knownLine, at Stamp) int { return a.at.Compare(at) })
	if found && s.sorted[i] == k || s.others[k] {
		return false
	}
	if s.others == nil {
		s.others = map[knownLine]bool{}
	}
	s.others[k] = true
	return true
}

package stm

import (
	"bytes"
	"hash/maphash"
	"slices"
	"time"
	"unique"
)

// fold is what lines add up to, without the values: which line the value of
// every key comes from. It holds no document, so that a log is folded in less
// memory than it is kept in.
type fold struct {
	dev  Device
	hide map[[16]byte]Stamp // tombstones of other devices that hide for good
	rows map[[16]byte]*folded

	first, last uint64 // sequence numbers
	newest      Stamp  // latest stamp, of headers and seals too
	lost        [][2]uint64
	shapes      map[string][]string   // each set of keys once: most memories have the same
	use         map[[16]byte]useTotal // running totals of dev
	useLines    []numbered            // of the lines they came in
	name        []byte                // scratch of shape
	// opaque is set by a line that says something about who knows which memory.
	opaque bool
	count  int   // operations
	floor  Stamp // of the headers: see header.Floor
	seen   map[string]uint64
	since  time.Time // likewise
}

// numbered is the place of a line in the order of its device.
type numbered struct {
	seq   uint64
	stamp Stamp
}

// folded is one memory: the stamps of a Row, and a sum of its values.
type folded struct {
	base       Stamp // of the first put that counted, and of its keys
	keys       []string
	baseSum    uint64
	regs       []foldedKey
	tomb, born Stamp
	purged     Stamp       // of the latest purge, which stays
	print      fingerprint // the latest fingerprint
	printed    Stamp       // when it was made
	lifted     Stamp       // when one was lifted last
	buried     uint64      // sequence number of the tombstone
}

// foldedKey is a register with a hash of the value instead of the value.
type foldedKey struct {
	register
	sum uint64
}

func newFold(dev Device, hide map[[16]byte]Stamp) *fold {
	return &fold{dev: dev, hide: hide, rows: map[[16]byte]*folded{}, shapes: map[string][]string{}, use: map[[16]byte]useTotal{}}
}

// add folds one line in. Lines may come in any order and more than once.
func (f *fold) add(l *line) error {
	f.number(l)
	f.count++
	if l.op == opUse {
		f.useLines = append(f.useLines, numbered{l.seq, l.stamp})
		return decodeUse(l.data, f.dev, f.raise)
	}
	f.opaque = f.opaque || l.extra || isHandKey(l.key)
	for i := range l.changes {
		f.change(&l.changes[i], l)
	}
	for _, id := range l.lift {
		row := f.row(id.Bytes())
		row.lifted = later(row.lifted, l.stamp)
	}
	return nil
}

func (f *fold) row(key [16]byte) *folded {
	row := f.rows[key]
	if row == nil {
		row = &folded{}
		f.rows[key] = row
	}
	return row
}

// number takes note of a line's place in the order.
func (f *fold) number(l *line) {
	f.newest = later(f.newest, l.stamp)
	if l.seq == 0 {
		return
	}
	f.last = max(f.last, l.seq)
	if f.first == 0 || l.seq < f.first {
		f.first = l.seq
	}
}

func (f *fold) raise(key [16]byte, u useTotal) {
	f.use[key] = mostUse(f.use[key], u)
}

func (f *fold) change(c *change, l *line) {
	key, at := c.id.Bytes(), l.stamp
	row := f.row(key)
	if c.print != nil && at.after(row.printed) {
		row.print, row.printed = *c.print, at
	}
	if c.op == opPurge {
		row.purged = later(row.purged, at)
	}
	if c.buries() {
		row.bury(at, l.seq)
		return
	}
	if c.op == opPut {
		row.born = later(row.born, at)
	}
	if !at.after(row.tomb) {
		return
	}
	if c.op == opPut && row.base.IsZero() && len(row.regs) == 0 {
		row.base, row.keys = at, f.shape(c.data)
		return
	}
	// What cannot be walked was sorted out before.
	_ = eachField(c.data, func(name, _ []byte) bool {
		row.mark(name, at)
		return true
	})
}

// shape returns the keys of an object.
func (f *fold) shape(obj []byte) []string {
	f.name = f.name[:0]
	_ = eachField(obj, func(name, _ []byte) bool {
		f.name = append(append(f.name, name...), 0)
		return true
	})
	keys, ok := f.shapes[string(f.name)]
	if !ok {
		for name := range bytes.SplitSeq(bytes.TrimSuffix(f.name, []byte{0}), []byte{0}) {
			keys = append(keys, string(name))
		}
		f.shapes[string(f.name)] = keys
	}
	return keys
}

func (r *folded) bury(at Stamp, seq uint64) {
	if !at.after(r.tomb) {
		return
	}
	r.tomb, r.buried = at, seq
	if !r.base.after(at) {
		r.base, r.keys = Stamp{}, nil
	}
	r.regs = slices.DeleteFunc(r.regs, func(g foldedKey) bool { return !g.stamp.after(at) })
}

func (r *folded) mark(name []byte, at Stamp) {
	for i := range r.regs {
		if r.regs[i].key == string(name) {
			r.regs[i].stamp = later(r.regs[i].stamp, at)
			return
		}
	}
	r.regs = append(r.regs, foldedKey{register: register{unique.Make(string(name)).Value(), at}})
}

// wins reports whether the value that a change stamped at has for a key is the
// one that counts.
func (r *folded) wins(name []byte, at Stamp) bool {
	for _, g := range r.regs {
		if g.key == string(name) && g.stamp.after(at) {
			return false
		}
	}
	return !r.base.after(at) || !slices.Contains(r.keys, string(name))
}

// hidden is the stamp up to which everything about a memory is deleted.
func (f *fold) hidden(key [16]byte, row *folded) Stamp { return later(f.hide[key], row.tomb) }

// dead reports whether nothing is left of a memory but its tombstone.
func (r *folded) dead() bool {
	return r.purged.IsZero() && !r.tomb.IsZero() && !r.born.after(r.tomb) && r.base.IsZero() && len(r.regs) == 0
}

// fingerprinted reports whether deletes say something about the text, which stays.
func (r *folded) fingerprinted() bool { return !r.printed.IsZero() || !r.lifted.IsZero() }

// live reports whether the lines alone make a live memory.
func (r *folded) live() bool { return r.born.after(r.tomb) }

// value takes note of the values of a change that counts. Every line has been
// folded in before; noting one twice changes nothing.
func (f *fold) value(c *change, at Stamp, seed maphash.Seed) {
	key := c.id.Bytes()
	row := f.rows[key]
	if row == nil || c.buries() || !at.after(f.hidden(key, row)) {
		return
	}
	var sum uint64
	_ = eachField(c.data, func(name, value []byte) bool {
		if !row.wins(name, at) {
			return true
		}
		one := valueSum(seed, at, name, value)
		i := slices.IndexFunc(row.regs, func(g foldedKey) bool { return g.key == string(name) && g.stamp == at })
		if i >= 0 {
			row.regs[i].sum = one
		} else {
			sum += one // of the base: every other line has registers
		}
		return true
	})
	if row.base == at {
		row.baseSum = sum
	}
}

func valueSum(seed maphash.Seed, at Stamp, name, value []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var stamp [stampLen]byte
	h.Write(at.append(stamp[:0]))
	h.Write(name)
	h.WriteByte(0)
	h.Write(value)
	return h.Sum64()
}

// essence is what two folds of the same state agree on about a memory.
type essence struct {
	tomb, born Stamp
	printed    Stamp // of a fingerprint that counts
	print      fingerprint
	lifted     Stamp
	purged     Stamp
	values     uint64
	use        useTotal
}

// prints reports whether the fingerprint of a delete stamped at counts, as far as
// the lines tell.
func (r *folded) prints(at Stamp) bool { return at == r.printed && at.after(r.lifted) }

func (f *fold) essence(key [16]byte) essence {
	e := essence{use: f.use[key]}
	row := f.rows[key]
	if row == nil {
		return e
	}
	e.purged, e.lifted = row.purged, row.lifted
	if row.prints(row.printed) {
		e.print, e.printed = row.print, row.printed
	}
	hidden := f.hidden(key, row)
	if row.tomb.after(f.hide[key]) {
		e.tomb = row.tomb
	}
	if row.born.after(hidden) {
		e.born = row.born
	}
	if row.base.after(hidden) {
		e.values += row.baseSum
	}
	for _, g := range row.regs {
		if g.stamp.after(hidden) {
			e.values += g.sum
		}
	}
	return e
}

func mostUse(a, b useTotal) useTotal {
	a.uses, a.accesses = max(a.uses, b.uses), max(a.accesses, b.accesses)
	a.used, a.accessed = max(a.used, b.used), max(a.accessed, b.accessed)
	return a
}

package compaction

import (
	"bytes"
	"hash/maphash"
	"slices"
	"time"
	"unique"

	"emberd/stm/record"
)

// Fold is what lines add up to, without the values: which line the value of
// every key comes from. It holds no document, so that a log is folded in less
// memory than it is kept in.
type Fold struct {
	dev  record.Device
	hide map[[16]byte]record.Stamp // tombstones of other devices that hide for good
	rows map[[16]byte]*folded
	// nothing is what all memories share about which nothing is rare. It is not changed.
	nothing rare

	first, last uint64       // sequence numbers
	newest      record.Stamp // latest stamp, of headers and seals too
	lost        [][2]uint64
	kept        []record.Kept
	shapes      map[string][]string          // each set of keys once: most memories have the same
	use         map[[16]byte]record.UseTotal // running totals of dev
	useLines    []numbered                   // of the lines they came in
	name        []byte                       // scratch of shape
	// opaque is set by a line about which device knows which memory.
	opaque bool
	count  int          // operations
	floor  record.Stamp // of the headers: see header.Floor
	seen   map[string]uint64
	since  time.Time // likewise
}

// numbered is the place of a line in the order of its device.
type numbered struct {
	seq   uint64
	stamp record.Stamp
}

// folded is one memory: the stamps of a Row, and a sum of its values.
type folded struct {
	base    record.Stamp // of the first put that counted, and of its keys
	keys    []string
	baseSum uint64
	regs    []foldedKey
	born    record.Stamp
	*rare
}

// rare is what few memories have. A log of a million is folded in less than half of the memory if the others share one.
type rare struct {
	tomb     record.Stamp
	tombSeq  uint64             // sequence number of the tombstone
	purged   record.Stamp       // of the latest purge, which stays
	print    record.Fingerprint // the latest fingerprint
	printed  record.Stamp       // when it was made
	lifted   record.Stamp       // when one was lifted last
	archived archivedText       // text that the latest archiving superseded, as its line has it
}

// own returns what is rare about a memory, to be changed.
func (r *folded) own(f *Fold) *rare {
	if r.rare == &f.nothing {
		r.rare = new(rare)
	}
	return r.rare
}

// foldedKey is a register with a hash of the value instead of the value.
type foldedKey struct {
	key   string
	stamp record.Stamp
	sum   uint64
}

func NewFold(dev record.Device, hide map[[16]byte]record.Stamp) *Fold {
	return &Fold{dev: dev, hide: hide, rows: map[[16]byte]*folded{}, shapes: map[string][]string{},
		use: map[[16]byte]record.UseTotal{}}
}

// Add folds one line in. Lines may come in any order and more than once.
func (f *Fold) Add(l *record.Line) error {
	f.number(l)
	f.count++
	if l.Op == record.OpUse {
		f.useLines = append(f.useLines, numbered{l.Seq, l.Stamp})
		return record.DecodeUse(l.Data, f.dev, f.raise)
	}
	f.opaque = f.opaque || l.Extra || record.IsHandKey(l.Key)
	for i := range l.Changes {
		f.change(&l.Changes[i], l)
	}
	for _, id := range l.Lift {
		row := f.row(id.Bytes()).own(f)
		row.lifted = record.Later(row.lifted, l.Stamp)
	}
	return nil
}

func (f *Fold) row(key [16]byte) *folded {
	row := f.rows[key]
	if row == nil {
		row = &folded{rare: &f.nothing}
		f.rows[key] = row
	}
	return row
}

// number takes note of a line's place in the order.
func (f *Fold) number(l *record.Line) {
	f.newest = record.Later(f.newest, l.Stamp)
	if l.Seq == 0 {
		return
	}
	f.last = max(f.last, l.Seq)
	if f.first == 0 || l.Seq < f.first {
		f.first = l.Seq
	}
}

func (f *Fold) raise(key [16]byte, u record.UseTotal) {
	f.use[key] = record.MaxUse(f.use[key], u)
}

func (f *Fold) change(c *record.Change, l *record.Line) {
	key, at := c.ID.Bytes(), l.Stamp
	row := f.row(key)
	if c.Print != nil && at.After(row.printed) {
		row.own(f).print, row.own(f).printed = *c.Print, at
	}
	if c.Op == record.OpPurge {
		row.own(f).purged = record.Later(row.purged, at)
	}
	if c.IsDelete() {
		row.applyDelete(f, at, l.Seq)
		return
	}
	if c.Op == record.OpPut {
		row.born = record.Later(row.born, at)
	}
	if !at.After(row.tomb) {
		return
	}
	row.noteArchived(f, c, at)
	if c.Op == record.OpPut && row.base.IsZero() && len(row.regs) == 0 {
		row.base, row.keys = at, f.shape(c.Data)
		return
	}
	// What cannot be walked was sorted out before.
	_ = record.EachField(c.Data, func(name, _ []byte) bool {
		row.mark(name, at)
		return true
	})
}

// shape returns the keys of an object.
func (f *Fold) shape(obj []byte) []string {
	f.name = f.name[:0]
	_ = record.EachField(obj, func(name, _ []byte) bool {
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

func (r *folded) applyDelete(f *Fold, at record.Stamp, seq uint64) {
	if !at.After(r.tomb) {
		return
	}
	r.own(f).tomb, r.own(f).tombSeq = at, seq
	if !r.base.After(at) {
		r.base, r.keys = record.Stamp{}, nil
	}
	r.regs = slices.DeleteFunc(r.regs, func(g foldedKey) bool { return !g.stamp.After(at) })
}

func (r *folded) mark(name []byte, at record.Stamp) {
	for i := range r.regs {
		if r.regs[i].key == string(name) {
			r.regs[i].stamp = record.Later(r.regs[i].stamp, at)
			return
		}
	}
	r.regs = append(r.regs, foldedKey{key: unique.Make(string(name)).Value(), stamp: at})
}

// wins reports whether the value that a change stamped at has for a key is the
// one that counts.
func (r *folded) wins(name []byte, at record.Stamp) bool {
	for _, g := range r.regs {
		if g.key == string(name) && g.stamp.After(at) {
			return false
		}
	}
	return !r.base.After(at) || !slices.Contains(r.keys, string(name))
}

// hidden is the stamp up to which everything about a memory is deleted.
func (f *Fold) hidden(key [16]byte, row *folded) record.Stamp {
	return record.Later(f.hide[key], row.tomb)
}

// dead reports whether nothing is left of a memory but its tombstone.
func (r *folded) dead() bool {
	return r.purged.IsZero() && !r.tomb.IsZero() && !r.born.After(r.tomb) && r.base.IsZero() && len(r.regs) == 0
}

// fingerprinted reports whether deletes say something about the text, which stays.
func (r *folded) fingerprinted() bool { return !r.printed.IsZero() || !r.lifted.IsZero() }

// live reports whether the lines alone make a live memory.
func (r *folded) live() bool { return r.born.After(r.tomb) }

// value takes note of the values of a change that counts. Every line has been
// folded in before; noting one twice changes nothing.
func (f *Fold) value(c *record.Change, at record.Stamp, seed maphash.Seed) {
	key := c.ID.Bytes()
	row := f.rows[key]
	if row == nil || c.IsDelete() || !at.After(f.hidden(key, row)) {
		return
	}
	var sum uint64
	_ = record.EachField(c.Data, func(name, value []byte) bool {
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

func valueSum(seed maphash.Seed, at record.Stamp, name, value []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var stamp [record.StampLen]byte
	h.Write(at.Append(stamp[:0]))
	h.Write(name)
	h.WriteByte(0)
	h.Write(value)
	return h.Sum64()
}

// memoryDigest is what two folds of the same state agree on about a memory, its use counts aside.
type memoryDigest struct {
	tomb, born record.Stamp
	printed    record.Stamp // of a fingerprint that counts
	print      record.Fingerprint
	lifted     record.Stamp
	purged     record.Stamp
	values     uint64
}

// prints reports whether the fingerprint of a delete stamped at counts, as far as
// the lines tell.
func (r *folded) prints(at record.Stamp) bool { return at == r.printed && at.After(r.lifted) }

func (f *Fold) digest(key [16]byte, row *folded) memoryDigest {
	e := memoryDigest{purged: row.purged, lifted: row.lifted}
	if row.prints(row.printed) {
		e.print, e.printed = row.print, row.printed
	}
	hidden := f.hidden(key, row)
	if row.tomb.After(f.hide[key]) {
		e.tomb = row.tomb
	}
	if row.born.After(hidden) {
		e.born = row.born
	}
	if row.base.After(hidden) {
		e.values += row.baseSum
	}
	for _, g := range row.regs {
		if g.stamp.After(hidden) {
			e.values += g.sum
		}
	}
	return e
}

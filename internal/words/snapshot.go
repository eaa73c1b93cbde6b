package words

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
)

// A snapshot has numbers of 4 bytes, little-endian:
//
//	+----------+---------+------+-------+----------+------------+
//	| emberwrd | version | docs | terms | postings | text bytes |
//	+----------+---------+------+-------+----------+------------+
//	+---------------+-----------------+------------+---------------+----------+-------+
//	| length of     | a bit for each, | end of each| end of each   | postings | terms |
//	| each document | 1 if it is gone | term       | posting list  | + forms  |       |
//	+---------------+-----------------+------------+---------------+----------+-------+
//
// A posting is the number of a document and how often the term occurs in it; a byte of
// forms for each follows all of them. Passages have numbers as documents do, and a length
// tells what is one. With a form of 1, the snapshot of one document "tea tea" is:
//
//	656d626572777264 02000000 01000000 01000000 01000000 03000000
//	02000000 00 03000000 01000000 02000000 01 746561
//
// The format is on disk: these never change. A new layout takes a new version.
const (
	magic      = "emberwrd"
	version    = 2
	headerSize = len(magic) + 5*4
)

// ErrVersion is returned by Read for a snapshot of a format it does not know, and
// for bytes that are no snapshot at all.
var ErrVersion = errors.New("not a word index snapshot of version 2")

var errDamaged = errors.New("word index snapshot is damaged")

// WriteTo writes a snapshot, see [Index.Freeze].
func (x *Index) WriteTo(w io.Writer) (int64, error) { return x.Freeze().WriteTo(w) }

// Frozen is an index as it was at one moment, to be written. It may be shared.
type Frozen struct {
	lists []list // by term
	sizes []size
	dead  []atomic.Uint64
}

// Freeze captures the index. It holds readers and writers off only while it copies
// the table of terms, about a millisecond for 100,000 terms; what happens later is
// not in what Freeze returns.
func (x *Index) Freeze() *Frozen {
	x.mu.RLock()
	f := &Frozen{lists: slices.Clone(x.lists), sizes: x.sizes, dead: grown(x.dead)}
	stale := x.stale
	x.mu.RUnlock()

	if stale > 0 {
		f.lists = liveLists(f.lists, f.dead, f.sizes)
	}
	slices.SortFunc(f.lists, func(a, b list) int { return cmp.Compare(a.term, b.term) })
	return f
}

// counts returns how many postings there are, and bytes of terms.
func (f *Frozen) counts() (postings, text int) {
	for _, l := range f.lists {
		postings += len(l.postings)
		text += len(l.term)
	}
	return postings, text
}

// Size is how many bytes WriteTo writes.
func (f *Frozen) Size() int64 {
	postings, text := f.counts()
	docs := len(f.sizes)
	return int64(headerSize) + 4*int64(docs) + int64(docs+7)/8 + 8*int64(len(f.lists)) + 5*int64(postings) + int64(text)
}

// WriteTo writes a snapshot, which [Read] takes.
func (f *Frozen) WriteTo(w io.Writer) (int64, error) {
	e := encoder{w: w, buf: make([]byte, 0, 1<<16)}
	e.header(f)
	e.documents(f.sizes, f.dead)
	e.lists(f.lists)
	e.flush()
	if e.err != nil {
		return e.n, fmt.Errorf("cannot write the word index snapshot: %w", e.err)
	}
	return e.n, nil
}

// encoder writes in large pieces and remembers the first error.
type encoder struct {
	w   io.Writer
	buf []byte
	n   int64
	err error
}

func (e *encoder) header(f *Frozen) {
	postings, text := f.counts()
	e.text(magic)
	for _, n := range []int{version, len(f.sizes), len(f.lists), postings, text} {
		e.uint32(uint32(n))
	}
}

func (e *encoder) documents(sizes []size, dead []atomic.Uint64) {
	for _, n := range sizes {
		e.uint32(uint32(n))
	}
	for i := range (len(sizes) + 7) / 8 {
		e.byte(byte(dead[i/8].Load() >> (i % 8 * 8)))
	}
}

func (e *encoder) lists(lists []list) {
	end := 0
	for _, l := range lists {
		end += len(l.term)
		e.uint32(uint32(end))
	}
	end = 0
	for _, l := range lists {
		end += len(l.postings)
		e.uint32(uint32(end))
	}
	for _, l := range lists {
		for _, p := range l.postings {
			e.uint32(uint32(p))
		}
	}
	for _, l := range lists {
		for _, forms := range l.forms {
			e.byte(byte(forms))
		}
	}
	for _, l := range lists {
		e.text(l.term)
	}
}

func (e *encoder) uint32(n uint32) {
	e.buf = binary.LittleEndian.AppendUint32(e.buf, n)
	e.flushFull()
}

func (e *encoder) byte(c byte) {
	e.buf = append(e.buf, c)
	e.flushFull()
}

func (e *encoder) text(s string) {
	e.buf = append(e.buf, s...)
	e.flushFull()
}

// flushFull flushes while the next number or an ordinary term still fits.
func (e *encoder) flushFull() {
	if len(e.buf) > cap(e.buf)-256 {
		e.flush()
	}
}

func (e *encoder) flush() {
	if e.err == nil {
		var n int
		n, e.err = e.w.Write(e.buf)
		e.n += int64(n)
	}
	e.buf = e.buf[:0]
}

// Read makes an index from a snapshot, whose bytes it does not keep. Nothing in data
// is trusted: anything but the whole of a snapshot is an error, and no more memory is
// asked for than some ten times the size of data.
func Read(data []byte) (*Index, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, ErrVersion
	}
	d := decoder{data: data[len(magic):]}
	if d.uint32() != version {
		return nil, ErrVersion
	}
	docs, terms, postings, text := d.uint32(), d.uint32(), d.uint32(), d.uint32()
	size := 4*uint64(docs) + (uint64(docs)+7)/8 + 8*uint64(terms) + 5*uint64(postings) + uint64(text)
	if docs > MaxDocs || size != uint64(len(d.data)) {
		return nil, errDamaged
	}
	x := &Index{}
	if !x.readDocuments(&d, int(docs)) || !x.readLists(&d, int(terms), int(postings)) {
		return nil, errDamaged
	}
	return x, nil
}

// decoder takes numbers off the front of data, whose size Read has checked.
type decoder struct{ data []byte }

func (d *decoder) take(n int) []byte {
	taken := d.data[:n]
	d.data = d.data[n:]
	return taken
}

func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }

// uint32s takes n numbers.
func (d *decoder) uint32s(n int) []uint32 {
	numbers := make([]uint32, n)
	for i, raw := 0, d.take(4*n); i < n; i++ {
		numbers[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return numbers
}

// readDocuments reports whether the documents make sense.
func (x *Index) readDocuments(d *decoder, docs int) bool {
	x.sizes = make([]size, docs)
	for i, n := range d.uint32s(docs) {
		x.sizes[i] = size(n)
	}
	x.dead = make([]atomic.Uint64, (docs+63)/64)
	for i, bits := range d.take((docs + 7) / 8) {
		x.dead[i/8].Or(uint64(bits) << (i % 8 * 8))
	}
	if docs%64 != 0 && x.dead[docs/64].Load()>>(docs%64) != 0 {
		return false
	}
	for doc, s := range x.sizes {
		if !isDead(x.dead, Doc(doc)) {
			count(&x.live, s, 1)
		}
	}
	return x.placed()
}

// placed reports whether each passage follows a long document within its window, and
// lives as that does.
func (x *Index) placed() bool {
	alive := false
	for doc, s := range x.sizes {
		dead := isDead(x.dead, Doc(doc))
		switch {
		case s.isPassage() && s.isLong(), s.isPassage() && !dead && !alive:
			return false
		case !s.isPassage():
			alive = s.isLong() && !dead
		}
		if doc%windowSize == windowSize-1 {
			alive = false
		}
	}
	return true
}

// readLists reports whether the lists make sense: terms and postings in ascending
// order, and postings of live documents only.
func (x *Index) readLists(d *decoder, terms, postings int) bool {
	textEnds, ends := d.uint32s(terms), d.uint32s(terms)
	packed, forms := decoder{data: d.take(4 * postings)}, decoder{data: d.take(postings)}
	text := string(d.data) // shared by all terms
	x.terms = newTermTable(terms)
	x.lists = make([]list, terms)
	passages := x.passages()
	var room roomForLists
	textAt, at := uint32(0), uint32(0)
	for i := range terms {
		if textEnds[i] < textAt || int64(textEnds[i]) > int64(len(text)) || ends[i] <= at ||
			int64(ends[i]) > int64(postings) {
			return false
		}
		l := list{term: text[textAt:textEnds[i]]}
		l.postings, l.forms = room.take(int(ends[i]-at), postings-int(at))
		if i > 0 && l.term <= x.lists[i-1].term || !x.readPostings(&packed, &l, passages) {
			return false
		}
		for i, f := range forms.take(len(l.forms)) {
			l.forms[i] = Forms(f)
		}
		x.lists[i] = l
		x.terms.add(x.lists, uint32(i))
		textAt, at = textEnds[i], ends[i]
	}
	return int64(textAt) == int64(len(text)) && int64(at) == int64(postings)
}

// passages returns a bit for each number, 1 for a passage, nil if none is one.
func (x *Index) passages() (bits []uint64) {
	for i, s := range x.sizes {
		if s.isPassage() {
			if bits == nil {
				bits = make([]uint64, (len(x.sizes)+63)/64)
			}
			bits[i/64] |= 1 << (i % 64)
		}
	}
	return bits
}

// roomForLists gives room to lists of an index that is read. Short ones, which are nearly all, have theirs side by
// side: most never grow, and one that does goes to a place of its own.
type roomForLists struct {
	postings []posting
	forms    []Forms
}

const (
	shortList = 1 << 8
	sharedBy  = 1 << 12 // postings, of all lists that are side by side
)

// take returns room for n postings, of so many that are still to come.
func (r *roomForLists) take(n, left int) ([]posting, []Forms) {
	if n > shortList {
		return make([]posting, n), make([]Forms, n)
	}
	if n > len(r.postings) {
		r.postings, r.forms = make([]posting, min(sharedBy, left)), make([]Forms, min(sharedBy, left))
	}
	p, f := r.postings[:n:n], r.forms[:n:n]
	r.postings, r.forms = r.postings[n:], r.forms[n:]
	return p, f
}

// readPostings fills one list and reports whether it makes sense. Passages are those of the index.
func (x *Index) readPostings(d *decoder, l *list, passages []uint64) bool {
	next, dead, docs := Doc(0), x.dead, Doc(len(x.sizes))
	if x.live.Texts == len(x.sizes) { // as after a compaction of an index without long texts
		dead = nil
	}
	raw := d.take(4 * len(l.postings))
	l.docs = len(l.postings)
	for i := range l.postings {
		p := posting(binary.LittleEndian.Uint32(raw[4*i:]))
		doc := p.doc()
		if doc < next || doc >= docs || p.tf() == 0 || dead != nil && isDead(dead, doc) {
			return false
		}
		if passages != nil && passages[doc/64]>>(doc%64)&1 != 0 {
			l.docs--
		}
		l.postings[i] = p
		next = doc + 1
	}
	return true
}

package vectors

import (
	"iter"
	"slices"
	"time"

	"emberd/internal/dot"
)

// slot is what is known of a key. Slots without a vector and without a document are not kept. There is one for each
// chunk, so it is kept small.
type slot struct {
	key   Key
	file  *file // where the vector is, nil without one
	at    int64
	since int64 // when it came to have no document, in nanoseconds since 1970
	row   int32 // in the table, -1 without a vector
	chunk int32
	doc   *placed  // with chunk the first place, nil for none
	more  *[]place // the others, nil for none
}

// placed reports whether there is a place where the chunk occurs.
func (s *slot) placed() bool { return s.doc != nil }

// appendPlaces appends where the chunk occurs.
func (s *slot) appendPlaces(to []place) []place {
	if s.doc == nil {
		return to
	}
	to = append(to, place{s.doc, int(s.chunk)})
	if s.more != nil {
		to = append(to, *s.more...)
	}
	return to
}

// setPlaces replaces the places where the chunk occurs. It keeps no part of the slice.
func (s *slot) setPlaces(all []place) {
	s.doc, s.chunk, s.more = nil, 0, nil
	if len(all) > 0 {
		s.doc, s.chunk = all[0].doc, int32(all[0].chunk)
	}
	if len(all) > 1 {
		s.more = new(slices.Clone(all[1:]))
	}
}

// placed is a document and how many had been placed when it was.
type placed struct {
	Doc
	nth int
}

// place is where a chunk occurs.
type place struct {
	doc   *placed
	chunk int
}

// index is what is in memory. It is guarded by Store.mu.
type index struct {
	table   table
	slots   slots
	docs    map[string]*placed
	placed  int // documents so far
	vectors int // slots with a vector
	idle    int // those of them that no document has
	chunks  int // places
	covered int // places whose slot has a vector
	scratch []int8
	places  []place // for use within one function
	now     func() time.Time
}

func newIndex(rows table, now func() time.Time) index {
	return index{
		table: rows, docs: map[string]*placed{},
		scratch: make([]int8, rows.dim), now: now,
	}
}

// slot returns that of a key, a new one without anything if there is none.
func (x *index) slot(key Key) *slot {
	s := x.slots.get(key)
	if s == nil {
		s = &slot{key: key, row: -1}
		x.slots.add(s)
	}
	return s
}

// learn notes that the vector of a key is in a file. The vector is not kept; one that is not
// finite is passed over. A vector that is known already is from now on looked up there, unless
// that would be in another device's file instead of an own one.
func (x *index) learn(key Key, v []float32, f *file, at int64) {
	if s := x.slots.get(key); s != nil && s.row >= 0 {
		if f.own || !s.file.own {
			s.file, s.at = f, at
		}
		return
	}
	scale, finite := dot.Quantize(x.scratch, v)
	if !finite {
		return
	}
	s := x.slot(key)
	s.row, s.file, s.at, s.since = int32(x.table.add(s, x.scratch, scale)), f, at, x.now().UnixNano()
	x.places = s.appendPlaces(x.places[:0])
	x.table.mark(int(s.row), x.places...)
	x.vectors++
	x.covered += len(x.places)
	if !s.placed() {
		x.idle++
	}
}

// lose forgets the vector of a slot.
func (x *index) lose(s *slot) {
	s.row, s.file = -1, nil
	x.vectors--
	x.places = s.appendPlaces(x.places[:0])
	x.covered -= len(x.places)
	if !s.placed() {
		x.idle--
		x.slots.remove(s.key)
	}
}

// has is the slot of a key whose vector is there, else nil.
func (x *index) has(key Key) *slot {
	if s := x.slots.get(key); s != nil && s.row >= 0 {
		return s
	}
	return nil
}

// appendRows appends the rows of a document's chunks, without scores.
func (x *index) appendRows(to *hits, d *placed) {
	for _, c := range d.Chunks {
		if s := x.has(c.Key); s != nil {
			*to = append(*to, hit{row: s.row})
		}
	}
}

// put makes doc the document of its name.
func (x *index) put(doc Doc) {
	x.remove(doc.Name)
	x.placed++
	d := &placed{doc, x.placed}
	x.docs[d.Name] = d
	for i, c := range d.Chunks {
		s := x.slot(c.Key)
		if s.row >= 0 && !s.placed() {
			x.idle--
		}
		x.places = append(s.appendPlaces(x.places[:0]), place{d, i})
		s.setPlaces(x.places)
		if s.row >= 0 {
			x.table.mark(int(s.row), place{d, i})
		}
		x.count(s, 1)
	}
}

func (x *index) count(s *slot, n int) {
	x.chunks += n
	if s.row >= 0 {
		x.covered += n
	}
}

// remove forgets a document, if there is one of that name.
func (x *index) remove(name string) {
	d := x.docs[name]
	if d == nil {
		return
	}
	delete(x.docs, name)
	for _, c := range d.Chunks {
		s := x.slots.get(c.Key)
		if s == nil || !s.placed() {
			continue // the chunk occurs twice in it
		}
		x.places = s.appendPlaces(x.places[:0])
		had := len(x.places)
		x.places = slices.DeleteFunc(x.places, func(p place) bool { return p.doc == d })
		x.count(s, len(x.places)-had)
		s.setPlaces(x.places)
		if s.placed() {
			continue
		}
		s.since = x.now().UnixNano()
		if s.row < 0 {
			x.slots.remove(c.Key)
			continue
		}
		x.idle++
	}
}

// drop forgets the vectors in own files that no document has had since before.
func (x *index) drop(before time.Time) {
	for _, s := range x.slots.all() {
		if s.useless(before) {
			x.lose(s)
		}
	}
}

// droppable is how many vectors drop would forget.
func (x *index) droppable(before time.Time) (n int) {
	for _, s := range x.slots.all() {
		if s.useless(before) {
			n++
		}
	}
	return n
}

// useless reports whether a slot has a vector in an own file that no document has had since before.
func (s *slot) useless(before time.Time) bool {
	return s.row >= 0 && s.file.own && !s.placed() && s.since <= before.UnixNano()
}

// moved makes rows the table, instead of one that had n rows when rows was made of it.
func (x *index) moved(rows table, n int) {
	for _, s := range x.slots.all() {
		if int(s.row) >= n {
			row, ok := rows.take(&x.table, int(s.row), x.scratch)
			if s.row = int32(row); !ok {
				x.lose(s)
			}
		}
		if s.row >= 0 {
			x.places = s.appendPlaces(x.places[:0])
			rows.mark(int(s.row), x.places...)
		}
	}
	x.table = rows
}

// lacks reports whether a chunk of d has no vector.
func (x *index) lacks(d *placed) bool {
	return slices.ContainsFunc(d.Chunks, func(c Chunk) bool { return x.has(c.Key) == nil })
}

// Has reports whether the vector of a key is there.
func (s *Store) Has(key Key) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index.has(key) != nil
}

// Doc returns the document of a name.
func (s *Store) Doc(name string) (Doc, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d := s.index.docs[name]; d != nil {
		return d.Doc, true
	}
	return Doc{}, false
}

// Docs are all documents, as they were when the iteration began, in no order.
func (s *Store) Docs() iter.Seq[Doc] {
	return s.those(func(*placed) bool { return true })
}

// Missing are the documents of which at least one chunk has no vector, as it was when the
// iteration began, in no order.
func (s *Store) Missing() iter.Seq[Doc] { return s.those(s.index.lacks) }

// those are the documents that want, which is called under the lock, picks.
func (s *Store) those(want func(*placed) bool) iter.Seq[Doc] {
	return func(yield func(Doc) bool) {
		s.mu.RLock()
		var all []*placed
		for _, d := range s.index.docs {
			if want(d) {
				all = append(all, d)
			}
		}
		s.mu.RUnlock()
		for _, d := range all {
			if !yield(d.Doc) {
				return
			}
		}
	}
}

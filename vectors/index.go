package vectors

import (
	"iter"
	"slices"
	"time"

	"emberd/internal/dot"
)

// slot is what is known of a key. Slots without a vector and without a document are not kept.
type slot struct {
	key    Key
	row    int   // in the table, -1 without a vector
	file   *file // where the vector is, nil without one
	at     int64
	places []place // never changed in place: copies are handed out
	since  time.Time
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
	slots   map[Key]*slot
	docs    map[string]*placed
	placed  int // documents so far
	vectors int // slots with a vector
	idle    int // those of them that no document has
	chunks  int // places
	covered int // places whose slot has a vector
	scratch []int8
	now     func() time.Time
}

func newIndex(dim int, now func() time.Time) index {
	return index{
		table: table{dim: dim}, slots: map[Key]*slot{}, docs: map[string]*placed{},
		scratch: make([]int8, dim), now: now,
	}
}

// slot returns that of a key, a new one without anything if there is none.
func (x *index) slot(key Key) *slot {
	s := x.slots[key]
	if s == nil {
		s = &slot{key: key, row: -1}
		x.slots[key] = s
	}
	return s
}

// learn notes that the vector of a key is in a file. The vector is not kept; one that is not
// finite is passed over. A vector that is known already is from now on looked up there, unless
// that would be in another device's file instead of an own one.
func (x *index) learn(key Key, v []float32, f *file, at int64) {
	if s := x.slots[key]; s != nil && s.row >= 0 {
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
	s.row, s.file, s.at, s.since = x.table.add(s, x.scratch, scale), f, at, x.now()
	x.table.mark(s.row, s.places...)
	x.vectors++
	x.covered += len(s.places)
	if len(s.places) == 0 {
		x.idle++
	}
}

// lose forgets the vector of a slot.
func (x *index) lose(s *slot) {
	s.row, s.file = -1, nil
	x.vectors--
	x.covered -= len(s.places)
	if len(s.places) == 0 {
		x.idle--
		delete(x.slots, s.key)
	}
}

// has is the slot of a key whose vector is there, else nil.
func (x *index) has(key Key) *slot {
	if s := x.slots[key]; s != nil && s.row >= 0 {
		return s
	}
	return nil
}

// put makes doc the document of its name.
func (x *index) put(doc Doc) {
	x.remove(doc.Name)
	x.placed++
	d := &placed{doc, x.placed}
	x.docs[d.Name] = d
	for i, c := range d.Chunks {
		s := x.slot(c.Key)
		if s.row >= 0 && len(s.places) == 0 {
			x.idle--
		}
		s.places = append(slices.Clip(s.places), place{d, i})
		if s.row >= 0 {
			x.table.mark(s.row, place{d, i})
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
		s := x.slots[c.Key]
		if s == nil || len(s.places) == 0 {
			continue // the chunk occurs twice in it
		}
		left := slices.DeleteFunc(slices.Clone(s.places), func(p place) bool { return p.doc == d })
		x.count(s, len(left)-len(s.places))
		if s.places = left; len(left) > 0 {
			continue
		}
		s.places, s.since = nil, x.now()
		if s.row < 0 {
			delete(x.slots, c.Key)
			continue
		}
		x.idle++
	}
}

// drop forgets the vectors in own files that no document has had since before.
func (x *index) drop(before time.Time) {
	for _, s := range x.slots {
		if s.useless(before) {
			x.lose(s)
		}
	}
}

// droppable is how many vectors drop would forget.
func (x *index) droppable(before time.Time) (n int) {
	for _, s := range x.slots {
		if s.useless(before) {
			n++
		}
	}
	return n
}

// useless reports whether a slot has a vector in an own file that no document has had since before.
func (s *slot) useless(before time.Time) bool {
	return s.row >= 0 && s.file.own && len(s.places) == 0 && !s.since.After(before)
}

// moved makes rows the table, instead of one that had n rows when rows was made of it.
func (x *index) moved(rows table, n int) {
	for _, s := range x.slots {
		if s.row >= n {
			s.row = rows.add(x.table.row(s.row))
		}
		if s.row >= 0 {
			rows.mark(s.row, s.places...)
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

package vectors

import (
	"context"
	"runtime"
	"sort"
	"sync/atomic"

	"emberd/internal/dot"
	"emberd/internal/durable"
)

// slabRows is how many rows are allocated at once, and scanned between two looks at a context.
const slabRows = 1 << 10

// table is the int8 rows. Rows are only ever added, so that a copy of the struct is a snapshot.
type table struct {
	dim   int
	slabs []*slab
	n     int          // rows
	file  *scratchFile // for the values of full slabs, nil to keep them on the heap
}

// slab is slabRows rows: row i is scale[i] times values[i*dim:(i+1)*dim]. What is in a slot, and
// kinds, is guarded by Store.mu; the pointer stays.
type slab struct {
	values atomic.Pointer[[]int8]
	filed  atomic.Bool // the values are in the file
	scale  [slabRows]float32
	slot   [slabRows]*slot
	kinds  [slabRows]kinds
}

// all returns the values of all rows of a slab. They are good as long as the slab is kept.
func (s *slab) all() []int8 { return *s.values.Load() }

// read calls fn with the values, and returns an error if they cannot be read.
func (s *slab) read(fn func(values []int8)) error {
	defer runtime.KeepAlive(s)
	return durable.Reading(func() { fn(s.all()) })
}

// kinds has a bit for each kind of document that a row is, or was, a chunk of, by the first byte of
// its name. It spares a search that wants one kind a look at all the others.
type kinds uint8

// kindsOf are the kinds that documents may be of whose names begin so.
func kindsOf(prefix string) kinds {
	if prefix == "" {
		return ^kinds(0)
	}
	return 1 << (prefix[0] & 7)
}

// mark notes where the chunk of a row occurs.
func (t *table) mark(row int, places ...place) {
	s := t.slabs[row/slabRows]
	for _, p := range places {
		s.kinds[row%slabRows] |= kindsOf(p.doc.Name)
	}
}

// add appends a row, and returns its number.
func (t *table) add(of *slot, values []int8, scale float32) int {
	i := t.n % slabRows
	if i == 0 {
		s := new(slab)
		s.values.Store(new(make([]int8, slabRows*t.dim)))
		t.slabs = append(t.slabs, s)
	}
	s := t.slabs[len(t.slabs)-1]
	copy(s.all()[i*t.dim:], values)
	s.scale[i], s.slot[i] = scale, of
	t.n++
	return t.n - 1
}

// row returns the slot and the scale that add was given.
func (t *table) row(n int) (of *slot, scale float32) {
	s, i := t.slabs[n/slabRows], n%slabRows
	return s.slot[i], s.scale[i]
}

// take adds a row of another table. It reports false, and adds zeros, if the values cannot be read. room has the size
// of a row.
func (t *table) take(from *table, n int, room []int8) (row int, ok bool) {
	s, i := from.slabs[n/slabRows], n%slabRows
	err := s.read(func(values []int8) { copy(room, values[i*t.dim:]) })
	if err != nil {
		clear(room)
	}
	return t.add(s.slot[i], room, s.scale[i]), err == nil
}

// query is one rounded like a row.
type query struct {
	values []int8
	scale  float32
}

func rounded(q []float32) query {
	values := make([]int8, len(q))
	scale, _ := dot.Quantize(values, q)
	return query{values, scale}
}

// score returns the rounded cosine of a row of a slab to q.
func (s *slab) score(values []int8, i int, q query) float32 {
	dim := len(q.values)
	return float32(dot.Int8(q.values, values[i*dim:(i+1)*dim])) * s.scale[i] * q.scale
}

// scoreOnly sets the scores of rows in the order of their numbers. It leaves out those of slabs that cannot be read,
// and returns the numbers of these.
func (t *table) scoreOnly(q query, rows *hits) (unreadable []int) {
	all := *rows
	*rows = all[:0]
	for len(all) > 0 {
		b := int(all[0].row) / slabRows
		n := sort.Search(len(all), func(i int) bool { return int(all[i].row)/slabRows > b })
		s, in := t.slabs[b], all[:n]
		all = all[n:]
		err := s.read(func(values []int8) {
			for i := range in {
				in[i].score = s.score(values, int(in[i].row)%slabRows, q)
			}
		})
		if err != nil {
			unreadable = append(unreadable, b)
			continue
		}
		*rows = append(*rows, in...)
	}
	return unreadable
}

// scan calls do with the number of each slab and the rounded cosines of its rows to q, which are
// good until do returns. It passes over slabs that cannot be read, and returns their numbers.
func (t *table) scan(ctx context.Context, q query, do func(b int, scores []float32)) (unreadable []int, err error) {
	var scores [slabRows]float32
	for b, s := range t.slabs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		out := scores[:min(slabRows, t.n-b*slabRows)]
		err := s.read(func(values []int8) {
			for i := range out {
				out[i] = s.score(values, i, q)
			}
		})
		if err != nil {
			unreadable = append(unreadable, b)
			continue
		}
		do(b, out)
	}
	return unreadable, nil
}

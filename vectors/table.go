package vectors

import (
	"context"

	"emberd/internal/dot"
)

// slabRows is how many rows are allocated at once, and scanned between two looks at a context.
const slabRows = 1 << 10

// table is the int8 rows. Rows are only ever added, so that a copy of the struct is a snapshot.
type table struct {
	dim   int
	slabs []*slab
	n     int // rows
}

// slab is slabRows rows: row i is scale[i] times values[i*dim:(i+1)*dim]. What is in a slot, and
// kinds, is guarded by Store.mu; the pointer stays.
type slab struct {
	values []int8
	scale  [slabRows]float32
	slot   [slabRows]*slot
	kinds  [slabRows]kinds
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
		t.slabs = append(t.slabs, &slab{values: make([]int8, slabRows*t.dim)})
	}
	s := t.slabs[len(t.slabs)-1]
	copy(s.values[i*t.dim:], values)
	s.scale[i], s.slot[i] = scale, of
	t.n++
	return t.n - 1
}

// row returns what add was given.
func (t *table) row(n int) (of *slot, values []int8, scale float32) {
	s, i := t.slabs[n/slabRows], n%slabRows
	return s.slot[i], s.values[i*t.dim : (i+1)*t.dim], s.scale[i]
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

// scan calls do with the number of each slab and the rounded cosines of its rows to q, which are
// good until do returns.
func (t *table) scan(ctx context.Context, q query, do func(b int, scores []float32)) error {
	var scores [slabRows]float32
	for b, s := range t.slabs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		out := scores[:min(slabRows, t.n-b*slabRows)]
		for i := range out {
			out[i] = float32(dot.Int8(q.values, s.values[i*t.dim:(i+1)*t.dim])) * s.scale[i] * q.scale
		}
		do(b, out)
	}
	return nil
}

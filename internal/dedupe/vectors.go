package dedupe

import (
	"context"
	"math"
	"slices"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/dot"
)

// Vectors compares items by what they mean. Two items that both have a vector are compared
// by these alone, all others by their words.
type Vectors struct {
	// Of is the vector of an item by its place, of length 1, and false for one without. It
	// is asked again for those that are found similar, and may be gone by then.
	Of func(item int) ([]float32, bool)
	// Similarity brings a cosine to the scale of [Options.Threshold]. It never falls.
	Similarity func(cosine float64) float64
}

const (
	// maxInCell is how many of the latest items of one cell are compared with one, and up
	// to how many of one group are one cell, so that each is compared with each.
	maxInCell = 4096
	// cellsOfOne is in how many cells one item is.
	cellsOfOne = 4
	// roundedOff is more than what int8 changes in a cosine.
	roundedOff = 0.02
)

// table is the vectors of the items in int8, to find what is worth reading in full.
type table struct {
	of     *Vectors
	least  float64 // cosine
	row    []int   // by item, -1 without a vector
	cells  []int8
	scales []float64 // by row
	dim    int
}

// newTable takes in the vectors of n items. The error is that of ctx.
func newTable(ctx context.Context, of *Vectors, n int) (*table, error) {
	t := &table{of: of, row: make([]int, n)}
	for i := range t.row {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t.row[i] = -1
		if of == nil {
			continue
		}
		v, ok := of.Of(i)
		if !ok || len(v) == 0 || t.dim != 0 && len(v) != t.dim {
			continue
		}
		if t.add(v) {
			t.dim, t.row[i] = len(v), len(t.scales)-1
		}
	}
	return t, nil
}

// add takes in a vector, unless it has what is not a number.
func (t *table) add(v []float32) bool {
	at := len(t.cells)
	t.cells = append(t.cells, make([]int8, len(v))...)
	scale, finite := dot.Quantize(t.cells[at:], v)
	if !finite {
		t.cells = t.cells[:at]
		return false
	}
	t.scales = append(t.scales, float64(scale))
	return true
}

// both reports whether two items are compared by their vectors.
func (t *table) both(a, b int) bool { return t.row[a] >= 0 && t.row[b] >= 0 }

// about is the cosine of two items, give or take what is rounded off.
func (t *table) about(a, b int) float64 {
	i, j := t.row[a], t.row[b]
	sum := dot.Int8(t.cells[i*t.dim:(i+1)*t.dim], t.cells[j*t.dim:(j+1)*t.dim])
	return float64(sum) * t.scales[i] * t.scales[j]
}

// similarity of two items with vectors.
func (t *table) similarity(a, b int) float64 {
	v, one := t.of.Of(a)
	w, other := t.of.Of(b)
	cosine, err := similarity.Cosine(v, w)
	if !one || !other || err != nil {
		cosine = t.about(a, b) // their texts changed in the meantime
	}
	return t.of.Similarity(cosine)
}

// setLeast looks for the least cosine that stands for a similarity.
func (t *table) setLeast(similarity float64) {
	if t.dim == 0 {
		return
	}
	low, high := -1.0, 1.0
	for range 40 {
		if mid := (low + high) / 2; t.of.Similarity(mid) >= similarity {
			high = mid
		} else {
			low = mid
		}
	}
	t.least = low
}

// near reports whether two items may be similar enough.
func (t *table) near(a, b int) bool { return t.about(a, b) >= t.least-roundedOff }

// cells are where items lie that are near each other by their vectors. Of many items of one
// group some lead, twice the root of their number, evenly chosen by id; each item is
// in the cells of the leaders that it is nearest to, and what shares a cell is compared
// (cluster pruning: Chierichetti, Panconesi, Raghavan, Sozio, Tiberi and Upfal, "Finding
// near neighbors through cluster pruning", PODS 2007). What is near to one another is near
// to the same leaders.
type cells struct {
	*table
	leaders map[string][]int
	within  map[int][]int // by leader, the latest last
}

// newCells chooses leaders among items in the order of their ids.
func newCells(t *table, items []Item, order []int) *cells {
	c := &cells{table: t, leaders: make(map[string][]int), within: make(map[int][]int)}
	groups := make(map[string][]int)
	for _, i := range order {
		if t.row[i] >= 0 {
			groups[items[i].Group] = append(groups[items[i].Group], i)
		}
	}
	for name, group := range groups {
		few := 1
		if len(group) > maxInCell {
			few = 2 * int(math.Sqrt(float64(len(group))))
		}
		for k := range few {
			c.leaders[name] = append(c.leaders[name], group[k*len(group)/few])
		}
	}
	return c
}

// enter calls meet for what is in the cells of an item, and puts it there.
func (c *cells) enter(item int, group string, meet func(other int)) {
	if c.row[item] < 0 {
		return
	}
	for _, leader := range c.nearest(item, c.leaders[group]) {
		in := c.within[leader]
		for _, other := range in {
			meet(other)
		}
		if len(in) == maxInCell {
			in = slices.Delete(in, 0, 1)
		}
		c.within[leader] = append(in, item)
	}
}

// nearest are the few leaders that an item is nearest to.
func (c *cells) nearest(item int, leaders []int) []int {
	if len(leaders) <= 1 {
		return leaders
	}
	best := make([]int, 0, cellsOfOne+1)
	cosines := make([]float64, 0, cellsOfOne+1)
	for _, leader := range leaders {
		near := c.about(item, leader)
		at := 0
		for at < len(cosines) && cosines[at] >= near {
			at++
		}
		if at == cellsOfOne {
			continue
		}
		best, cosines = slices.Insert(best, at, leader), slices.Insert(cosines, at, near)
		best, cosines = best[:min(len(best), cellsOfOne)], cosines[:min(len(cosines), cellsOfOne)]
	}
	return best
}

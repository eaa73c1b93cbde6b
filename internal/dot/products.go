package dot

// Rows are rows of equal length in one slice, with the first elements of two neighbours
// Stride elements apart.
type Rows struct {
	Data   []float32
	N      int // rows
	Len    int // elements in each
	Stride int // at least Len
}

// Row returns row i, which shares its elements.
func (r Rows) Row(i int) []float32 {
	from := i * r.Stride
	return r.Data[from : from+r.Len : from+r.Len]
}

// Products makes element j of row i of dst the inner product of row i of a and row j of b.
// Its bits depend on these two rows alone, not on what else there is in a and b. It panics
// if the shapes do not go together. Rows of b are read for every four of a: have no more
// of them than the second-level cache holds.
func Products(dst, a, b Rows) {
	if dst.N != a.N || dst.Len != b.N || a.Len != b.Len {
		panic("dot: products of rows whose shapes do not go together")
	}
	if a.Len == 0 {
		panic("dot: products of rows of no elements")
	}
	for i := 0; i < a.N; i += tileA {
		var block tile
		for k := range block.a {
			block.a[k] = a.Row(min(i+k, a.N-1))
		}
		for j := 0; j < b.N; j += tileB {
			for k := range block.b {
				block.b[k] = b.Row(min(j+k, b.N-1))
			}
			block.multiply()
			block.store(dst, i, j)
		}
	}
}

// The rows that are multiplied at once, so that each element is read once for three or
// four products. The sums of 4 by 3 pairs, three elements of b and one of a are what
// sixteen registers hold. At an edge, the last row stands in for those beyond it.
const (
	tileA = 4
	tileB = 3
)

type tile struct {
	a   [tileA][]float32
	b   [tileB][]float32
	out [tileB][tileA]float32
}

// plain is multiply without assembly.
func (t *tile) plain() {
	for j, b := range t.b {
		for i, a := range t.a {
			t.out[j][i] = plainFloat32(a, b)
		}
	}
}

// rest adds the products of the elements from k on.
func (t *tile) rest(k int) {
	for j, b := range t.b {
		for i, a := range t.a {
			t.out[j][i] += plainFloat32(a[k:], b[k:])
		}
	}
}

func (t *tile) store(dst Rows, i, j int) {
	n := min(tileB, dst.Len-j)
	for k := range min(tileA, dst.N-i) {
		row := dst.Data[(i+k)*dst.Stride+j:][:n]
		for m := range row {
			row[m] = t.out[m][k]
		}
	}
}

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
// if the shapes do not go together or reach beyond the memory of their slices. Rows of b
// are read for every four of a: have no more of them than the second-level cache holds.
func Products(dst, a, b Rows) {
	if dst.N != a.N || dst.Len != b.N || a.Len != b.Len {
		panic("dot: the shapes of the rows do not match")
	}
	whole := a.Len / lanes * lanes
	if !accelerated || whole == 0 || a.N == 0 || b.N == 0 {
		plainProducts(dst, a, b)
		return
	}
	for i := 0; i < a.N; i += stripA {
		s := strip{stride: b.Stride, n: whole}
		for k := range s.a {
			s.a[k] = &a.Row(min(i+k, a.N-1))[0]
		}
		s.across(dst, b, i)
	}
	if whole < a.Len {
		rest(dst, a, b, whole)
	}
}

// A strip is four rows of a that are multiplied with three of b at a time, so that each
// element is read once for three or four products: the sums of the 4 by 3 pairs, three
// elements of b and one of a are what sixteen registers hold. Where there are not four rows
// left, the last one stands in for those beyond it.
type strip struct {
	a, dst [stripA]*float32
	b      *float32
	stride int // elements from one row of b to the next
	n      int // elements of a row, a multiple of lanes and not 0
	rows   int // of b, a multiple of stripB and not 0
}

const (
	stripA = 4
	stripB = 3
	lanes  = 8
)

// across multiplies with all rows of b. Where their number is no multiple of three, the last
// three are three that were partly there before: computed again, the bits are the same.
func (s *strip) across(dst, b Rows, i int) {
	if b.N < stripB {
		s.narrow(dst, b, i)
		return
	}
	b.Row(b.N - 1) // panics where b reaches beyond its memory
	s.into(dst, i, 0)
	s.b, s.rows = &b.Row(0)[0], b.N/stripB*stripB
	s.multiply()
	if s.rows < b.N {
		s.into(dst, i, b.N-stripB)
		s.b, s.rows = &b.Row(b.N - stripB)[0], stripB
		s.multiply()
	}
}

func (s *strip) into(dst Rows, i, j int) {
	for k := range s.dst {
		s.dst[k] = &dst.Row(min(i+k, dst.N-1))[j]
	}
}

// narrow multiplies with each row of b as if it were three.
func (s *strip) narrow(dst, b Rows, i int) {
	var out [stripA][stripB]float32
	for k := range s.dst {
		s.dst[k] = &out[k][0]
	}
	s.stride, s.rows = 0, stripB
	for j := range b.N {
		s.b = &b.Row(j)[0]
		s.multiply()
		for k := range min(stripA, dst.N-i) {
			dst.Row(i + k)[j] = out[k][0]
		}
	}
}

// rest adds the products of the elements from one on.
func rest(dst, a, b Rows, from int) {
	for i := range a.N {
		row, x := dst.Row(i), a.Row(i)[from:]
		for j := range row {
			row[j] += plainFloat32(x, b.Row(j)[from:])
		}
	}
}

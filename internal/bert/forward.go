package bert

import (
	"context"
	"math"

	"emberd/internal/dot"
)

// scratch is the memory of one forward pass, which the next one uses again. Rows are tokens,
// except in values.
type scratch struct {
	x        dot.Rows // what the layers hand on
	change   dot.Rows // what a part of a layer adds to x
	queries  dot.Rows
	keys     dot.Rows
	values   dot.Rows // a row for each dimension, filled up with zeros
	scores   dot.Rows // of some queries of one head with all keys, filled up as values are
	attended dot.Rows
	inner    dot.Rows // of the feed-forward network
	tile     []float32
}

// forward leaves the vectors of the tokens, which come with those of the ends, in s.x.
func (s *scratch) forward(ctx context.Context, w *weights, tokens []int32) error {
	s.shape(w, len(tokens))
	s.embed(w, tokens)
	for i := range w.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := &w.layers[i]
		s.attend(l, w.heads)
		s.add(l.output.bias, l.attended, w.epsilon)
		s.feed(l)
		s.add(l.down.bias, l.fed, w.epsilon)
	}
	return nil
}

const (
	// lanes is the multiple that rows of scores have the length of: dot is fastest with those.
	lanes = 8
	// atOnce is how many queries are compared with all keys, so that memory and cache do not
	// have to hold the scores of all with all.
	atOnce = 64
)

// shape makes room for n tokens.
func (s *scratch) shape(w *weights, n int) {
	dim, inner, padded := w.token.cols, w.layers[0].up.rows, (n+lanes-1)/lanes*lanes
	resize(&s.x, n, dim)
	resize(&s.change, n, dim)
	resize(&s.queries, n, dim)
	resize(&s.keys, n, dim)
	resize(&s.attended, n, dim)
	resize(&s.inner, n, inner)
	resize(&s.scores, min(n, atOnce), padded)
	resize(&s.values, dim, padded)
	s.tile = grown(s.tile, max(tileBytes/4, dim, inner))
}

func resize(r *dot.Rows, n, length int) {
	*r = dot.Rows{Data: grown(r.Data, n*length), N: n, Len: length, Stride: length}
}

func grown(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// embed looks tokens and places up.
func (s *scratch) embed(w *weights, tokens []int32) {
	for i, id := range tokens {
		x := s.x.Row(i)
		copy(x, w.token.tile(s.tile, int(id), 1).Data)
		add(x, w.place.tile(s.tile, i, 1).Data)
		if w.kinds != nil {
			add(x, w.kinds.tile(s.tile, 0, 1).Data)
		}
		w.norm.apply(x, w.epsilon)
	}
}

// attend sets change to what each token takes over from all.
func (s *scratch) attend(l *layer, heads int) {
	s.multiply(s.queries, s.x, l.query)
	s.multiply(s.keys, s.x, l.key)
	s.transposed(l.value)
	size := s.x.Len / heads
	scale := float32(1 / math.Sqrt(float64(size)))
	for i := range s.queries.Data {
		s.queries.Data[i] *= scale
	}
	for h := range heads {
		for i := 0; i < s.x.N; i += atOnce {
			s.head(h*size, size, i, min(atOnce, s.x.N-i))
		}
	}
	s.products(s.change, s.attended, l.output.matrix)
}

// head computes what n queries take over, from the one numbered first on, in the head that
// has size elements, from the one numbered from on.
func (s *scratch) head(from, size, first, n int) {
	keys := columns(s.keys, from, size)
	shares := rows(s.scores, 0, n)
	scores := columns(shares, 0, keys.N)
	dot.Products(scores, rows(columns(s.queries, from, size), first, n), keys)
	for i := range n {
		row := shares.Row(i)
		for j := keys.N; j < len(row); j++ {
			row[j] = float32(math.Inf(-1))
		}
		dot.Softmax(row)
	}
	dot.Products(rows(columns(s.attended, from, size), first, n), shares, rows(s.values, from, size))
}

// rows are n rows from one on.
func rows(r dot.Rows, from, n int) dot.Rows {
	r.Data, r.N = r.Data[from*r.Stride:], n
	return r
}

// columns are n elements of each row from one on.
func columns(r dot.Rows, from, n int) dot.Rows {
	r.Data, r.Len = r.Data[from:], n
	return r
}

// feed sets change to what the feed-forward network makes of each token.
func (s *scratch) feed(l *layer) {
	s.multiply(s.inner, s.x, l.up)
	dot.GELU(s.inner.Data)
	s.products(s.change, s.inner, l.down.matrix)
}

// multiply is products with the bias.
func (s *scratch) multiply(dst, x dot.Rows, l linear) {
	s.products(dst, x, l.matrix)
	if l.bias == nil {
		return
	}
	for i := range dst.N {
		add(dst.Row(i), l.bias)
	}
}

// products multiplies all tokens with a tile of the matrix at a time.
func (s *scratch) products(dst, x dot.Rows, m *matrix) {
	for from := 0; from < m.rows; from += m.most() {
		n := min(m.most(), m.rows-from)
		dot.Products(columns(dst, from, n), x, m.tile(s.tile, from, n))
	}
}

// transposed sets values, of which each row is a dimension: so the products with scores find
// the elements that belong together side by side.
func (s *scratch) transposed(l linear) {
	n := s.x.N
	for from := 0; from < l.rows; from += l.most() {
		tile := l.tile(s.tile, from, min(l.most(), l.rows-from))
		dot.Products(columns(rows(s.values, from, tile.N), 0, n), tile, s.x)
	}
	for i := range l.rows {
		row := s.values.Row(i)
		clear(row[n:])
		if l.bias == nil {
			continue
		}
		for j := range row[:n] {
			row[j] += l.bias[i]
		}
	}
}

// add adds change and the bias of what made it to x, and brings x to the norm.
func (s *scratch) add(bias []float32, to layerNorm, epsilon float64) {
	for i := range s.x.N {
		x := s.x.Row(i)
		add(x, s.change.Row(i))
		if bias != nil {
			add(x, bias)
		}
		to.apply(x, epsilon)
	}
}

func add(to, v []float32) {
	v = v[:len(to)]
	for i := range to {
		to[i] += v[i]
	}
}

// apply normalises a row (Ba, Kiros and Hinton, "Layer Normalization", 2016). Sums are in
// float64: no element is lost beside a large one.
func (n layerNorm) apply(x []float32, epsilon float64) {
	var sum, square float64
	for _, v := range x {
		sum += float64(v)
	}
	mean := sum / float64(len(x))
	for _, v := range x {
		d := float64(v) - mean
		square += d * d
	}
	scale := 1 / math.Sqrt(square/float64(len(x))+epsilon)
	weight, bias := n.weight[:len(x)], n.bias[:len(x)]
	for i, v := range x {
		x[i] = float32((float64(v)-mean)*scale)*weight[i] + bias[i]
	}
}

package bench

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// learnedWords are word vectors drawn from a collection of texts: words that stand in the same
// passages, or in passages with the same words, have vectors that are near each other. That
// is all the meaning there is in them, far less than a trained model has. They are for
// evaluations, in which generated weights could only do harm.
//
// They are latent semantic analysis (Deerwester and others, 1990), and the same on every
// run. How often words stand in passages becomes positive pointwise mutual information
// (Church and Hanks, 1990). The leading singular vectors of that matrix come from
// orthogonal iteration (Golub and Van Loan, Matrix Computations, 8.2.4), each scaled by the
// root of its value. And a word's vector is the longer the fewer texts hold it, so that a
// mean over a text is one over what is rare in it.
//
// A learnedWords is not changed after [learn] and may be shared.
type learnedWords struct {
	dim     int
	words   []string   // in lower case, the most frequent first
	vectors *wordTable // a row a word, at most of length 1
	letters []rune     // all characters of the texts
}

// What is learned from.
const (
	passage  = 128    // words, half of which are in the next one too
	maxWords = 30_000 // distinct ones; the rarest of more are left out
	rounds   = 3      // of iteration
)

// normal sums the four 16-bit lanes of a mixed state, see the package tinybert.
func normal(z uint64) float64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	sum := 0
	for range 4 {
		sum += int(z & 0xffff)
		z = bits.RotateLeft64(z, -16)
	}
	return float64(sum-131070) * (1 / 37837.2)
}

// learn draws vectors from texts for a model of dim dimensions, 4 or more: two of them
// are needed to let vectors have lengths (see [learnedWords.Model]).
func learn(texts []string, dim int) *learnedWords {
	c := count(texts)
	l := &learnedWords{dim: dim, words: c.words, vectors: leading(c.ppmi(), dim-2), letters: letters(texts)}
	for i := range c.words {
		v := l.vectors.row(i)
		mean := float32(0)
		for _, x := range v {
			mean += x / float32(len(v))
		}
		square := 0.0
		for k := range v {
			v[k] -= mean
			square += float64(v[k]) * float64(v[k])
		}
		scale := float32(c.rarity(i) / math.Sqrt(max(square, 1e-30)))
		for k := range v {
			v[k] *= scale
		}
	}
	return l
}

// counts is what a collection has of words.
type counts struct {
	words []string
	texts [][]int32 // places in words, -1 for others
	df    []int
}

func count(texts []string) *counts {
	parts := make([][]string, len(texts))
	total := map[string]int{}
	for i, t := range texts {
		parts[i] = split(t)
		for _, w := range parts[i] {
			total[w]++
		}
	}
	words := slices.SortedFunc(maps.Keys(total), func(a, b string) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b))
	})
	c := &counts{words: words[:min(maxWords, len(words))]}
	c.df = make([]int, len(c.words))
	place := map[string]int32{}
	for i, w := range c.words {
		place[w] = int32(i)
	}
	last := make([]int, len(c.words)) // text in which a word was last seen, from 1
	for i, t := range parts {
		ids := make([]int32, len(t))
		for k, w := range t {
			id, ok := place[w]
			if !ok {
				id = -1
			} else if last[id] != i+1 {
				last[id] = i + 1
				c.df[id]++
			}
			ids[k] = id
		}
		c.texts = append(c.texts, ids)
	}
	return c
}

// rarity is 1 for a word in one text alone and less the more texts hold it.
func (c *counts) rarity(word int) float64 {
	n := float64(len(c.texts))
	return math.Log(1+n/float64(c.df[word])) / math.Log(1+n)
}

// ppmi is the matrix of positive pointwise mutual information of words, its rows, and
// passages, its columns.
func (c *counts) ppmi() *sparse {
	m := &sparse{rows: make([][]cell, len(c.words))}
	sums, total := make([]float64, len(c.words)), 0.0
	for _, t := range c.texts {
		for start := 0; start == 0 || start+passage/2 < len(t); start += passage / 2 {
			part := slices.Sorted(slices.Values(t[start:min(len(t), start+passage)]))
			for i, w := range part {
				if w < 0 {
					continue
				}
				sums[w]++
				total++
				if row := m.rows[w]; i > 0 && w == part[i-1] {
					row[len(row)-1].value++
				} else {
					m.rows[w] = append(row, cell{int32(m.columns), 1})
				}
			}
			m.columns++
		}
	}
	lengths := make([]float64, m.columns)
	for _, row := range m.rows {
		for _, c := range row {
			lengths[c.column] += float64(c.value)
		}
	}
	for w, row := range m.rows {
		for i, c := range row {
			pmi := math.Log(float64(c.value) * total / (sums[w] * lengths[c.column]))
			row[i].value = float32(max(0, pmi))
		}
	}
	return m
}

// leading returns the k leading left singular vectors as columns, each scaled by the root
// of its value.
func leading(m *sparse, k int) *wordTable {
	q := newTable(len(m.rows), k)
	for i := range q.cells {
		q.cells[i] = float32(normal(uint64(i+1) * 0x9e3779b97f4a7c15))
	}
	values := q.orthonormal()
	for range rounds {
		q = m.times(m.transposed(q))
		values = q.orthonormal()
	}
	for i := range len(m.rows) {
		for j := range k {
			q.row(i)[j] *= float32(math.Pow(values[j], 0.25)) // values are squares of singular ones
		}
	}
	return q
}

// wordTable is a dense matrix by rows.
type wordTable struct {
	columns int
	cells   []float32
}

func newTable(rows, columns int) *wordTable {
	return &wordTable{columns, make([]float32, rows*columns)}
}

func (t *wordTable) row(i int) []float32 { return t.cells[i*t.columns : (i+1)*t.columns] }

// sparse is a matrix by rows.
type sparse struct {
	columns int
	rows    [][]cell
}

type cell struct {
	column int32
	value  float32
}

func (m *sparse) times(t *wordTable) *wordTable {
	out := newTable(len(m.rows), t.columns)
	for i, cells := range m.rows {
		for _, c := range cells {
			axpy(out.row(i), c.value, t.row(int(c.column)))
		}
	}
	return out
}

func (m *sparse) transposed(t *wordTable) *wordTable {
	out := newTable(m.columns, t.columns)
	for i, cells := range m.rows {
		for _, c := range cells {
			axpy(out.row(int(c.column)), c.value, t.row(i))
		}
	}
	return out
}

// axpy adds a times x to y.
func axpy(y []float32, a float32, x []float32) {
	for j := range y {
		y[j] += a * x[j]
	}
}

// orthonormal makes columns unit length and at right angles to those before them (Gram
// and Schmidt, modified), and returns the lengths that they had.
func (t *wordTable) orthonormal() []float64 {
	lengths := make([]float64, t.columns)
	along := make([]float64, t.columns)
	for j := range t.columns {
		// The part of every later column along this one goes, once this one is unit length.
		clear(along)
		for i := 0; i < len(t.cells); i += t.columns {
			row := t.cells[i : i+t.columns]
			for k := j; k < len(row); k++ {
				along[k] += float64(row[j]) * float64(row[k])
			}
		}
		square := max(along[j], 1e-30)
		lengths[j] = math.Sqrt(square)
		for i := 0; i < len(t.cells); i += t.columns {
			row := t.cells[i : i+t.columns]
			for k := j + 1; k < len(row); k++ {
				row[k] -= float32(along[k]/square) * row[j]
			}
			row[j] /= float32(lengths[j])
		}
	}
	return lengths
}

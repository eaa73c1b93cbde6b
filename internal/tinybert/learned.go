package tinybert

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Learned are word vectors drawn from a collection of texts: words that stand among the
// same words have vectors that are near each other. That is all the meaning there is in
// them, far less than a trained model has. They are for evaluations, in which generated
// weights could only do harm.
//
// They are made in three steps, each the same on every run. How often words stand within
// a few places of each other becomes positive pointwise mutual information with smoothed
// contexts (Levy, Goldberg and Dagan, 2015, 3.1 and 3.2). The leading eigenvectors of that
// matrix come from orthogonal iteration (Golub and Van Loan, Matrix Computations, 8.2.4),
// each scaled by the root of its value. And a word's vector is the longer the fewer texts
// hold it, so that a mean over a text is one over what is rare in it.
//
// A Learned is not changed after [Learn] and may be shared.
type Learned struct {
	dim     int
	words   []string // in lower case, the most frequent first
	vectors *table   // a row a word, at most of length 1
	letters []rune   // all characters of the texts
}

// What is learned from.
const (
	window    = 16     // places to either side
	mostWords = 30_000 // distinct ones; the rarest of more are left out
	rounds    = 3      // of iteration
	smoothing = 0.75   // exponent of contexts' counts
)

// Learn draws vectors from texts for a model of dim dimensions, 4 or more: two of them
// are needed to let vectors have lengths (see [Learned.Model]).
func Learn(texts []string, dim int) *Learned {
	c := count(texts)
	l := &Learned{dim: dim, words: c.words, vectors: leading(c.ppmi(), dim-2), letters: letters(texts)}
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
	c := &counts{words: words[:min(mostWords, len(words))]}
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

// sparse is a symmetric matrix by rows.
type sparse [][]cell

type cell struct {
	column int32
	value  float32
}

// pair is how often two words stand near each other; a is before b in the list of words.
type pair struct {
	a, b int32
	n    float64
}

// pairs are those of each text's windows, in order.
func (c *counts) pairs() []pair {
	var all []uint64
	for _, t := range c.texts {
		for i, a := range t {
			for _, b := range t[i+1 : min(len(t), i+1+window)] {
				if a >= 0 && b >= 0 && a != b {
					all = append(all, uint64(min(a, b))<<32|uint64(max(a, b)))
				}
			}
		}
	}
	slices.Sort(all)
	var pairs []pair
	for i, key := range all {
		if i == 0 || key != all[i-1] {
			pairs = append(pairs, pair{a: int32(key >> 32), b: int32(uint32(key))})
		}
		pairs[len(pairs)-1].n++
	}
	return pairs
}

// ppmi is the matrix of positive pointwise mutual information. Contexts are smoothed on
// either side in turn and the mean is taken, so that it stays symmetric.
func (c *counts) ppmi() sparse {
	pairs := c.pairs()
	sums, smooth := make([]float64, len(c.words)), make([]float64, len(c.words))
	for _, p := range pairs {
		sums[p.a] += p.n
		sums[p.b] += p.n
	}
	total := 0.0
	for i, s := range sums {
		smooth[i] = math.Sqrt(s * math.Pow(s, smoothing))
		total += math.Pow(s, smoothing)
	}
	m := make(sparse, len(c.words))
	for _, p := range pairs {
		if pmi := math.Log(p.n * total / (smooth[p.a] * smooth[p.b])); pmi > 0 {
			m[p.a] = append(m[p.a], cell{p.b, float32(pmi)})
			m[p.b] = append(m[p.b], cell{p.a, float32(pmi)})
		}
	}
	return m
}

// leading returns the k leading eigenvectors as columns, each scaled by the root of its
// value.
func leading(m sparse, k int) *table {
	q := newTable(len(m), k)
	for i := range q.cells {
		q.cells[i] = float32(normal(uint64(i+1) * 0x9e3779b97f4a7c15))
	}
	values := q.orthonormal()
	for range rounds {
		q = m.times(q)
		values = q.orthonormal()
	}
	for i := range len(m) {
		for j, x := range q.row(i) {
			q.row(i)[j] = x * float32(math.Sqrt(values[j]))
		}
	}
	return q
}

// table is a dense matrix by rows.
type table struct {
	columns int
	cells   []float32
}

func newTable(rows, columns int) *table {
	return &table{columns, make([]float32, rows*columns)}
}

func (t *table) row(i int) []float32 { return t.cells[i*t.columns : (i+1)*t.columns] }

func (m sparse) times(t *table) *table {
	out := newTable(len(m), t.columns)
	for i, cells := range m {
		row := out.row(i)
		for _, c := range cells {
			for j, x := range t.row(int(c.column)) {
				row[j] += c.value * x
			}
		}
	}
	return out
}

// orthonormal makes columns unit length and at right angles to those before them (Gram
// and Schmidt, modified), and returns the lengths that they had.
func (t *table) orthonormal() []float64 {
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

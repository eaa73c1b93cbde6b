package dedupe

import (
	"cmp"
	"context"
	"slices"

	"emberd/internal/dedupe/similarity"
)

// maxPostings is how many texts one term leads to: the latest that have it among their
// rarest. A store of one text a million times is so still done in time.
const maxPostings = 200

// maxPairs is how many pairs are told, the most similar ones: some 25 MB, where one text
// that is there a million times makes 200 million.
const maxPairs = 250_000

// pairs finds the pairs that are at least so similar, most similar first.
func (s *comparer) pairs(ctx context.Context, threshold float64) ([]Pair, error) {
	order := make([]int, len(s.items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.items[a].ID, s.items[b].ID) })
	s.table.setLeast(threshold)
	const rounded = 1e-5 // as similarities are
	m := pairFinder{comparer: s, threshold: threshold, least: similarity.CosineFor(threshold) - rounded,
		postings: make([]postings, s.corpus.Terms()), cells: newCells(s.table, s.items, order),
		met: make([]int, len(s.items))}
	for n, i := range order {
		if err := s.step(ctx, len(s.items)+n); err != nil {
			return nil, err
		}
		m.byWords(i)
		m.cells.enter(i, s.items[i].Group, func(j int) { m.meet(j, i) })
	}
	return s.best(m.found), nil
}

// A pairFinder compares each item with those before it by id that it may be similar to.
type pairFinder struct {
	*comparer
	threshold float64
	least     float64    // cosine of words
	postings  []postings // by term
	cells     *cells
	met       []int // by item, for whom it was compared last, plus one
	found     []Pair
}

// A posting is an item that has a term among its rarest. Rest is the square of the length of
// that term and those that are less rare.
type posting struct {
	item int
	rest float64
}

// postings are those of one term, the latest last.
type postings struct {
	latest []posting
	more   bool // there were, which are forgotten
}

// byWords meets those that share one of the rarest terms. If no rarer one was forgotten, the
// first that two share is the rarest, so that their cosine is at most the product of the
// lengths of what both have left from there (Anastasiu and Karypis, "L2AP: Fast cosine
// similarity search with prefix L-2 norm bounds", 2014).
func (m *pairFinder) byWords(i int) {
	rest, first := 1.0, true
	for _, w := range m.rarest(m.weights[i], m.least) {
		in := &m.postings[w.Term]
		for _, h := range in.latest {
			if !first || rest*h.rest >= m.least*m.least || m.table.both(h.item, i) {
				m.meet(h.item, i)
			}
		}
		if len(in.latest) == maxPostings {
			in.latest, in.more = slices.Delete(in.latest, 0, 1), true
		}
		in.latest = append(in.latest, posting{i, rest})
		first = first && !in.more
		rest -= float64(w.Value) * float64(w.Value)
	}
}

// meet compares two items, unless they were.
func (m *pairFinder) meet(j, i int) {
	if m.met[j] == i+1 || m.groups[j] != m.groups[i] {
		return
	}
	m.met[j] = i + 1
	if m.among != nil && !m.among(i) && !m.among(j) {
		return
	}
	vectors := m.table.both(j, i)
	if vectors && !m.table.near(j, i) {
		return
	}
	p := Pair{A: j, B: i, Similarity: m.similarity(j, i), ByVectors: vectors}
	if p.Similarity < m.threshold {
		return
	}
	if m.found = append(m.found, p); len(m.found) == 2*m.most {
		m.found = m.best(m.found)
	}
}

// best sorts pairs, most similar first, and leaves out what is beyond the bound.
func (s *comparer) best(pairs []Pair) []Pair {
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(s.items[a.A].ID, s.items[b.A].ID),
			cmp.Compare(s.items[a.B].ID, s.items[b.B].ID))
	})
	return pairs[:min(len(pairs), s.most)]
}

// rarest are so many of a text's terms, the rarest, that what is left could not make it
// as similar to another as asked: the length of the rest is below the threshold. Of what
// two such texts share the rarest term is then among the rarest of both.
func (s *comparer) rarest(v similarity.Vector, minimum float64) similarity.Vector {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b similarity.Weight) int { return s.corpus.Rarer(a.Term, b.Term) })
	rest := 1.0
	for i, w := range v {
		if rest < minimum*minimum {
			return v[:i]
		}
		rest -= float64(w.Value) * float64(w.Value)
	}
	return v
}

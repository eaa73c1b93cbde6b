package cluster

import (
	"cmp"
	"context"
	"slices"

	"emberd/internal/similarity"
)

// latestHolders is how many texts one term leads to: the latest that have it among their
// rarest. A store of one text a million times is so still done in time.
const latestHolders = 200

// mostPairs is how many pairs are told, the most similar ones: some 25 MB, where one text
// that is there a million times makes 200 million.
const mostPairs = 250_000

// pairs finds the pairs that are at least so similar, most similar first.
func (s *space) pairs(ctx context.Context, threshold float64) ([]Pair, error) {
	order := make([]int, len(s.items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.items[a].ID, s.items[b].ID) })
	s.table.setLeast(threshold)
	m := meeting{space: s, threshold: threshold, least: similarity.CosineFor(threshold) - 1e-5, // similarities are rounded
		holders: make([][]int, s.corpus.Terms()), cells: newCells(s.table, s.items, order), met: make([]int, len(s.items))}
	for n, i := range order {
		if err := s.step(ctx, len(s.items)+n); err != nil {
			return nil, err
		}
		m.byWords(i)
		m.cells.enter(i, s.items[i].Group, func(j int) { m.meet(j, i) })
	}
	return s.best(m.found), nil
}

// meeting compares each item with those before it by id that it may be similar to.
type meeting struct {
	*space
	threshold float64
	least     float64 // cosine of words
	holders   [][]int // by term, who has it among its rarest, latest last
	cells     *cells
	met       []int // by item, for whom it was compared last, plus one
	found     []Pair
}

// byWords meets those that share one of the rarest terms.
func (m *meeting) byWords(i int) {
	for _, w := range m.rarest(m.weights[i], m.least) {
		for _, j := range m.holders[w.Term] {
			m.meet(j, i)
		}
		if len(m.holders[w.Term]) == latestHolders {
			m.holders[w.Term] = slices.Delete(m.holders[w.Term], 0, 1)
		}
		m.holders[w.Term] = append(m.holders[w.Term], i)
	}
}

// meet compares two items, unless they were.
func (m *meeting) meet(j, i int) {
	if m.met[j] == i+1 || m.items[j].Group != m.items[i].Group {
		return
	}
	m.met[j] = i + 1
	vectors := m.table.both(j, i)
	if vectors && !m.table.near(j, i) {
		return
	}
	p := Pair{A: j, B: i, Similarity: m.similarity(j, i), ByVectors: vectors}
	if p.Similarity < m.threshold {
		return
	}
	p.Why = m.differ(j, i)
	if m.found = append(m.found, p); len(m.found) == 2*m.most {
		m.found = m.best(m.found)
	}
}

// best sorts pairs, most similar first, and leaves out what is beyond the bound.
func (s *space) best(pairs []Pair) []Pair {
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(s.items[a.A].ID, s.items[b.A].ID), cmp.Compare(s.items[a.B].ID, s.items[b.B].ID))
	})
	few := pairs[:min(len(pairs), s.most)]
	clear(pairs[len(few):]) // they hold words
	return few
}

// rarest are so many of a text's terms, the rarest, that what is left could not make it
// as similar to another as asked: the length of the rest is below the threshold. Of what
// two such texts share the rarest term is then among the rarest of both.
func (s *space) rarest(v similarity.Vector, least float64) similarity.Vector {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b similarity.Weight) int { return s.corpus.Rarer(a.Term, b.Term) })
	rest := 1.0
	for i, w := range v {
		if rest < least*least {
			return v[:i]
		}
		rest -= float64(w.Value) * float64(w.Value)
	}
	return v
}

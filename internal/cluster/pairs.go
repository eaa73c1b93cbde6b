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
	least := similarity.CosineFor(threshold) - 1e-5 // similarities are rounded
	order := make([]int, len(s.items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.items[a].ID, s.items[b].ID) })
	holders := make([][]int, s.corpus.Terms()) // by term, who has it among its rarest, latest last
	met := make([]int, len(s.items))           // by item, for whom it was compared last, plus one
	var out []Pair
	for n, i := range order {
		if err := s.step(ctx, len(s.items)+n); err != nil {
			return nil, err
		}
		for _, w := range s.rarest(s.vectors[i], least) {
			for _, j := range holders[w.Term] {
				if met[j] == i+1 || s.items[j].Group != s.items[i].Group {
					continue
				}
				met[j] = i + 1
				if p := (Pair{A: j, B: i, Similarity: s.similarity(i, j)}); p.Similarity >= threshold {
					p.Why = s.differ(j, i)
					if out = append(out, p); len(out) == 2*s.most {
						out = s.best(out)
					}
				}
			}
			if len(holders[w.Term]) == latestHolders {
				holders[w.Term] = slices.Delete(holders[w.Term], 0, 1)
			}
			holders[w.Term] = append(holders[w.Term], i)
		}
	}
	return s.best(out), nil
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

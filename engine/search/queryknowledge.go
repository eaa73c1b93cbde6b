package search

import (
	"context"
	"slices"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// Shares returns a function from a name to its relevance: the share of the query's weight that the
// name matches, on the scale of hits.
func (a *SearchRun) Shares(ctx context.Context) (func(name string) float64, error) {
	c, err := a.E.DocFrequencies(ctx, a.Q)
	if err != nil {
		return nil, memory.Errorf(memory.Internal, "cannot search the note index: %w", err)
	}
	asked := a.WeightOf(c)
	return func(name string) float64 {
		if asked == 0 {
			return 0
		}
		var held []op.TermExplain
		for _, t := range core.Distinct(a.E.Text.Terms(name)) {
			if i, ok := slices.BinarySearch(a.Q.Terms, t); ok {
				held = append(held, op.TermExplain{Term: t, IDF: c.idf(a.Q, i)})
			}
		}
		return Relevance(min(1, a.matched(held)/asked))
	}, nil
}

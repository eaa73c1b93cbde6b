package engine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"emberd/internal/cluster"
	"emberd/internal/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// sameText is the least similarity of what S1 calls duplicates.
const sameText = 0.95

// whole takes the memories of a collection whose text is all there and that count. Those
// that a clustering leaves out are only ever told in pairs.
func (s healthScope) whole() *gathering {
	g := new(gathering)
	for r := range s.e.stm.Rows() {
		if !s.has(r) || !wholly(r) || s.e.superseded(r) {
			continue
		}
		g.rows = append(g.rows, r)
		g.items = append(g.items, cluster.Item{ID: r.ID(), Group: r.Collection() + "\x00" + r.Project(), Text: r.Content(), Alone: r.Core() || r.Promoted()})
	}
	return g
}

// wholly reports whether what the log has of a memory is all of its text.
func wholly(r *stm.Row) bool { return !r.Stage().Cold() && !r.Has("text_digest") }

// healthDuplicates lists pairs of memories that say nearly the same, the most similar first.
func (e *Engine) healthDuplicates(ctx context.Context, req *op.HealthDuplicatesRequest) (*op.HealthDuplicatesResult, error) {
	threshold, limit := valueOr(req.SimilarityThreshold, sameText), cmp.Or(req.Limit, healthListed)
	s, err := e.scopeOf(req.Collection, memory.DefaultCollection)
	if err == nil {
		err = firstError(
			memory.CheckRange("similarity_threshold", threshold, 0, 1),
			memory.CheckRange("limit", float64(limit), 1, mostListedIDs),
			memory.CheckRange("sample_size", float64(req.SampleSize), 0, math.MaxInt32),
		)
	}
	if err != nil {
		return nil, err
	}
	g := s.whole()
	opt := cluster.Options{Threshold: max(threshold, leastCompared), Vectors: e.clusterVectors(ctx, g), Told: limit}
	checked := len(g.rows)
	if req.SampleSize > 0 && req.SampleSize < checked {
		checked, opt.Among = req.SampleSize, g.latest(req.SampleSize)
	}
	pairs, err := cluster.Pairs(ctx, e.text, g.items, opt, telling(ctx))
	if err != nil {
		return nil, err
	}
	res := &op.HealthDuplicatesResult{DuplicatePairs: []op.DuplicatePair{}, TotalChecked: checked, Found: len(pairs), Threshold: threshold}
	vectors := false
	for _, p := range pairs[:min(limit, len(pairs))] {
		res.DuplicatePairs = append(res.DuplicatePairs, g.duplicate(p))
		vectors = vectors || p.ByVectors
	}
	res.DuplicatesFound, res.Compared = len(res.DuplicatePairs), byVectors(vectors)
	return res, s.known(len(g.rows))
}

// leastCompared keeps a threshold of 0 from meaning every pair there is.
const leastCompared = 0.05

// latest tells which items are among the n that were made last.
func (g *gathering) latest(n int) func(item int) bool {
	order := make([]int, len(g.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(g.rows[b].CreatedAt().Compare(g.rows[a].CreatedAt()), g.rows[b].CompareID(g.rows[a]))
	})
	in := make([]bool, len(g.rows))
	for _, i := range order[:n] {
		in[i] = true
	}
	return func(item int) bool { return in[item] }
}

func (g *gathering) duplicate(p cluster.Pair) op.DuplicatePair {
	short := func(i int) string { return similarity.Truncate(g.items[i].Text, duplicateText) }
	return op.DuplicatePair{ID1: g.items[p.A].ID, ID2: g.items[p.B].ID, Similarity: math.Round(p.Similarity*1e4) / 1e4,
		Text1: short(p.A), Text2: short(p.B), Why: p.Why}
}

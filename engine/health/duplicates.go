package health

import (
	"cmp"
	"context"
	"math"

	"emberd/engine/core"
	"emberd/engine/merge"
	"emberd/internal/dedupe"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// sameText is the minimum similarity of duplicates in S1.
const sameText = 0.95

// wholeMemories returns the memories of a collection with their whole text in the log, without
// superseded ones. Those that a clustering leaves out are reported in pairs only.
func (s healthScope) wholeMemories() *merge.ClusterInput {
	g := new(merge.ClusterInput)
	for r := range s.e.Stm.Rows() {
		if !s.has(r) || !hasWholeText(r) || s.e.Superseded(r) {
			continue
		}
		g.Rows = append(g.Rows, r)
		g.Items = append(g.Items, dedupe.Item{ID: r.ID(), Group: r.Collection() + "\x00" + r.Project(),
			Text: r.Content(), Alone: r.Core() || r.Promoted()})
	}
	return g
}

// hasWholeText reports whether the log has the whole text of a memory.
func hasWholeText(r *stm.Row) bool { return !r.Stage().Cold() && !r.Has("text_digest") }

// HealthDuplicates returns pairs of near-duplicates, the most similar first.
func (e *Health) HealthDuplicates(ctx context.Context,
	req *op.HealthDuplicatesRequest) (*op.HealthDuplicatesResult, error) {
	threshold, limit := core.ValueOr(req.SimilarityThreshold, sameText), cmp.Or(req.Limit, healthListed)
	s, err := e.scopeOf(req.Collection, memory.DefaultCollection)
	if err == nil {
		err = core.FirstError(
			memory.CheckRange("similarity_threshold", threshold, 0, 1),
			memory.CheckRange("limit", float64(limit), 1, maxListedIDs),
			memory.CheckRange("sample_size", float64(req.SampleSize), 0, math.MaxInt32),
		)
	}
	if err != nil {
		return nil, err
	}
	g := s.wholeMemories()
	opt := dedupe.Options{Threshold: max(threshold, minCompared), Vectors: e.Merge.ClusterVectors(ctx, g), Told: limit}
	checked := len(g.Rows)
	if req.SampleSize > 0 && req.SampleSize < checked {
		checked, opt.Among = req.SampleSize, g.Latest(req.SampleSize)
	}
	pairs, err := dedupe.Pairs(ctx, e.Text, g.Items, opt, merge.ClusterProgress(ctx))
	if err != nil {
		return nil, err
	}
	res := &op.HealthDuplicatesResult{DuplicatePairs: []op.DuplicatePair{}, TotalChecked: checked, Found: len(pairs),
		Threshold: threshold}
	e.Opt.Logger.Info("searched for duplicates", "collection", s.name, "found", len(pairs))
	vectors := false
	for _, p := range pairs[:min(limit, len(pairs))] {
		res.DuplicatePairs = append(res.DuplicatePairs, g.Duplicate(p))
		vectors = vectors || p.ByVectors
	}
	res.DuplicatesFound, res.Compared = len(res.DuplicatePairs), core.ByVectors(vectors)
	return res, s.checkExists(len(g.Rows))
}

// minCompared prevents that a threshold of 0 selects all pairs.
const minCompared = 0.05

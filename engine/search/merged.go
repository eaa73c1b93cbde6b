package search

import (
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// replaceMerged replaces merged parts by the merged memory, once. A part that has its text again
// stays: after an undo on one of two devices it may still have the other's ID. A search that
// filters by stage, or of the archive, is not changed.
func (a *SearchRun) replaceMerged(hits []op.Hit) ([]op.Hit, error) {
	if a.Q.Archive || len(a.Q.Filter.Stages) > 0 || a.Q.only.id != "" {
		return hits, nil
	}
	out := hits[:0:0]
	there := make(map[memory.ID]bool)
	for _, h := range hits {
		there[h.ID] = true
	}
	for _, h := range hits {
		into := core.MergedInto(a.Q.set.Get, h.ConsolidatedInto)
		if into == nil || !h.Stage.Cold() || !a.Q.Filter.Accepts(into) {
			out = append(out, h)
			continue
		}
		if there[into.ID()] {
			a.Res.Total--
			continue
		}
		there[into.ID()] = true
		view, err := a.E.ListedIn(a.Q.set, into, a.Now)
		if err != nil {
			return nil, err
		}
		x := a.E.weigh(h.Explain.Relevance, into, a.Now, a.Q)
		x.Coarse, x.Terms = h.Explain.Coarse, h.Explain.Terms
		x.Meaning, x.Date = h.Explain.Meaning, h.Explain.Date
		out = append(out, op.Hit{Tier: op.TierMemory, Memory: &view, Rank: Rank(x), Explain: &x})
	}
	return out, nil
}

package search

import (
	"slices"

	"emberd/decay"
	"emberd/engine/core"
	"emberd/op"
	"emberd/stm"
)

// reviewPriority is how close to the middle of the danger zone a memory must be to be added to
// an answer, from 0 at its edges to 1.
const reviewPriority = 0.3

// canAddFading reports whether the search may add memories that are about to fade.
func (a *SearchRun) canAddFading() bool {
	return a.E.Opt.ReviewRatio > 0 && a.Q.stm > 0 && ValueOrTrue(a.Req.IncludeReview) && a.Req.Offset == 0 &&
		a.Q.memories && !a.Q.Archive && len(a.Q.Terms) > 0 && !a.relaxed && len(a.Q.corrected) == 0 && a.Present
}

// fadingMatches selects matching warm memories in the danger zone. The limit leaves enough of them
// besides those that the answer has anyway.
func (a *SearchRun) fadingMatches() stm.Beside {
	// Most matches were used too recently, which is faster to check than the score.
	young, _ := a.E.Opt.Decay.TimeUntil(1, a.E.Opt.Review.Max, 0)
	since := a.Now.Add(-young)
	return stm.Beside{Limit: 2 * a.Limit, OfLast: 1 / a.Q.stm, Accept: func(r *stm.Row) bool {
		return !core.Cold(r) && !(r.Strength() >= 1 && r.LastUsed().After(since)) &&
			a.E.Opt.Review.Priority(a.E.Score(r, a.Now)) >= reviewPriority && !a.E.Superseded(r)
	}}
}

// addFading replaces the last hits by matching memories that are about to fade. An answer with
// all matches has them anyway.
//
// Each must be as relevant as the hit that it replaces, without decay and stage. With less,
// down to half, answers get measurably worse: a reminder has the third place, whatever the
// last hit is worth.
func (a *SearchRun) addFading(hits []op.Hit) ([]op.Hit, error) {
	if len(a.due) == 0 || a.Res.Total <= len(hits) {
		return hits, nil
	}
	due, err := a.memoryHits(a.due)
	if err != nil {
		return nil, err
	}
	shown := make(map[string]bool)
	for _, h := range hits {
		shown[keyOf(h)] = true
	}
	due = slices.DeleteFunc(due, func(h op.Hit) bool { return shown[keyOf(h)] })
	for i := range due {
		due[i].Rank, due[i].Review = Rank(*due[i].Explain), true
		if at := 2*i + 2; at >= len(hits) || Worth(due[i]) < Worth(hits[at]) {
			due = due[:i]
			break
		}
	}
	return decay.Blend(hits, due, keyOf, a.E.Opt.ReviewRatio), nil
}

// Worth returns the rank of a hit without fading.
func Worth(h op.Hit) float64 { return h.Explain.Relevance * h.Explain.Tier }

// keyOf returns the identity of a hit. A memory and its notes have the same.
func keyOf(h op.Hit) string {
	if id := MemoryOf(&h); id != "" {
		return string(id)
	}
	return h.Note.Path
}

package engine

import (
	"math"
	"slices"

	"emberd/decay"
	"emberd/op"
	"emberd/stm"
)

// What a memory needs to be mixed into an answer: how near the middle of the danger zone
// it is, and how relevant beside the least relevant hit that makes room.
const (
	reviewPriority = 0.3
	reviewShare    = 0.5
)

// mayRemind reports whether the search may show what is about to fade.
func (a *asking) mayRemind() bool {
	return a.e.opt.ReviewRatio > 0 && a.e.opt.STMWeight > 0 && valueOrTrue(a.req.IncludeReview) &&
		a.q.memories && !a.q.archive && len(a.q.terms) > 0 && !a.loose
}

// besideDue lists the warm memories of the danger zone that match, enough to fill their
// places beside those that are shown anyway.
func (a *asking) besideDue() stm.Beside {
	return stm.Beside{Limit: 2 * a.limit, OfLast: reviewShare / a.e.opt.STMWeight, Accept: func(r *stm.Row) bool {
		return !cold(r) && a.e.opt.Review.Priority(a.e.score(r, a.now)) >= reviewPriority
	}}
}

// remind mixes memories that match and are about to fade into the hits, in the place of
// the last ones. An answer that shows all that matches shows them anyway.
func (a *asking) remind(hits []op.Hit) ([]op.Hit, error) {
	places := int(float64(len(hits))*a.e.opt.ReviewRatio + 1e-9)
	if places == 0 || len(a.due) == 0 || a.res.Total <= len(hits) {
		return hits, nil
	}
	least := math.Inf(1)
	for _, h := range hits[len(hits)-places:] {
		least = min(least, reviewShare*h.Explain.Relevance*h.Explain.Tier/a.e.opt.STMWeight)
	}
	due, err := a.memoryHits(slices.DeleteFunc(a.due, func(m stm.Match) bool { return m.Relevance < least }))
	if err != nil {
		return nil, err
	}
	for i := range due {
		due[i].Rank, due[i].Review = rank(*due[i].Explain), true
	}
	return decay.Blend(hits, due, keyOf, a.e.opt.ReviewRatio), nil
}

// keyOf tells hits apart. A memory and its notes are one.
func keyOf(h op.Hit) string {
	if id := memoryOf(&h); id != "" {
		return string(id)
	}
	return h.Note.Path
}

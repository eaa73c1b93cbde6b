package engine

import (
	"math"

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

// remind mixes memories that match and are about to fade into the hits, in the place of
// the last ones. An answer that shows all that matches shows them anyway.
func (a *asking) remind(c corpus, hits []op.Hit) ([]op.Hit, error) {
	places := int(float64(len(hits))*a.e.opt.ReviewRatio + 1e-9)
	if places == 0 || a.res.Total <= len(hits) || !valueOrTrue(a.req.IncludeReview) ||
		!a.q.memories || a.q.archive || len(a.q.terms) == 0 || a.loose || a.e.opt.STMWeight == 0 {
		return hits, nil
	}
	due, err := a.fading(c, hits, places)
	if err != nil {
		return nil, err
	}
	return decay.Blend(hits, due, keyOf, a.e.opt.ReviewRatio), nil
}

// fading returns warm memories of the danger zone that match, the most relevant first:
// enough to fill places beside those that are among the hits.
func (a *asking) fading(c corpus, hits []op.Hit, places int) ([]op.Hit, error) {
	q := a.e.stmQuery(a.q, c, places+len(hits), a.req.Explain, a.now)
	q.Accept = only(q.Accept, func(r *stm.Row) bool {
		return !cold(r) && a.e.opt.Review.Priority(a.e.score(r, a.now)) >= reviewPriority
	})
	q.Rank, q.Most = nil, 0
	q.Least = math.Inf(1)
	for _, h := range hits[len(hits)-places:] {
		q.Least = min(q.Least, reviewShare*h.Explain.Relevance*h.Explain.Tier/a.e.opt.STMWeight)
	}
	due, err := a.memoryHits(a.e.stm.Search(q).Matches)
	for i := range due {
		due[i].Rank, due[i].Review = rank(*due[i].Explain), true
	}
	return due, err
}

// keyOf tells hits apart. A memory and its notes are one.
func keyOf(h op.Hit) string {
	if id := memoryOf(&h); id != "" {
		return string(id)
	}
	return h.Note.Path
}

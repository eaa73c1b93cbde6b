package engine

import (
	"slices"

	"emberd/decay"
	"emberd/op"
	"emberd/stm"
)

// reviewPriority is how near the middle of the danger zone a memory has to be to be mixed
// into an answer, from 0 at its edges to 1.
const reviewPriority = 0.3

// mayRemind reports whether the search may show what is about to fade.
func (a *asking) mayRemind() bool {
	return a.e.opt.ReviewRatio > 0 && a.q.stm > 0 && valueOrTrue(a.req.IncludeReview) && a.req.Offset == 0 &&
		a.q.memories && !a.q.archive && len(a.q.terms) > 0 && !a.loose && a.present
}

// besideDue lists the warm memories of the danger zone that match, enough to fill their
// places beside those that are shown anyway.
func (a *asking) besideDue() stm.Beside {
	// Most of what matches was used too lately, which is found out faster than its score.
	young, _ := a.e.opt.Decay.TimeUntil(1, a.e.opt.Review.Max, 0)
	since := a.now.Add(-young)
	return stm.Beside{Limit: 2 * a.limit, OfLast: 1 / a.q.stm, Accept: func(r *stm.Row) bool {
		return !cold(r) && !(r.Strength() >= 1 && r.LastUsed().After(since)) && a.e.opt.Review.Priority(a.e.score(r, a.now)) >= reviewPriority && !a.e.superseded(r)
	}}
}

// remind mixes memories that match and are about to fade into the hits, in the place of
// the last ones. An answer that shows all that matches shows them anyway.
//
// Each has to be as relevant as the hit whose place it takes, decay and stage aside. With
// less, down to half of what it pushes out, answers get measurably worse: a reminder
// stands in the third place, whatever the last is worth.
func (a *asking) remind(hits []op.Hit) ([]op.Hit, error) {
	if len(a.due) == 0 || a.res.Total <= len(hits) {
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
		due[i].Rank, due[i].Review = rank(*due[i].Explain), true
		if at := 2*i + 2; at >= len(hits) || worth(due[i]) < worth(hits[at]) {
			due = due[:i]
			break
		}
	}
	return decay.Blend(hits, due, keyOf, a.e.opt.ReviewRatio), nil
}

// worth is what a hit would rank if nothing faded.
func worth(h op.Hit) float64 { return h.Explain.Relevance * h.Explain.Tier }

// keyOf tells hits apart. A memory and its notes are one.
func keyOf(h op.Hit) string {
	if id := memoryOf(&h); id != "" {
		return string(id)
	}
	return h.Note.Path
}

package search

import (
	"emberd/op"
)

const (
	// correctedShare and begunShare are what a hit has of a word if it has what was probably meant by
	// it, or a word that begins so: less than half, which brings nothing back.
	correctedShare, begunShare = 0.7, 0.45
	// evenShare is the share of the question's weight from which a hit more probably answers it than
	// not. It was chosen on half of the questions of emberd-eval absent.
	evenShare = 0.41
	// evenNear is the nearness of the nearest hit from which a question more probably has an answer in
	// the store than not. Of LoCoMo's questions about facts with all-MiniLM-L6-v2, nine in ten whose
	// conversation is in the store come to it, and one in fifty of the others (docs/internals/evaluation.md).
	evenNear = 1.3
	// Below leastRelevance nothing answers. Neither does anything if words that no text holds are half
	// of what was asked, unless a text is as near as evenNear.
	leastRelevance = 0.25
	// LeastEntity is the relevance from which the name of an entity answers.
	LeastEntity = 0.5
)

// Relevance maps the share of a question's weight that a text has, 0 to 1, to how far it can be
// believed to answer: 0.5 is as probable as not.
func Relevance(share float64) float64 {
	if share < evenShare {
		return 0.5 * share / evenShare
	}
	return 0.5 + 0.5*(share-evenShare)/(1-evenShare)
}

// matched returns the weight of the words that a hit has, each counted once.
func (a *SearchRun) matched(terms []op.TermExplain) float64 {
	held := map[string]float64{} // by term of the query
	for _, t := range terms {
		if a.Q.asks(t.Term) {
			held[t.Term] = a.Q.of(t.Term).times * t.IDF
		}
	}
	stands := func(term string, weight float64) {
		if a.Q.asks(term) {
			held[term] = max(held[term], a.Q.of(term).times*weight)
		}
	}
	for _, t := range terms {
		for _, c := range a.Q.corrected {
			if c.offers(t.Term) {
				stands(c.term, correctedShare*c.idf)
			}
		}
		if g := &a.Q.begun; t.Term == g.name {
			stands(g.term, begunShare*g.idf)
		}
	}
	sum := 0.0
	for _, weight := range held {
		sum += weight
	}
	return sum
}

// judge sets the relevance of the hits, and whether none answers.
func (a *SearchRun) judge(c docFrequencies) {
	asked, best, meant := a.WeightOf(c), 0.0, false
	for i := range a.Res.Hits {
		h := &a.Res.Hits[i]
		x := *h.Explain
		if h.Relevance = 1; asked > 0 {
			x.Share = a.Held(&x, asked) / asked
			h.Relevance = Relevance(x.Share)
		}
		h.Explain = &x
		best = max(best, h.Relevance)
		meant = meant || a.meant(&x) >= evenShare
	}
	a.Res.Nearest = len(a.Res.Hits) > 0 && a.Req.Offset == 0 && asked > 0 && !meant &&
		(a.Res.Similar || best < leastRelevance || a.Q.unknown(c) >= asked/2)
}

// unknown returns the weight of the words of the query that no text holds, and for which nothing else
// was found.
func (q *parsedQuery) unknown(c docFrequencies) (sum float64) {
	for i, t := range q.Terms {
		if c.inMemories[i]+c.inNotes[t] == 0 && !q.replaced(t) {
			sum += q.of(t).times * c.idf(q, i)
		}
	}
	return sum
}

func (q *parsedQuery) replaced(term string) bool {
	for _, c := range q.corrected {
		if c.term == term {
			return true
		}
	}
	return len(q.begun.words) > 0 && q.begun.term == term
}

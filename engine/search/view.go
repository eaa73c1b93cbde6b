package search

import (
	"time"

	"emberd/decay"
	"emberd/op"
	"emberd/stm"
)

// weigh returns all factors of a rank except the terms.
func (e *Search) weigh(relevance float64, r *stm.Row, now time.Time, q *parsedQuery) op.Explain {
	score := e.Score(r, now)
	return op.Explain{
		Relevance: relevance,
		Decay:     score,
		Bounded:   decay.Bounded(score),
		Floor:     q.floor,
		Stage:     e.Opt.StageFactor.Of(r.Stage()),
		Tier:      q.stm,
	}
}

// unfaded returns the factors of a memory that was just used.
func (e *Search) unfaded(x op.Explain) op.Explain {
	x.Bounded, x.Stage = 1, e.Opt.StageFactor.Active
	return x
}

// Rank returns the product of the factors.
func Rank(x op.Explain) float64 {
	return x.Relevance * decay.RankFactor(x.Bounded, x.Floor) * x.Stage * x.Tier
}

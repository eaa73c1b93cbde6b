package search

import (
	"time"

	"emberd/decay"
	"emberd/op"
	"emberd/stm"
)

// weigh returns all factors of a rank except the terms. A core memory does not age.
func (e *Search) weigh(relevance float64, r *stm.Row, now time.Time, q *parsedQuery) op.Explain {
	x := op.Explain{Relevance: relevance, Age: 1, Tier: q.stm}
	if !r.Core() {
		// The ages are of wall clocks: the monotonic reading stands still while a laptop sleeps.
		age := max(0, now.Round(0).Sub(newest(r)))
		x.AgeDays, x.Age = age.Hours()/24, decay.RankFactor(age, q.age)
	}
	return x
}

// newest returns when a memory was last used, or else written. Time before an import counts: what it was is no newer
// for it.
func newest(r *stm.Row) time.Time {
	if r.UseCount() == 0 {
		return r.CreatedAt()
	}
	return r.LastUsed()
}

// unaged returns the factors of a memory of today.
func unaged(x op.Explain) op.Explain {
	x.AgeDays, x.Age = 0, 1
	return x
}

// Rank returns the product of the factors.
func Rank(x op.Explain) float64 { return x.Relevance * x.Age * x.Tier }

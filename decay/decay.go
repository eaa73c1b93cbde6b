// Package decay is the arithmetic of forgetting: what a memory's score is at a
// given moment, when it will have sunk to a threshold, how much age lowers a
// rank, and the rules that look at a score: which memories are promoted, due
// for review, or may be collected, and how use strengthens them.
//
//	score = (use_count + 1)^beta · f(age) · strength
//
// The age is the time since the last use and f one of three models, each 1 at
// age 0 and falling from there for ever without reaching 0:
//
//	power_law      f = (1 + age/t0)^-alpha,  t0 = half_life / (2^(1/alpha) - 1)
//	exponential    f = e^(-lambda·age),      lambda = ln 2 / half_life
//	two_component  f = w·e^(-fast·age) + (1-w)·e^(-slow·age)
//
// The formulas and their defaults are CortexGraph's as documented, with the
// (use_count + 1) of its code: a memory that was never used would otherwise
// always score 0. The power law is the default because it keeps a long tail: a
// month after its last use a memory still has 8 % of its score, where the
// exponential with the same half-life leaves 0.1 %.
//
// Everything here is a pure function of plain numbers. Nothing reads the clock,
// and a [Params] is a value that any number of goroutines may share.
package decay

import (
	"math"
	"time"
)

// Score returns a memory's decay score at now. It is at least 0 and has no
// upper bound: use raises it above 1, as does a strength above 1. A last use in
// the future (a clock was set back, another device's runs ahead) counts as age
// 0, a negative use count as none.
func (p Params) Score(useCount int, lastUsed, now time.Time, strength float64) float64 {
	// The age is wall-clock time: the monotonic reading, which Sub would prefer,
	// stands still while a laptop sleeps.
	age := now.Round(0).Sub(lastUsed)
	uses := math.Pow(float64(max(useCount, 0))+1, p.Beta)
	return uses * p.Factor(age) * strength
}

// Factor returns f(age) of the model: 1 at age 0 and at any negative age, and
// less the older. The exponential models underflow to 0 after some 1,074
// half-lives.
func (p Params) Factor(age time.Duration) float64 {
	t := max(age, 0).Seconds()
	switch p.Model {
	case Exponential:
		return math.Exp(-p.rate() * t)
	case TwoComponent:
		w := p.FastWeight
		return w*math.Exp(-p.FastLambda*t) + (1-w)*math.Exp(-p.SlowLambda*t)
	default:
		// Log1p keeps the digits of an age that is small beside t0.
		return math.Exp(-p.Alpha * math.Log1p(t/p.timeScale()))
	}
}

// TimeUntil returns how long a memory that scores score now, elapsed after its
// last use, takes to sink to threshold if it is left alone. Only the ratio of
// the two matters, so both may be scores or both bare factors. A negative
// elapsed counts as 0. The answer saturates at the longest Duration, 292 years.
//
// It reports false when no such moment lies ahead: the score is at or below the
// threshold already, or the threshold is not above 0, where no model arrives.
func (p Params) TimeUntil(score, threshold float64, elapsed time.Duration) (time.Duration, bool) {
	if score <= threshold || threshold <= 0 {
		return 0, false
	}
	drop := math.Log(score) - math.Log(threshold)
	age := max(elapsed, 0).Seconds()
	switch p.Model {
	case Exponential:
		return duration(drop / p.rate()), true
	case TwoComponent:
		return duration(p.mixtureTime(drop, age)), true
	default:
		return duration((p.timeScale() + age) * math.Expm1(drop/p.Alpha)), true
	}
}

// RankExponent is the default exponent of [RankFactor]. Of LoCoMo's questions, which ask about old and new
// alike, it costs at most 0.2 points of recall at 5, and of two versions of a fact the newer ranks above the older
// in 81 of 100 cases (docs/internals/evaluation.md). An exponent of 0.2 orders 98 of 100 and costs more.
const RankExponent = 0.03

// RankFactor returns what a search multiplies the relevance of a memory by:
//
//	(1 + age in days)^-exponent
//
// It is 1 at age 0 and at any negative age, and falls ever more slowly: with an exponent of 0.03 to 0.94 in a week,
// 0.90 in a month and 0.84 in a year. A power has no scale of its own, so that it tells a day from a week as
// clearly as a month from half a year. It is the form of the odds in Anderson and Schooler, "Reflections of the
// Environment in Memory", 1991.
func RankFactor(age time.Duration, exponent float64) float64 {
	if exponent == 0 || age <= 0 {
		return 1
	}
	const day = 24 * time.Hour
	return math.Exp(-exponent * math.Log1p(float64(age)/float64(day)))
}

// timeScale is the power law's t0 in seconds, chosen so that f(half_life) = 1/2.
func (p Params) timeScale() float64 {
	return p.HalfLife.Seconds() / math.Expm1(math.Ln2/p.Alpha)
}

// rate is the exponential model's lambda per second.
func (p Params) rate() float64 {
	if p.Lambda > 0 {
		return p.Lambda
	}
	return math.Ln2 / p.HalfLife.Seconds()
}

// mixtureTime is how many seconds past age the logarithm of the two-component
// factor needs to fall by drop. The equation has no closed solution, but the
// slope lies between the two rates, and with it the answer; bisection does the
// rest.
func (p Params) mixtureTime(drop, age float64) float64 {
	target := p.logMixture(age) - drop
	lo, hi := drop/p.FastLambda, drop/p.SlowLambda
	for hi-lo > hi*1e-13 {
		mid := lo + (hi-lo)/2
		if p.logMixture(age+mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// logMixture is ln f(age) of the two-component model, exact where f itself has
// long underflowed and where one component has no weight.
func (p Params) logMixture(age float64) float64 {
	fast := math.Log(p.FastWeight) - p.FastLambda*age
	slow := math.Log1p(-p.FastWeight) - p.SlowLambda*age
	top := max(fast, slow)
	return top + math.Log1p(math.Exp(min(fast, slow)-top))
}

// duration converts seconds, saturating where a Duration ends.
func duration(seconds float64) time.Duration {
	if ns := seconds * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}

package decay_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/decay"
)

// anyParams draws valid settings, the corners among them.
func anyParams(t *rapid.T) decay.Params {
	fast := math.Pow(10, rapid.Float64Range(-8, -3).Draw(t, "fast exponent"))
	p := decay.Params{
		Model:      rapid.SampledFrom(models).Draw(t, "model"),
		Beta:       rapid.Float64Range(0, 5).Draw(t, "beta"),
		HalfLife:   time.Duration(rapid.Int64Range(int64(time.Second), int64(400*day)).Draw(t, "half-life")),
		Alpha:      rapid.Float64Range(0.1, 10).Draw(t, "alpha"),
		Lambda:     rapid.SampledFrom([]float64{0, 1e-9, 2.673e-6, 1e-3}).Draw(t, "lambda"),
		FastLambda: fast,
		SlowLambda: fast * rapid.Float64Range(0.001, 1).Draw(t, "slow to fast"),
		FastWeight: rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(0, 1)).Draw(t, "weight"),
	}
	if err := p.Validate(); err != nil {
		t.Fatalf("drawn settings: %v", err)
	}
	return p
}

func anyAge(t *rapid.T, label string) time.Duration {
	return time.Duration(rapid.Int64Range(0, int64(3650*day)).Draw(t, label))
}

func TestScoreIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams(t)
		uses := rapid.IntRange(0, 1_000_000).Draw(t, "uses")
		strength := rapid.Float64Range(0, 2).Draw(t, "strength")
		age := anyAge(t, "age")
		score := func(uses int, age time.Duration, strength float64) float64 {
			return p.Score(uses, now.Add(-age), now, strength)
		}

		base := score(uses, age, strength)
		if older := score(uses, age+anyAge(t, "more age"), strength); older > base {
			t.Errorf("older scores %v, younger %v", older, base)
		}
		if used := score(uses+rapid.IntRange(1, 1000).Draw(t, "more uses"), age, strength); used < base {
			t.Errorf("more used scores %v, less used %v", used, base)
		}
		if stronger := score(uses, age, strength+rapid.Float64Range(0, 2).Draw(t, "more strength")); stronger < base {
			t.Errorf("stronger scores %v, weaker %v", stronger, base)
		}
	})
}

func TestFactorsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams(t)
		f := p.Factor(anyAge(t, "age") - day)
		if f < 0 || f > 1 {
			t.Errorf("factor = %v, want 0 to 1", f)
		}
		exponent, age := rapid.Float64Range(0, 1).Draw(t, "exponent"), anyAge(t, "rank age")
		got := decay.RankFactor(age, exponent)
		if got <= 0 || got > 1 {
			t.Errorf("RankFactor(%v, %v) = %v, want above 0 and at most 1", age, exponent, got)
		}
		if older := decay.RankFactor(age+anyAge(t, "more"), exponent); older > got {
			t.Errorf("an older memory has the factor %v, a newer one %v", older, got)
		}
	})
}

// TimeUntil inverts Factor: after the wait, the factor has shrunk by the ratio
// of threshold to score.
func TestTimeUntilInvertsFactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams(t)
		elapsed := anyAge(t, "elapsed")
		score := rapid.Float64Range(0.1, 10).Draw(t, "score")
		ratio := rapid.Float64Range(0.001, 0.999).Draw(t, "threshold to score")

		wait, ok := p.TimeUntil(score, score*ratio, elapsed)
		if !ok || wait <= 0 {
			t.Fatalf("wait = %v, %t, want a time ahead", wait, ok)
		}
		before := p.Factor(elapsed)
		if before < 1e-200 || wait >= math.MaxInt64-elapsed {
			t.Skip("underflowed, or further off than a Duration reaches")
		}
		// A wait is exact to the nanosecond, which is this much of the factor.
		slack := 1e-9 + 2e-9*math.Abs(math.Log(ratio))/wait.Seconds()
		if got := p.Factor(elapsed+wait) / before; !near(got, ratio, slack) {
			t.Errorf("factor fell to %v of itself, want %v", got, ratio)
		}
	})
}

// TimeUntil agrees with Score, asked for the same moment by bisection.
func TestTimeUntilAgreesWithScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams(t)
		uses := rapid.IntRange(0, 1000).Draw(t, "uses")
		strength := rapid.Float64Range(0.1, 2).Draw(t, "strength")
		elapsed := anyAge(t, "elapsed")
		scoreIn := func(d time.Duration) float64 {
			return p.Score(uses, now.Add(-elapsed), now.Add(d), strength)
		}
		threshold := scoreIn(0) * rapid.Float64Range(0.001, 0.999).Draw(t, "threshold to score")
		wait, ok := p.TimeUntil(scoreIn(0), threshold, elapsed)
		if threshold < 1e-200 || wait > 100*365*day {
			t.Skip("underflowed, or further off than anybody waits")
		}

		lo, hi := time.Duration(0), 2*wait+time.Second
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; scoreIn(mid) > threshold {
				lo = mid
			} else {
				hi = mid
			}
		}
		slack := time.Microsecond + (wait+elapsed)/1e8
		if off := wait - hi; !ok || off < -slack || off > slack {
			t.Errorf("wait = %v, %t, by bisection %v", wait, ok, hi)
		}
	})
}

package decay_test

import (
	"math"
	"testing"
	"time"

	"emberd/decay"
)

const day = 24 * time.Hour

var models = []decay.Model{decay.PowerLaw, decay.Exponential, decay.TwoComponent}

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// model returns the default settings with another curve.
func model(m decay.Model) decay.Params {
	p := decay.DefaultParams()
	p.Model = m
	return p
}

// asShipped is what CortexGraph computes whatever model is configured: the
// exponential with a rounded rate.
func asShipped() decay.Params {
	p := model(decay.Exponential)
	p.Lambda = 2.673e-6
	return p
}

func days(d float64) time.Duration { return time.Duration(d * float64(day)) }

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

// TestScore holds values observed by running CortexGraph (C1 to C16) and values
// of its documented models, which its code never reaches (C17, C18).
func TestScore(t *testing.T) {
	shipped, power, two := asShipped(), model(decay.PowerLaw), model(decay.TwoComponent)
	for _, c := range []struct {
		name     string
		params   decay.Params
		uses     int
		age      time.Duration
		strength float64
		want     float64
	}{
		{"C1 new", shipped, 0, 0, 1, 1},
		{"C2 half a day", shipped, 0, days(0.5), 1, 0.890944},
		{"C3 one day", shipped, 0, days(1), 1, 0.793781},
		{"C4 three days", shipped, 0, days(3), 1, 0.500153},
		{"C5 one week", shipped, 0, days(7), 1, 0.198567},
		{"C6 two weeks", shipped, 0, days(14), 1, 0.039429},
		{"C7 thirty days", shipped, 0, days(30), 1, 0.000980},
		{"C8 one use", shipped, 1, 0, 1, 1.515717},
		{"C9 one use, three days", shipped, 1, days(3), 1, 0.758090},
		{"C10 ten uses", shipped, 10, 0, 1, 4.215369},
		{"C11 five uses, one week", shipped, 5, days(7), 1, 0.581831},
		{"C12 six uses, two days", shipped, 6, days(2), 1, 2.025166},
		{"C13 three uses, five days, strong", shipped, 3, days(5), 1.5, 1.086005},
		{"C14 one use, three weeks", shipped, 1, days(21), 1, 0.011867},
		{"C15 three uses, one hour, strongest", shipped, 3, time.Hour, 2, 4.550791},
		{"C16 used in the future", shipped, 0, -days(2), 1, 1},

		{"C17 power law, half a day", power, 0, days(0.5), 1, 0.860533},
		{"C17 power law, one day", power, 0, days(1), 1, 0.754018},
		{"C17 power law, three days", power, 0, days(3), 1, 0.5},
		{"C17 power law, one week", power, 0, days(7), 1, 0.293447},
		{"C17 power law, two weeks", power, 0, days(14), 1, 0.166718},
		{"C17 power law, thirty days", power, 0, days(30), 1, 0.081413},
		{"C17 power law, ninety days", power, 0, days(90), 1, 0.026278},

		{"C18 two components, half a day", two, 0, days(0.5), 1, 0.635725},
		{"C18 two components, one day", two, 0, days(1), 1, 0.446923},
		{"C18 two components, three days", two, 0, days(3), 1, 0.233826},
		{"C18 two components, one week", two, 0, days(7), 1, 0.149959},
		{"C18 two components, two weeks", two, 0, days(14), 1, 0.074916},
		{"C18 two components, thirty days", two, 0, days(30), 1, 0.015345},

		{"negative use count", shipped, -3, 0, 1, 1},
		{"no strength", shipped, 4, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.params.Score(c.uses, now.Add(-c.age), now, c.strength)
			if !near(got, c.want, 1e-6) {
				t.Errorf("score = %.7f, want %.6f", got, c.want)
			}
		})
	}
}

// TestTimeUntil holds the waits of the documented models, to the second.
// CortexGraph subtracts the elapsed time from the exponential's wait, although a
// score of now has lost it already; that is not repeated here.
func TestTimeUntil(t *testing.T) {
	shipped, power, two := asShipped(), model(decay.PowerLaw), model(decay.TwoComponent)
	for _, c := range []struct {
		name             string
		params           decay.Params
		score, threshold float64
		elapsed          time.Duration
		want             float64 // seconds
	}{
		{"C19 power law to a half", power, 1, 0.5, 0, 259_200},
		{"C19 exponential to a half", shipped, 1, 0.5, 0, 259_314},
		{"C19 two components to a half", two, 1, 0.5, 0, 71_212},
		{"C20 power law to forgotten", power, 1, 0.05, 0, 4_202_156},
		{"C20 exponential to forgotten", shipped, 1, 0.05, 0, 1_120_738},
		{"C20 two components to forgotten", two, 1, 0.05, 0, 1_562_126},
		{"C22 power law, a day gone", power, 0.8, 0.05, day, 4_364_410},
		{"exponential, a day gone", shipped, 0.8, 0.05, day, 1_037_257},
		{"used in the future", power, 1, 0.5, -day, 259_200},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := c.params.TimeUntil(c.score, c.threshold, c.elapsed)
			if !ok || !near(got.Seconds(), c.want, 1) {
				t.Errorf("wait = %.1f s, %t, want %.0f s", got.Seconds(), ok, c.want)
			}
		})
	}
}

func TestTimeUntilHasNoAnswer(t *testing.T) {
	for _, c := range []struct {
		name             string
		score, threshold float64
	}{
		{"C21 already below", 0.3, 0.5},
		{"at the threshold", 0.5, 0.5},
		{"no score", 0, 0.5},
		{"threshold zero", 0.3, 0},
		{"threshold below zero", 0.3, -1},
	} {
		for _, m := range models {
			if got, ok := model(m).TimeUntil(c.score, c.threshold, day); ok {
				t.Errorf("%s, %s: wait = %v, want none", c.name, m, got)
			}
		}
	}
}

// The power law's tail is longer than a Duration, and so is the patience of a
// two-component curve whose slow part hardly moves.
func TestTimeUntilSaturates(t *testing.T) {
	still := model(decay.TwoComponent)
	still.SlowLambda = 1e-12
	for name, p := range map[string]decay.Params{"power law": model(decay.PowerLaw), "two components": still} {
		if got, ok := p.TimeUntil(1, 1e-12, 0); !ok || got != math.MaxInt64 {
			t.Errorf("%s: wait = %v, %t, want the longest duration", name, got, ok)
		}
	}
}

// TestRate is C23: what a half-life makes of the rate, and a rate of the
// half-life.
func TestRate(t *testing.T) {
	const age = 1000 * time.Second
	derived := -math.Log(model(decay.Exponential).Factor(age)) / age.Seconds()
	if !near(derived, 2.67418e-6, 1e-11) {
		t.Errorf("rate of a half-life of 3 days = %v, want 2.67418e-6", derived)
	}
	half, _ := asShipped().TimeUntil(1, 0.5, 0)
	if got := half.Hours() / 24; !near(got, 3.001, 5e-4) {
		t.Errorf("half-life of rate 2.673e-6 = %.4f days, want 3.001", got)
	}
}

func TestDefaultHalfLives(t *testing.T) {
	for _, m := range []decay.Model{decay.PowerLaw, decay.Exponential} {
		if got := model(m).Factor(72 * time.Hour); !near(got, 0.5, 1e-12) {
			t.Errorf("%s after its half-life = %v, want 0.5", m, got)
		}
	}
}

func TestBounded(t *testing.T) {
	for _, c := range []struct{ score, want float64 }{
		{0, 0}, {0.05, 0.05}, {0.65, 0.65}, {1, 1}, {4.215369, 1},
	} {
		if got := decay.Bounded(c.score); got != c.want {
			t.Errorf("Bounded(%v) = %v, want %v", c.score, got, c.want)
		}
	}
}

func TestRankFactor(t *testing.T) {
	for _, c := range []struct{ score, floor, want float64 }{
		{1, 0.3, 1},      // fresh: relevance as it is
		{3, 0.3, 1},      // much used: no more than that
		{0, 0.3, 0.3},    // forgotten: the floor stays
		{0.5, 0.3, 0.65}, // half forgotten: half of the rest
		{0.5, 0, 0.5},
	} {
		if got := decay.RankFactor(c.score, c.floor); !near(got, c.want, 1e-12) {
			t.Errorf("RankFactor(%v, %v) = %v, want %v", c.score, c.floor, got, c.want)
		}
	}
}

func BenchmarkScore(b *testing.B) {
	for _, m := range models {
		b.Run(m.String(), func(b *testing.B) {
			p, used := model(m), now.Add(-5*day)
			for b.Loop() {
				p.Score(3, used, now, 1.5)
			}
		})
	}
}

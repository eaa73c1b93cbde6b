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

// What the cases of CortexGraph leave open.
func TestScoreAtTheEdges(t *testing.T) {
	p := asShipped()
	if got := p.Score(-3, now, now, 1); got != 1 {
		t.Errorf("score with a negative use count = %v, want 1", got)
	}
	if got := p.Score(4, now, now, 0); got != 0 {
		t.Errorf("score without strength = %v, want 0", got)
	}
}

// A score of now has lost the elapsed time already, and CortexGraph subtracts it
// from the exponential's wait again; that is not repeated here.
func TestTimeUntilCountsElapsedTimeOnce(t *testing.T) {
	got, ok := asShipped().TimeUntil(0.8, 0.05, day)
	if !ok || !near(got.Seconds(), 1_037_257, 1) {
		t.Errorf("wait = %.1f s, %t, want 1037257 s", got.Seconds(), ok)
	}
	got, ok = model(decay.PowerLaw).TimeUntil(1, 0.5, -day)
	if !ok || !near(got.Seconds(), 259_200, 1) {
		t.Errorf("wait of one used in the future = %.1f s, %t, want 259200 s", got.Seconds(), ok)
	}
}

func TestTimeUntilHasNoAnswer(t *testing.T) {
	for _, c := range []struct {
		name             string
		score, threshold float64
	}{
		{"already below", 0.3, 0.5},
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

func TestDefaultHalfLives(t *testing.T) {
	for _, m := range []decay.Model{decay.PowerLaw, decay.Exponential} {
		if got := model(m).Factor(72 * time.Hour); !near(got, 0.5, 1e-12) {
			t.Errorf("%s after its half-life = %v, want 0.5", m, got)
		}
	}
}

func TestRankFactor(t *testing.T) {
	const days = 24 * time.Hour
	for _, c := range []struct {
		age            time.Duration
		exponent, want float64
	}{
		{0, 0.03, 1},
		{-time.Hour, 0.03, 1}, // a clock was set back
		{days, 0.03, 0.979420},
		{7 * days, 0.03, 0.939523},
		{30 * days, 0.03, 0.902109},
		{365 * days, 0.03, 0.837714},
		{3 * days, 0.5, 0.5},
		{900 * days, 0, 1},
	} {
		if got := decay.RankFactor(c.age, c.exponent); !near(got, c.want, 1e-6) {
			t.Errorf("RankFactor(%v, %v) = %v, want %v", c.age, c.exponent, got, c.want)
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

package decay_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/decay"
)

// TestCases are the 45 cases that were observed on CortexGraph or follow from the
// formulas that it documents, with what is decided differently here: words of the
// use context are compared regardless of case (C43), and a use in another domain
// adds a tenth (C44). C24 to C29 run without the least age and use.
func TestCases(t *testing.T) {
	for _, c := range slices.Concat(scoreCases(), waitCases(), ruleCases(), reviewCases()) {
		t.Run(c.name, func(t *testing.T) {
			if !c.met() {
				t.Errorf("got %v, want %v", c.got, c.want)
			}
		})
	}
}

// A behaviour is what came out and what should have. Floats may be tolerance apart.
type behaviour struct {
	name      string
	got, want any
	tolerance float64
}

func (b behaviour) met() bool {
	got, isFloat := b.got.(float64)
	want, _ := b.want.(float64)
	if isFloat {
		return near(got, want, b.tolerance)
	}
	return reflect.DeepEqual(b.got, b.want)
}

// after is the score of a memory so many days after its last use.
func after(p decay.Params, uses int, age, strength float64) float64 {
	return p.Score(uses, now.Add(-days(age)), now, strength)
}

func scoreCases() []behaviour {
	shipped, power, two := asShipped(), model(decay.PowerLaw), model(decay.TwoComponent)
	cases := []behaviour{
		{name: "C1 new", got: after(shipped, 0, 0, 1), want: 1.0},
		{name: "C2 half a day", got: after(shipped, 0, 0.5, 1), want: 0.890944},
		{name: "C3 one day", got: after(shipped, 0, 1, 1), want: 0.793781},
		{name: "C4 three days", got: after(shipped, 0, 3, 1), want: 0.500153},
		{name: "C5 one week", got: after(shipped, 0, 7, 1), want: 0.198567},
		{name: "C6 two weeks", got: after(shipped, 0, 14, 1), want: 0.039429},
		{name: "C7 thirty days", got: after(shipped, 0, 30, 1), want: 0.000980},
		{name: "C8 one use", got: after(shipped, 1, 0, 1), want: 1.515717},
		{name: "C9 one use, three days", got: after(shipped, 1, 3, 1), want: 0.758090},
		{name: "C10 ten uses", got: after(shipped, 10, 0, 1), want: 4.215369},
		{name: "C11 five uses, one week", got: after(shipped, 5, 7, 1), want: 0.581831},
		{name: "C12 six uses, two days", got: after(shipped, 6, 2, 1), want: 2.025166},
		{name: "C13 three uses, five days, strong", got: after(shipped, 3, 5, 1.5), want: 1.086005},
		{name: "C14 one use, three weeks", got: after(shipped, 1, 21, 1), want: 0.011867},
		{name: "C15 three uses, one hour, strongest", got: after(shipped, 3, 1.0/24, 2), want: 4.550791},
		{name: "C16 used in the future", got: after(shipped, 0, -2, 1), want: 1.0},

		{name: "C17 power law, half a day", got: after(power, 0, 0.5, 1), want: 0.860533},
		{name: "C17 power law, one day", got: after(power, 0, 1, 1), want: 0.754018},
		{name: "C17 power law, three days", got: after(power, 0, 3, 1), want: 0.5},
		{name: "C17 power law, one week", got: after(power, 0, 7, 1), want: 0.293447},
		{name: "C17 power law, two weeks", got: after(power, 0, 14, 1), want: 0.166718},
		{name: "C17 power law, thirty days", got: after(power, 0, 30, 1), want: 0.081413},
		{name: "C17 power law, ninety days", got: after(power, 0, 90, 1), want: 0.026278},

		{name: "C18 two components, half a day", got: after(two, 0, 0.5, 1), want: 0.635725},
		{name: "C18 two components, one day", got: after(two, 0, 1, 1), want: 0.446923},
		{name: "C18 two components, three days", got: after(two, 0, 3, 1), want: 0.233826},
		{name: "C18 two components, one week", got: after(two, 0, 7, 1), want: 0.149959},
		{name: "C18 two components, two weeks", got: after(two, 0, 14, 1), want: 0.074916},
		{name: "C18 two components, thirty days", got: after(two, 0, 30, 1), want: 0.015345},
	}
	for i := range cases {
		cases[i].tolerance = 1e-6
	}
	return cases
}

// wait is how long a score takes to sink to a threshold, in seconds.
func wait(p decay.Params, score, threshold float64, elapsed time.Duration) float64 {
	d, ok := p.TimeUntil(score, threshold, elapsed)
	if !ok {
		return math.NaN()
	}
	return d.Seconds()
}

func waitCases() []behaviour {
	shipped, power, two := asShipped(), model(decay.PowerLaw), model(decay.TwoComponent)
	_, ahead := power.TimeUntil(0.3, 0.5, 0)
	const age = 1000 * time.Second
	rate := -math.Log(model(decay.Exponential).Factor(age)) / age.Seconds()
	return []behaviour{
		{"C19 power law to a half", wait(power, 1, 0.5, 0), 259_200.0, 1},
		{"C19 exponential to a half", wait(shipped, 1, 0.5, 0), 259_314.0, 1},
		{"C19 two components to a half", wait(two, 1, 0.5, 0), 71_212.0, 1},
		{"C20 power law to forgotten", wait(power, 1, 0.05, 0), 4_202_156.0, 1},
		{"C20 exponential to forgotten", wait(shipped, 1, 0.05, 0), 1_120_738.0, 1},
		{"C20 two components to forgotten", wait(two, 1, 0.05, 0), 1_562_126.0, 1},
		{"C21 below the threshold already", ahead, false, 0},
		{"C22 power law, a day gone", wait(power, 0.8, 0.05, day), 4_364_410.0, 1},
		{"C23 rate of a half-life of three days", rate, 2.67418e-6, 1e-11},
		{"C23 half-life of a rate, in days", wait(shipped, 1, 0.5, 0) / day.Seconds(), 3.001, 5e-4},
	}
}

// promoted is why a memory would be promoted that was created created days ago and
// used for the last time used days ago.
func promoted(uses int, created, used float64) decay.Reason {
	score := after(asShipped(), uses, used, 1)
	return decay.DefaultPromotion().Bare().Due(score, uses, now.Add(-days(created)), now, false)
}

// collected are the ids that gc takes of memories unused for so many days.
func collected(limit int, unused ...float64) string {
	var all []decay.Candidate
	for i, d := range unused {
		all = append(all, decay.Candidate{ID: fmt.Sprint("m", i), Score: after(asShipped(), 0, d, 1)})
	}
	before := slices.Clone(all)
	var ids []string
	for _, c := range decay.Collect(all, decay.ForgetThreshold, limit) {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(all, before) {
		return "the candidates were changed"
	}
	return strings.Join(ids, " ")
}

func ruleCases() []behaviour {
	return []behaviour{
		{name: "C24 new", got: promoted(0, 0, 0), want: decay.ByScore},
		{name: "C25 still above the threshold", got: promoted(0, 1.8, 1.8), want: decay.ByScore},
		{name: "C26 just below the threshold", got: promoted(0, 1.9, 1.9), want: decay.Reason("")},
		{name: "C27 five uses at the end of the window", got: promoted(5, 14, 14), want: decay.ByUse},
		{name: "C27 its score", got: after(asShipped(), 5, 14, 1), want: 0.1155, tolerance: 5e-5},
		{name: "C28 five uses, a day late", got: promoted(5, 15, 15), want: decay.Reason("")},
		{name: "C29 four uses", got: promoted(4, 10, 10), want: decay.Reason("")},
		{name: "C30 kept by gc", got: collected(0, 12), want: ""},
		{name: "C31 collected by gc", got: collected(0, 13), want: "m0"},
		{name: "C32 the two lowest of five", got: collected(2, 20, 50, 30, 40, 25), want: "m1 m3"},
		{name: "C33 looking changes nothing", got: collected(0, 20, 50), want: "m1 m0"},
	}
}

// blended mixes p0 to pN and r0 to rN and shows the outcome.
func blended(results, reviews int, ratio float64) string {
	name := func(prefix string, n int) []string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprint(prefix, i))
		}
		return out
	}
	itself := func(s string) string { return s }
	return strings.Join(decay.Blend(name("p", results), name("r", reviews), itself, ratio), " ")
}

func tags(s string) []string { return strings.Fields(s) }

func reviewCases() []behaviour {
	var cases []behaviour
	for score, want := range map[float64]float64{
		0.14: 0, 0.15: 0, 0.16: 0.19, 0.20: 0.75, 0.25: 1, 0.30: 0.75, 0.33: 0.36, 0.35: 0, 0.36: 0,
	} {
		cases = append(cases, behaviour{fmt.Sprint("C34 priority at ", score), decay.DefaultZone().Priority(score), want, 1e-12})
	}
	strength := 1.95
	for range 3 {
		strength = decay.Boosted(strength)
	}
	return append(cases, []behaviour{
		{name: "C35 three in ten", got: blended(10, 10, 0.3), want: "p0 p1 r0 p2 p3 r1 p4 p5 r2 p6"},
		{name: "C36 too few to blend", got: blended(3, 3, 0.3), want: "p0 p1 p2"},
		{name: "C37 nothing but reviews", got: blended(10, 10, 1), want: "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9"},
		{name: "C37 no reviews wanted", got: blended(4, 4, 0), want: "p0 p1 p2 p3"},
		{name: "C37 no reviews there", got: blended(4, 0, 0.3), want: "p0 p1 p2 p3"},

		{name: "C38 no tag shared", got: decay.CrossDomain(tags("security jwt preferences"), tags("api authentication backend")), want: true},
		{name: "C39 one of six", got: decay.CrossDomain(tags("a b c"), tags("a d e f")), want: true},
		{name: "C40 two of four", got: decay.CrossDomain(tags("a b c"), tags("a b d")), want: false},
		{name: "C41 three of ten", got: decay.CrossDomain(tags("a b c d e f"), tags("a b c x y z w")), want: false},
		{name: "C42 no tags", got: decay.CrossDomain(nil, tags("a")), want: false},
		{name: "C42 no context", got: decay.CrossDomain(tags("a"), nil), want: false},
		{name: "C43 case is no difference", got: decay.CrossDomain(tags("API"), tags("api")), want: false},

		{name: "C44 a use in another domain", got: decay.Boosted(1), want: 1.1},
		{name: "C44 three from near the top", got: strength, want: 2.0},
		{name: "C45 a touch with boost", got: decay.Boosted(1), want: 1.1},
		{name: "C45 near the top", got: decay.Boosted(1.95), want: 2.0},
		{name: "C45 at the top", got: decay.Boosted(2), want: 2.0},
	}...)
}

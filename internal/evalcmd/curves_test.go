package evalcmd

import (
	"slices"
	"strings"
	"testing"

	"emberd/internal/dedupe/contradiction"
)

// found is a pair of some judgement and similarity, of which a conflict is told or not.
func found(label string, alike float64, tells, differ bool) weighed {
	w := weighed{judgedPair: &judgedPair{A: "a", B: "b", Label: label}, alike: alike, differ: differ, least: never}
	if tells {
		w.least = contradiction.Related
		w.found = []contradiction.Finding{{Kind: "number"}}
	}
	return w
}

func TestWhatIsTold(t *testing.T) {
	t.Parallel()
	far := found("contradiction", 0.5, true, true)
	shared := far
	shared.least = 0
	r := conflictsOf([]weighed{
		found("contradiction", 0.9, true, true),
		found("contradiction", 0.9, false, true),
		found("neutral", 0.7, true, true),
		far, shared,
	})
	if g := r.Gate; g.Told != 3 || g.Right != 2 || g.Precision != 2.0/3 || g.Recall != 0.5 {
		t.Errorf("through the gate %+v, want 3 told and 2 right of 4", g)
	}
	if first, last := r.Curve[0], r.Curve[len(r.Curve)-1]; first.Told != 4 || first.Recall != 0.75 ||
		last.Told != 0 || last.Similarity != 1 {
		t.Errorf("curve from %+v to %+v, want 4 told at 0, none at 1", first, last)
	}
}

// The threshold is the highest that merges enough; what differs is merged at none.
func TestWhatIsMerged(t *testing.T) {
	t.Parallel()
	var pairs []weighed
	for _, alike := range []float64{0.95, 0.9, 0.8, 0.7, 0.3} {
		pairs = append(pairs, found("paraphrase", alike, false, false))
	}
	pairs = append(pairs, found("contradiction", 0.75, false, false), found("contradiction", 0.99, false, true))
	r := mergesOf(pairs)
	if want := (merging{Threshold: 0.7, Reached: true, Paraphrases: 4, Contradictions: 1}); r.Guarded != want {
		t.Errorf("guarded %+v, want %+v", r.Guarded, want)
	}
	if want := (merging{Threshold: 0.7, Reached: true, Paraphrases: 4, Contradictions: 2}); r.Unguarded != want {
		t.Errorf("unguarded %+v, want %+v", r.Unguarded, want)
	}
	pairs[0].differ, pairs[1].differ = true, true
	if want := (merging{Paraphrases: 3, Contradictions: 1}); mergesOf(pairs).Guarded != want {
		t.Errorf("with two that differ %+v, want %+v", mergesOf(pairs).Guarded, want)
	}
}

func TestParaphrases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pair judgedPair
		want bool
	}{
		{judgedPair{Label: "paraphrase"}, true},
		{judgedPair{Label: "entailment", Score: new(4.5)}, true},
		{judgedPair{Label: "entailment", Score: new(4.2)}, false},
		{judgedPair{Score: new(4.6)}, true},
		{judgedPair{Score: new(4.0)}, false},
		{judgedPair{Label: "neutral", Score: new(4.8)}, false},
	} {
		if got := c.pair.paraphrase(); got != c.want {
			t.Errorf("%+v: %t, want %t", c.pair, got, c.want)
		}
	}
}

func TestPassages(t *testing.T) {
	t.Parallel()
	got := passagesOf("# Head\n\nOne line\ngoes on. Then two.\n- item\n\n| Op | Budget |\n|---|---|\n| recall | 40ms |\n\n```\ncode\n```\n> quoted\n")
	want := []string{"One line goes on", "Then two.", "item", "recall, Budget 40ms", "quoted"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("passages %q, want %q", got, want)
	}
}

// Each decision passes more than the one before, and what is counted for it passed all of that.
func TestWhatEachDecisionTakesForTheSame(t *testing.T) {
	t.Parallel()
	all := []weighed{
		found("paraphrase", 0.9, false, false), found("neutral", 0.9, false, false),
		found("paraphrase", 0.9, false, false), found("contradiction", 0.9, false, true),
		found("paraphrase", 0.2, false, false),
	}
	all[1].adds, all[2].unsaid = true, true
	at := atThreshold{Threshold: 0.85}
	at.count(all, 3)
	for i, want := range [][2]int{{2, 2}, {2, 1}, {2, 0}, {1, 0}} {
		if got := at.tallies()[i]; got.Same != want[0] || got.Wrong != want[1] {
			t.Errorf("tally %d counts %d the same and %d wrong, want %v", i, got.Same, got.Wrong, want)
		}
	}
}

func TestHalvesOfPairs(t *testing.T) {
	t.Parallel()
	var all []weighed
	for i := range 50 {
		all = append(all, weighed{judgedPair: &judgedPair{ID: strings.Repeat("x", i+1)}})
	}
	odd, even := inHalf(slices.Clone(all), "odd"), inHalf(slices.Clone(all), "even")
	if len(odd) == 0 || len(even) == 0 || len(odd)+len(even) != len(inHalf(all, "")) {
		t.Errorf("%d odd and %d even pairs of %d", len(odd), len(even), len(all))
	}
	for _, w := range odd {
		if w.half() != 1 {
			t.Errorf("%s is of the half %d, want 1", w.ID, w.half())
		}
	}
}

package decay_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/decay"
)

// TestPromotionWantsAgeAndUse is what keeps a new memory, which scores 1, from
// being promoted by that.
func TestPromotionWantsAgeAndUse(t *testing.T) {
	rule := decay.DefaultPromotion()
	for _, c := range []struct {
		name  string
		score float64
		uses  int
		age   time.Duration
		force bool
		want  decay.Reason
	}{
		{"new", 1, 0, 0, false, ""},
		{"old and never used", 1, 0, days(5), false, ""},
		{"used and too young", 1, 1, 71 * time.Hour, false, ""},
		{"used and old enough", 0.65, 1, 72 * time.Hour, false, decay.ByScore},
		{"used, old and faded", 0.64, 4, days(5), false, ""},
		{"much used in its first hour", 2, 5, time.Hour, false, decay.ByUse},
		{"much used too late", 0.1, 50, days(15), false, ""},
		{"both rules", 2, 5, days(5), false, decay.ByScore},
		{"forced", 0, 0, 0, true, decay.Forced},
		{"created in the future", 1, 5, -days(1), false, decay.ByUse},
	} {
		if got := rule.Due(c.score, c.uses, now.Add(-c.age), now, c.force); got != c.want {
			t.Errorf("%s: promoted by %q, want %q", c.name, got, c.want)
		}
	}
	if got := rule.Bare().Due(1, 0, now, now, false); got != decay.ByScore {
		t.Errorf("new and named by its id: promoted by %q, want %q", got, decay.ByScore)
	}
}

func TestCollectSparesCoreAndPromoted(t *testing.T) {
	all := []decay.Candidate{
		{ID: "core", Core: true}, {ID: "promoted", Promoted: true},
		{ID: "b", Score: 0.01}, {ID: "a", Score: 0.01}, {ID: "c", Score: 0.001}, {ID: "edge", Score: 0.05},
	}
	var got []string
	for _, c := range decay.Collect(all, 0.05, 0) {
		got = append(got, c.ID)
	}
	if want := "c a b"; strings.Join(got, " ") != want {
		t.Errorf("collected %v, want %s", got, want)
	}
}

func TestCollectIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []decay.Candidate
		for i := range rapid.IntRange(0, 30).Draw(t, "memories") {
			all = append(all, decay.Candidate{
				ID:       fmt.Sprint(i),
				Score:    float64(rapid.IntRange(0, 8).Draw(t, "hundredths")) / 100,
				Core:     rapid.Bool().Draw(t, "core"),
				Promoted: rapid.Bool().Draw(t, "promoted"),
			})
		}
		limit := rapid.IntRange(0, 10).Draw(t, "limit")
		got := decay.Collect(all, 0.05, limit)
		if limit > 0 && len(got) > limit {
			t.Fatalf("collected %d, limit %d", len(got), limit)
		}
		if again := decay.Collect(rapid.Permutation(all).Draw(t, "order"), 0.05, limit); !slices.Equal(got, again) {
			t.Fatalf("collected %v, in another order %v", got, again)
		}
		if !slices.IsSortedFunc(got, func(a, b decay.Candidate) int { return cmp.Compare(a.Score, b.Score) }) {
			t.Fatalf("collected %v, not the lowest score first", got)
		}
	})
}

func TestUrgency(t *testing.T) {
	for _, c := range []struct {
		score float64
		want  decay.Urgency
	}{
		{0, decay.High}, {0.1499, decay.High}, {0.15, decay.Medium}, {0.2499, decay.Medium},
		{0.25, decay.Low}, {0.3499, decay.Low}, {0.35, ""}, {1, ""},
	} {
		if got := decay.UrgencyOf(c.score); got != c.want {
			t.Errorf("urgency at %v = %q, want %q", c.score, got, c.want)
		}
	}
}

func TestAction(t *testing.T) {
	for _, c := range []struct {
		score    float64
		uses     int
		strength float64
		want     decay.Action
	}{
		{0.04, 4, 1, decay.GCCandidate},
		{0.04, 5, 1, decay.Reinforce},
		{0.07, 2, 2, decay.GCCandidate},
		{0.07, 3, 1, decay.Reinforce},
		{0.20, 2, 1.5, decay.Reinforce},
		{0.20, 2, 1.4, decay.NeedsReview},
	} {
		if got := decay.ActionFor(c.score, c.uses, c.strength); got != c.want {
			t.Errorf("action at score %v, %d uses, strength %v = %q, want %q", c.score, c.uses, c.strength, got, c.want)
		}
	}
}

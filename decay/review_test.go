package decay_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"emberd/decay"
)

func TestPriorityOfOddZones(t *testing.T) {
	if got := (decay.Zone{Min: 0.2, Max: 0.2}).Priority(0.2); got != 1 {
		t.Errorf("priority in a zone of one score = %v, want 1", got)
	}
	if got := (decay.Zone{Min: 0.3, Max: 0.2}).Priority(0.25); got != 0 {
		t.Errorf("priority in a zone turned around = %v, want 0", got)
	}
}

// TestBlendNeverRepeatsOrShortens is where CortexGraph shows a memory twice, and
// drops results for reviews that it does not have.
func TestBlendNeverRepeatsOrShortens(t *testing.T) {
	itself := func(n int) int { return n }
	rapid.Check(t, func(t *rapid.T) {
		results := rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 0, 20, itself).Draw(t, "results")
		reviews := rapid.SliceOfN(rapid.IntRange(0, 60), 0, 20).Draw(t, "reviews")
		ratio := rapid.Float64Range(0, 1).Draw(t, "ratio")
		before := slices.Clone(results)

		got := decay.Blend(results, reviews, itself, ratio)
		if len(got) != len(results) {
			t.Fatalf("blended %d of %d", len(got), len(results))
		}
		if !slices.Equal(results, before) {
			t.Fatalf("the results were changed to %v", results)
		}
		seen, strange := map[int]bool{}, 0
		for _, n := range got {
			if seen[n] {
				t.Fatalf("%d is twice in %v", n, got)
			}
			seen[n] = true
			if !slices.Contains(results, n) {
				strange++
			}
		}
		if most := ratio*float64(len(results)) + 1e-9; float64(strange) > most {
			t.Fatalf("%d reviews in %v, want at most %v", strange, got, most)
		}
	})
}

func TestCrossDomainCountsTagsOnce(t *testing.T) {
	// Two tags of five are shared, whatever is repeated.
	if decay.CrossDomain(tags("a b a a b c"), tags("A B d e e e e")) {
		t.Error("tags that share two of five are taken for another domain")
	}
}

func TestInitialStrength(t *testing.T) {
	for _, c := range []struct {
		name                 string
		characters, entities int
		marker, question     bool
		want                 float64
	}{
		{"long text", 500, 0, false, false, 1.2},
		{"a marker and nothing else", 0, 0, true, false, 1.4},
		{"a short text", 16, 0, false, false, 1.0064},
		{"a marker and an entity", 38, 1, true, false, 1.4752},
		{"everything", 5000, 50, true, false, 1.9},
		{"everything, as a question", 5000, 50, true, true, 1.85},
		{"a short question", 16, 0, false, true, 1},
	} {
		if got := decay.InitialStrength(c.characters, c.entities, c.marker, c.question); !near(got, c.want, 1e-9) {
			t.Errorf("%s: strength %v, want %v", c.name, got, c.want)
		}
	}
}

package decay

import (
	"math"
	"strings"
)

// A Zone is the range of scores in which a memory is about to be lost and a
// reminder does most good: the danger zone.
type Zone struct{ Min, Max float64 }

// DefaultZone returns CortexGraph's, 0.15 to 0.35.
func DefaultZone() Zone { return Zone{Min: 0.15, Max: 0.35} }

// Priority returns how much a memory with that score needs a review, 0 to 1: a
// parabola that is 1 in the middle of the zone and 0 at its edges and outside.
func (z Zone) Priority(score float64) float64 {
	if !(score >= z.Min && score <= z.Max) {
		return 0
	}
	half := (z.Max - z.Min) / 2
	if half == 0 {
		return 1
	}
	off := (score - z.Min - half) / half
	return max(0, 1-off*off)
}

// Blend mixes what is due for review into the results of a search: every third
// place, until a share ratio of the list, rounded down, is reviews. The list
// keeps its length, so the weakest results make room; with fewer reviews than
// places the results stay. What is among the results is not shown again as a
// review, nor is a review twice. The arguments are left as they are.
func Blend[T any, K comparable](results, reviews []T, key func(T) K, ratio float64) []T {
	fresh := unseen(results, reviews, key)
	// The quotient of two decimals may lie a little below the whole number it is.
	places := int(float64(len(results))*ratio + 1e-9)
	fresh = fresh[:min(max(places, 0), len(fresh), len(results))]
	kept := results[:len(results)-len(fresh)]
	out := make([]T, 0, len(results))
	for len(out) < len(results) {
		if review := len(out)%3 == 2 || len(kept) == 0; review && len(fresh) > 0 {
			out, fresh = append(out, fresh[0]), fresh[1:]
		} else {
			out, kept = append(out, kept[0]), kept[1:]
		}
	}
	return out
}

// unseen returns the reviews that are not among the results, each once.
func unseen[T any, K comparable](results, reviews []T, key func(T) K) []T {
	seen := make(map[K]bool, len(results))
	for _, r := range results {
		seen[key(r)] = true
	}
	var fresh []T
	for _, r := range reviews {
		if k := key(r); !seen[k] {
			seen[k] = true
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// CrossDomain reports whether a memory with those tags was used in a context far
// from its own: both have tags, and of all tags less than three tenths are
// shared (the Jaccard index). Case and repetitions do not matter.
func CrossDomain(tags, context []string) bool {
	a, b := folded(tags), folded(context)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	shared := 0
	for t := range a {
		if b[t] {
			shared++
		}
	}
	return 10*shared < 3*(len(a)+len(b)-shared)
}

func folded(tags []string) map[string]bool {
	set := make(map[string]bool, len(tags))
	for _, t := range tags {
		set[strings.ToLower(t)] = true
	}
	return set
}

// The bounds of a memory's strength.
const (
	maxStrength = 2
	boost       = 0.1
)

// Boosted returns the strength after a touch that boosts it or a use in another
// domain: a tenth more, at most 2. It is rounded to four decimals, so that ten
// tenths are one.
func Boosted(strength float64) float64 {
	return min(maxStrength, math.Round((strength+boost)*1e4)/1e4)
}

// InitialStrength returns the strength of a memory whose save names none, 1 to 2,
// from its characters, its entities, and whether it says that it matters or asks
// something. The weights are CortexGraph's, where a question lowers the strength
// as its documentation says:
//
//	1 + 0.2·min(1, characters/500) + 0.3·min(1, entities/5) + 0.4·marker − 0.05·question
func InitialStrength(characters, entities int, marker, question bool) float64 {
	s := 1 + 0.2*share(characters, 500) + 0.3*share(entities, 5)
	if marker {
		s += 0.4
	}
	if question {
		s -= 0.05
	}
	return min(max(s, 1), maxStrength)
}

func share(n, of int) float64 { return min(1, float64(n)/float64(of)) }

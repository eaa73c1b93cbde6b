package dedupe

import (
	"context"

	"emberd/internal/dedupe/contradiction"
	"emberd/internal/text/analysis"
)

const (
	// maxContradictionPairs bounds the pairs that are searched for contradictions: the most
	// similar ones that differ.
	maxContradictionPairs = 2000
	// maxComparedPairs bounds the similar pairs that those are taken from.
	maxComparedPairs = 20_000
)

// A Contradiction is a pair of items that cannot both be true.
type Contradiction struct {
	Pair
	Finding contradiction.Finding // the first one
}

// Contradictions returns the similar items that contradict each other, most similar first.
// Two items that differ need not contradict each other, and they need less in common than the
// members of a cluster: related is the similarity from which texts are compared at all.
// It finds what [contradiction.Settled] does, but no news that the other text does not have yet. The error is
// that of ctx.
func Contradictions(ctx context.Context, a *analysis.Analyzer, items []Item, opt Options, related float64,
	report Progress) ([]Contradiction, error) {
	opt.Told, opt.Threshold = maxComparedPairs, min(related, opt.Threshold)
	s, pairs, err := similarPairs(ctx, a, items, opt, report)
	if err != nil {
		return nil, err
	}
	var found []Contradiction
	compared := 0
	for _, p := range pairs {
		if p.Why == "" {
			continue
		}
		if compared++; compared > maxContradictionPairs {
			break
		}
		if compared%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		findings := contradiction.Settled(s.factsOf(p.A), s.factsOf(p.B), p.Similarity, related)
		if len(findings) > 0 && findings[0].Kind != "change" {
			found = append(found, Contradiction{p, findings[0]})
		}
	}
	return found, nil
}

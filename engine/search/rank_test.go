package search_test

import (
	"testing"

	"pgregory.net/rapid"

	"emberd/engine/core"
	"emberd/engine/search"
	_ "emberd/internal/testutil/racescale"
	"emberd/op"
)

func TestTheFloorKeepsWhatItPromises(t *testing.T) {
	t.Parallel()
	factors := core.DefaultOptions().StageFactor
	rapid.Check(t, func(t *rapid.T) {
		exact := op.Explain{
			Relevance: rapid.Float64Range(0.01, 50).Draw(t, "relevance"),
			Decay:     rapid.Float64Range(0, 100).Draw(t, "decay"),
			Floor:     core.DefaultDecayFloor,
			Stage:     rapid.SampledFrom([]float64{factors.Active, factors.Demoted}).Draw(t, "stage"),
			Tier:      1,
		}
		weak := op.Explain{Relevance: exact.Relevance / 3, Decay: 1, Floor: core.DefaultDecayFloor,
			Stage: factors.Active, Tier: 1}
		if search.Rank(exact) <= search.Rank(weak) {
			t.Fatalf("exact match ranks %v, the weak one %v", search.Rank(exact), search.Rank(weak))
		}
	})
}

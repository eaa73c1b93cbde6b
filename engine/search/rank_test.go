package search_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/decay"
	"emberd/engine/search"
	_ "emberd/internal/testutil/racescale"
	"emberd/op"
)

// Whatever its age, a memory that holds all of a query ranks above one of today that holds a third of it.
func TestAgeHidesNoExactMatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const century = 100 * 365 * 24 * time.Hour
		age := time.Duration(rapid.Int64Range(0, int64(century)).Draw(t, "age"))
		exact := op.Explain{Relevance: rapid.Float64Range(0.01, 50).Draw(t, "relevance"),
			Age: decay.RankFactor(age, decay.RankExponent), Tier: 1}
		weak := op.Explain{Relevance: exact.Relevance / 3, Age: 1, Tier: 1}
		if search.Rank(exact) <= search.Rank(weak) {
			t.Fatalf("exact match ranks %v, the weak one %v", search.Rank(exact), search.Rank(weak))
		}
		if got := search.Rank(exact); math.Abs(got-exact.Relevance*exact.Age) > 1e-12 {
			t.Fatalf("rank %v is not the product of %+v", got, exact)
		}
	})
}

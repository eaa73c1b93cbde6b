package relevance_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/relevance"
)

func TestIDFFallsWithFrequencyAndStaysAboveZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.IntRange(1, 1<<30).Draw(t, "documents")
		df := rapid.IntRange(0, docs-1).Draw(t, "of them with the term")
		rare, common := relevance.IDF(docs, df), relevance.IDF(docs, df+1)
		if !(rare > common && common > 0) {
			t.Errorf("%d of %d documents: %v, one more: %v", df, docs, rare, common)
		}
	})
	if got, want := relevance.IDF(10, 2), math.Log(1+8.5/2.5); math.Abs(got-want) > 1e-12 {
		t.Errorf("2 of 10 documents: %v, want %v", got, want)
	}
	if got := relevance.IDF(1, 2); got < 0 {
		t.Errorf("more documents with the term than there are: %v", got)
	}
}

func TestShareGrowsTowardsOne(t *testing.T) {
	if got := relevance.Share(1.2, 1.2); got != 0.5 {
		t.Errorf("at the half: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		half := rapid.Float64Range(0.01, 1e6).Draw(t, "half")
		n := rapid.Float64Range(0, 1e6).Draw(t, "count")
		less, more := relevance.Share(n, half), relevance.Share(n+1, half)
		if !(0 <= less && less <= more && more <= 1) {
			t.Errorf("%v times: %v, once more: %v", n, less, more)
		}
	})
}

// A long memory is continuous where its length begins to count by its cube, and counts as eight times as long at
// twice that length.
func TestFarCountsByTheCube(t *testing.T) {
	if got := relevance.Far(relevance.MemoryFar); got != relevance.MemoryFar {
		t.Errorf("at the bound: %v", got)
	}
	if got := relevance.Far(2 * relevance.MemoryFar); got != 8*relevance.MemoryFar {
		t.Errorf("at twice the bound: %v, want %v", got, 8*relevance.MemoryFar)
	}
	if got := relevance.Far(1); got != 1 {
		t.Errorf("at the typical length: %v", got)
	}
	if got := relevance.Length(0.3, 1); got != 1 {
		t.Errorf("the average length divides by %v", got)
	}
}

package record_test

import (
	"testing"

	"pgregory.net/rapid"

	"emberd/stm/record"
)

func TestRangesAgreeWithASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r record.Ranges
		set := map[uint64]bool{}
		for _, n := range rapid.SliceOf(rapid.Uint64Range(1, 30)).Draw(t, "numbers") {
			if got := r.Add(n, n); got == set[n] {
				t.Fatalf("add(%d) = %v with %v", n, got, r.Spans)
			}
			set[n] = true
		}
		var highest uint64
		missing := 0
		for n := uint64(30); n >= 1; n-- {
			if set[n] && highest == 0 {
				highest = n
			}
			if !set[n] && highest > n && hasBelow(set, n) {
				missing++
			}
		}
		if r.Last() != highest || r.Missing(record.Ranges{}) != missing {
			t.Fatalf("last %d, missing %d; want %d, %d of %v", r.Last(), r.Missing(record.Ranges{}), highest, missing, r.Spans)
		}
	})
}

func hasBelow(set map[uint64]bool, n uint64) bool {
	for m := range set {
		if m < n {
			return true
		}
	}
	return false
}

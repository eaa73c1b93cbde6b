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
		for n := range set {
			highest = max(highest, n)
		}
		if r.Last() != highest || r.Count() != len(set) {
			t.Fatalf("last %d, %d numbers; want %d, %d of %v", r.Last(), r.Count(), highest, len(set), r.Spans)
		}
		for _, gap := range r.Gaps(highest) {
			for n := gap[0]; n <= gap[1]; n++ {
				if set[n] {
					t.Fatalf("%d is in the gap %v of %v", n, gap, r.Spans)
				}
				set[n] = true
			}
		}
		if len(set) != int(highest) {
			t.Fatalf("the gaps %v of %v leave numbers out", r.Gaps(highest), r.Spans)
		}
	})
}

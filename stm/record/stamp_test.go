package record_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/stm/record"
)

func TestStampsKeepOrderWhateverTheClockDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(1_700_000_000_000)
		c := record.Clock{Now: func() time.Time { return now }}
		copy(c.Dev[:], "k7q2mzxa")
		last := record.Stamp{}
		for range 50 {
			now = now.Add(time.Duration(rapid.Int64Range(-5000, 5000).Draw(t, "ms")) * time.Millisecond)
			next := c.Next()
			if !next.After(last) || next.String() <= last.String() && !last.IsZero() {
				t.Fatalf("%s does not come after %s", next, last)
			}
			if back, err := record.ParseStamp(next.String()); err != nil || back != next {
				t.Fatalf("%s reads back as %s, %v", next, back, err)
			}
			last = next
		}
	})
}

func TestACounterThatOverflowsCarries(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	c := record.Clock{Now: func() time.Time { return now }, Last: uint64(now.UnixMilli())<<16 | 0xffff}
	if got := c.Next(); got.Time() != now.Add(time.Millisecond).UTC() || got.T&0xffff != 0 {
		t.Errorf("after overflow: %s", got)
	}
}

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

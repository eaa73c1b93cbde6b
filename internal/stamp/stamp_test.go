package stamp_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/stamp"
)

func TestStampsKeepOrderWhateverTheClockDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(1_700_000_000_000)
		c := stamp.Clock{Now: func() time.Time { return now }}
		copy(c.Dev[:], "k7q2mzxa")
		last := stamp.Stamp{}
		for range 50 {
			now = now.Add(time.Duration(rapid.Int64Range(-5000, 5000).Draw(t, "ms")) * time.Millisecond)
			next := c.Next()
			if !next.After(last) || next.String() <= last.String() && !last.IsZero() {
				t.Fatalf("%s does not come after %s", next, last)
			}
			if back, err := stamp.Parse(next.String()); err != nil || back != next {
				t.Fatalf("%s reads back as %s, %v", next, back, err)
			}
			last = next
		}
	})
}

func TestACounterThatOverflowsCarries(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	c := stamp.Clock{Now: func() time.Time { return now }, Last: uint64(now.UnixMilli())<<16 | 0xffff}
	if got := c.Next(); got.Time() != now.Add(time.Millisecond).UTC() || got.T&0xffff != 0 {
		t.Errorf("after overflow: %s", got)
	}
}

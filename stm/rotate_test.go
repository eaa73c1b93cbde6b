package stm_test

import (
	"testing"

	"emberd/stm/wal"
)

// A segment that follows another takes the next number, and nobody is suspected of having
// taken that before.
func TestSegmentsFollowOneAnother(t *testing.T) {
	ts := openStore(t, wal.Options{SegmentBytes: 1}) // every save begins a segment
	for range 4 {
		ts.save("apple pie")
	}
	if w := ts.Status().Warnings; len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
	if got := len(ts.segments()); got != 4 {
		t.Errorf("%d segments", got)
	}
}

package similar_test

import (
	"testing"
	"time"

	"emberd/engine/similar"
)

func TestLatestDate(t *testing.T) {
	t.Parallel()
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	for text, want := range map[string]time.Time{
		"":                                {},
		"in 2025":                         {},
		"on 2025-13-01":                   {},
		"as of (2025-02-03), that":        day(2025, 2, 3),
		"2025/02/03 and 2024-05":          day(2025, 2, 3),
		"since 3 March 2024.":             day(2024, 3, 3),
		"March 3, 2024":                   day(2024, 3, 3),
		"by Sep 2026, or so":              day(2026, 9, 1),
		"30 February 2024 is no day":      day(2024, 2, 1),
		"2024-01-01, no, 12 January 2024": day(2024, 1, 12),
	} {
		if got := similar.LatestDate(text); !got.Equal(want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

package when

import (
	"testing"
	"time"
)

func TestAPeriodIsAllOfWhatItNames(t *testing.T) {
	for _, tt := range []struct {
		text       string
		begin, end time.Time
	}{
		{"2026", date3(2026, 1, 1), date3(2027, 1, 1)},
		{"2026-12", date3(2026, 12, 1), date3(2027, 1, 1)},
		{"2026/2", date3(2026, 2, 1), date3(2026, 3, 1)},
		{"2024-02-29", date3(2024, 2, 29), date3(2024, 3, 1)},
		{"today", date3(2026, 5, 14), date3(2026, 5, 15)},
		{"Yesterday", date3(2026, 5, 13), date3(2026, 5, 14)},
		{"7d", date3(2026, 5, 7), date3(2026, 5, 8)},
		{"2w", date3(2026, 4, 30), date3(2026, 5, 1)},
		{"1y", date3(2025, 5, 14), date3(2025, 5, 15)},
	} {
		begin, end, ok := Period(tt.text, now)
		if !ok || !begin.Equal(tt.begin) || !end.Equal(tt.end) {
			t.Errorf("%s is from %v to %v (%v), want %v to %v", tt.text, begin, end, ok, tt.begin, tt.end)
		}
	}
	for _, text := range []string{"soon", "", "7", "2026-13"} {
		if begin, end, ok := Period(text, now); ok {
			t.Errorf("%q is from %v to %v, want none", text, begin, end)
		}
	}
}

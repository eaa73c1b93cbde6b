package when

import (
	"strconv"
	"strings"
	"time"
)

// firstYear keeps every date apart from the zero time and four digits long.
const firstYear = 1000

// Period returns the first moment of the day, month or year that v names and the first
// moment after it, in the zone of now: 2026, 2026-03, 2026-03-09 (with - or /), today,
// yesterday, or an age as in 7d, 2w, 3m or 1y, which is one day. It reports false for
// anything else.
func Period(v string, now time.Time) (begin, end time.Time, ok bool) {
	begin, ok = parseDay(v, now)
	y, m, d := begin.Date()
	switch parts := strings.Count(v, "-") + strings.Count(v, "/"); {
	case strings.Trim(v, "0123456789") == "":
		y, m, d = y+1, 1, 1
	case parts == 1:
		m, d = m+1, 1
	default:
		d++
	}
	end, _ = startOfDay(y, m, d, now.Location())
	return begin, end, ok
}

// parseDay returns the beginning of the day, month or year that v names.
func parseDay(v string, now time.Time) (day time.Time, ok bool) {
	y, m, d := now.Date()
	v = strings.ToLower(v)
	switch v {
	case "today":
		return startOfDay(y, m, d, now.Location())
	case "yesterday":
		return startOfDay(y, m, d-1, now.Location())
	}
	if n, unit, ok := parseAge(v); ok {
		switch unit {
		case "d":
			return startOfDay(y, m, d-n, now.Location())
		case "w":
			return startOfDay(y, m, d-7*n, now.Location())
		case "m", "mo":
			return monthsAgo(n, now)
		case "y":
			return monthsAgo(12*n, now)
		}
	}
	for _, layout := range []string{"2006-1-2", "2006-1", "2006"} {
		if t, err := time.Parse(layout, strings.ReplaceAll(v, "/", "-")); err == nil {
			y, m, d := t.Date()
			return startOfDay(y, m, d, now.Location())
		}
	}
	return time.Time{}, false
}

// parseAge takes 7d apart into number and unit.
func parseAge(v string) (n int, unit string, ok bool) {
	digits := strings.TrimRight(v, "dwmoy")
	n, err := strconv.Atoi(digits)
	const limit = 99_999 // far more than there are days since firstYear, in years
	return n, v[len(digits):], err == nil && 0 <= n && n <= limit && digits[0] != '+' && digits[0] != '-'
}

// monthsAgo returns the same day n months ago, or the last of that month if it
// is shorter.
func monthsAgo(n int, now time.Time) (day time.Time, ok bool) {
	y, m, d := now.Date()
	last := time.Date(y, m-time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return startOfDay(y, m-time.Month(n), min(d, last), now.Location())
}

// startOfDay returns the first moment of a day, which is not midnight where the
// clocks go forward at midnight. It reports false before firstYear.
func startOfDay(y int, m time.Month, d int, zone *time.Location) (day time.Time, ok bool) {
	day = time.Date(y, m, d, 0, 0, 0, 0, zone)
	if noon := time.Date(y, m, d, 12, 0, 0, 0, zone); day.Day() != noon.Day() {
		_, day = day.ZoneBounds()
	}
	return day, day.Year() >= firstYear
}

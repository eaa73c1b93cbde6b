package importer

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// DateOrder says how to read a date such as 04/11/2025.
type DateOrder int

// The orders. With OrderUnknown a date that may be read both ways is not read.
const (
	OrderUnknown DateOrder = iota
	DayFirst
	MonthFirst
)

// ParseTime reads RFC 3339, in UTC when it names no zone, a day, seconds or milliseconds
// since 1970, and what spreadsheets write: see [ParseDate]. A date that may be read both ways is none.
func ParseTime(text string) (time.Time, bool) { return ParseDate(text, OrderUnknown) }

// ParseDate reads what [ParseTime] reads, with or without a time of day:
//
//	2025-04-11, 2025/04/11, 11.04.2025, 11 Apr 2025, April 11, 2025, 11/04/2025
//
// Points stand between day, month and year. Slashes stand between month, day and year as well, so a date with
// slashes is read if only one order gives a date, or if both give the same, or as order says.
func ParseDate(text string, order DateOrder) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return epoch(n)
	}
	if t, ok := parseAny(text, time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04"); ok {
		return t, true
	}
	if t, ok := parseDay(text, "2006-1-2", "2006/1/2", "2.1.2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006",
		"January 2, 2006"); ok {
		return t, true
	}
	return slashed(text, order)
}

// slashed reads a date with slashes whose year is last.
func slashed(text string, order DateOrder) (time.Time, bool) {
	dayFirst, isDayFirst := parseDay(text, "2/1/2006")
	monthFirst, isMonthFirst := parseDay(text, "1/2/2006")
	switch {
	case isDayFirst && isMonthFirst && !dayFirst.Equal(monthFirst):
		if order == MonthFirst {
			return monthFirst, true
		}
		return dayFirst, order == DayFirst
	case isMonthFirst:
		return monthFirst, true
	}
	return dayFirst, isDayFirst
}

// IsAmbiguous reports whether text is a date that may be read both ways.
func IsAmbiguous(text string) bool {
	_, ok := ParseDate(text, OrderUnknown)
	_, ordered := ParseDate(text, DayFirst)
	return !ok && ordered
}

// parseDay reads a day in one of the layouts, alone or with a time of day.
func parseDay(text string, days ...string) (time.Time, bool) {
	for _, day := range days {
		t, ok := parseAny(text, day, day+" 15:04:05.999999999", day+" 15:04", day+" 3:04:05 PM", day+" 3:04 PM")
		if ok {
			return t, true
		}
	}
	return time.Time{}, false
}

func parseAny(text string, layouts ...string) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// epoch tells seconds from milliseconds by size: seconds reach 1e11 only in the year 5138,
// milliseconds did so in 1973.
func epoch(n float64) (time.Time, bool) {
	if math.Abs(n) < 1e11 {
		n *= 1000
	}
	if !(math.Abs(n) < 1e14) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(math.Round(n))).UTC(), true
}

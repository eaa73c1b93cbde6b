package importer

import (
	"math"
	"slices"
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
// The names of months are English or German, and a day of the week can stand before the date. Points stand between
// day, month and year. Slashes stand between month, day and year as well, so a date with slashes is read if only one
// order gives a date, or if both give the same, or as order says. A year of two digits stands last or first, and the
// same holds for it.
func ParseDate(text string, order DateOrder) (time.Time, bool) {
	text = englishNames(strings.TrimSpace(text))
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return epoch(n)
	}
	if t, err := parseAny(text, fullLayouts()...); err == nil {
		return t, true
	}
	if t, err := parseAny(text, dayLayouts()...); err == nil {
		return t, true
	}
	return ordered(text, order)
}

// HasMissingDay reports whether text is a date whose day its month does not have, such as 29.02.2026.
func HasMissingDay(text string) bool {
	_, err := parseAny(englishNames(strings.TrimSpace(text)),
		slices.Concat(fullLayouts(), dayLayouts(), withTimes("2/1/2006"), withTimes("1/2/2006"))...)
	return err != nil && strings.HasSuffix(err.Error(), noSuchDay)
}

// fullLayouts are those of a day with a time of day.
func fullLayouts() []string {
	return []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04"}
}

// dayLayouts are those of a day that can be read one way only, alone or with a time of day.
func dayLayouts() []string {
	return withTimes("2006-1-2", "2006/1/2", "2.1.2006", "2 Jan 2006", "2 January 2006", "2. Jan 2006",
		"2. January 2006", "Jan 2, 2006", "January 2, 2006")
}

// withTimes returns layouts of days, alone and with a time of day.
func withTimes(days ...string) (layouts []string) {
	for _, day := range days {
		layouts = append(layouts, day, day+" 15:04:05.999999999", day+" 15:04", day+" 3:04:05 PM", day+" 3:04 PM")
	}
	return layouts
}

// ordered reads a date whose day, month and year can stand in several orders: with slashes, or with a year of two
// digits. If two of them give a date, it is read as order says. Points never stand between month, day and year.
func ordered(text string, order DateOrder) (time.Time, bool) {
	var days []time.Time
	for _, layout := range []string{"2/1/2006", "2/1/06", "2.1.06", "1/2/2006", "1/2/06", "06/1/2", "06.1.2"} {
		t, err := parseAny(text, withTimes(layout)...)
		if err != nil || slices.ContainsFunc(days, t.Equal) {
			continue
		}
		if order == DayFirst && layout[0] == '2' || order == MonthFirst && layout[0] == '1' {
			return t, true
		}
		days = append(days, t)
	}
	if len(days) != 1 {
		return time.Time{}, false
	}
	return days[0], true
}

// IsAmbiguous reports whether text is a date that may be read both ways.
func IsAmbiguous(text string) bool {
	_, ok := ParseDate(text, OrderUnknown)
	_, ordered := ParseDate(text, DayFirst)
	return !ok && ordered
}

// parseAny reads text by the first layout that fits. The error is one about a day that does not exist, if any is.
func parseAny(text string, layouts ...string) (t time.Time, missing error) {
	for _, layout := range layouts {
		t, err := time.Parse(layout, text)
		if err == nil {
			return t.UTC(), nil
		}
		if missing == nil || strings.HasSuffix(err.Error(), noSuchDay) {
			missing = err
		}
	}
	return time.Time{}, missing
}

// germanNames are words of a date that are not English as well.
func germanNames() map[string]string {
	return map[string]string{"januar": "Jan", "februar": "Feb", "märz": "Mar", "mär": "Mar", "mai": "May",
		"juni": "Jun", "juli": "Jul", "oktober": "Oct", "okt": "Oct", "dezember": "Dec", "dez": "Dec"}
}

// weekdays are the days of the week that can stand before a date.
func weekdays() []string {
	return []string{"mon", "monday", "tue", "tuesday", "wed", "wednesday", "thu", "thursday", "fri", "friday", "sat",
		"saturday", "sun", "sunday", "mo", "montag", "di", "dienstag", "mi", "mittwoch", "do", "donnerstag", "fr",
		"freitag", "sa", "samstag", "sonnabend", "so", "sonntag"}
}

// englishNames removes the day of the week from a date, and writes a German month in English.
func englishNames(text string) string {
	words := strings.Fields(text)
	plain := func(word string) string { return strings.ToLower(strings.Trim(word, ".,")) }
	if len(words) > 1 && slices.Contains(weekdays(), plain(words[0])) {
		words = words[1:]
	}
	for i, word := range words {
		if name := germanNames()[plain(word)]; name != "" {
			words[i] = name
		}
	}
	return strings.Join(words, " ")
}

// noSuchDay ends the error of [time.Parse] about a day that its month does not have.
const noSuchDay = ": day out of range"

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

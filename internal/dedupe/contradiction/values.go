package contradiction

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// value is a number, version, date or time in a text.
type value struct {
	kind   string  // number, version, date, weekday or time
	amount float64 // of a number, in its unit; of a time, minutes of the day
	unit   string  // what amounts are compared in, such as ms, B, % or $; "" for a count
	plain  float64 // the numeral, before the unit scaled it
	parts  string  // of a version, what it is compared by
	year   int     // of a date; 0 is unknown
	month  int
	day    int     // of a weekday, from 1
	lo, hi float64 // what the amount may be: both the same unless about, at most or a range
	limit  limit   // whether the amount is one that may not be passed
	open   bool    // of a limit, the amount itself is beyond it
	spelt  bool    // "two"
}

// scale reports what a unit is compared in, and how many of those it is.
type scale struct {
	unit  string
	times float64
}

// unitOf knows the units of time and of size, the percent and the short forms of numbers.
func unitOf(word string) (scale, bool) {
	switch word {
	case "ns", "nanosecond", "nanoseconds":
		return scale{"ms", 1e-6}, true
	case "us", "µs", "μs", "microsecond", "microseconds":
		return scale{"ms", 1e-3}, true
	case "ms", "msec", "millisecond", "milliseconds":
		return scale{"ms", 1}, true
	case "s", "sec", "secs", "second", "seconds":
		return scale{"ms", 1e3}, true
	case "min", "mins", "minute", "minutes":
		return scale{"ms", 60e3}, true
	case "h", "hr", "hrs", "hour", "hours":
		return scale{"ms", 3600e3}, true
	case "d", "day", "days":
		return scale{"ms", 86400e3}, true
	case "week", "weeks":
		return scale{"ms", 7 * 86400e3}, true
	case "month", "months":
		return scale{"ms", 365.25 / 12 * 86400e3}, true
	case "year", "years":
		return scale{"ms", 365.25 * 86400e3}, true
	case "%", "percent", "pct":
		return scale{"%", 1}, true
	}
	if unit := unitNames()[word]; unit != "" {
		return scale{unit, 1}, true
	}
	return sizeOf(word)
}

func sizeOf(word string) (scale, bool) {
	switch word {
	case "b", "byte", "bytes":
		return scale{"B", 1}, true
	case "kv":
		return scale{"v", 1e3}, true
	case "mv":
		return scale{"v", 1e-3}, true
	case "kw":
		return scale{"w", 1e3}, true
	case "kb", "kilobyte", "kilobytes":
		return scale{"B", 1e3}, true
	case "mb", "megabyte", "megabytes":
		return scale{"B", 1e6}, true
	case "gb", "gigabyte", "gigabytes":
		return scale{"B", 1e9}, true
	case "tb", "terabyte", "terabytes":
		return scale{"B", 1e12}, true
	case "kib":
		return scale{"B", 1 << 10}, true
	case "mib":
		return scale{"B", 1 << 20}, true
	case "gib":
		return scale{"B", 1 << 30}, true
	case "tib":
		return scale{"B", 1 << 40}, true
	}
	for _, u := range [...]string{"km", "cm", "mm", "kg", "mg", "hz", "khz", "mhz", "ghz", "kbps", "mbps", "gbps",
		"qps", "rps", "kwh", "ml", "°c", "°f", "px", "pt", "fps", "degrees", "miles"} {
		if word == u {
			return scale{u, 1}, true
		}
	}
	return scale{}, false
}

// read makes a value of one word in lower case, without regard to what stands around it.
func read(lower string) (value, bool) {
	if n, ok := spelt(lower); ok {
		return value{kind: "number", amount: n, plain: n, lo: n, hi: n, spelt: true}, true
	}
	if day := weekdayOf(lower); day > 0 {
		return value{kind: "weekday", day: day}, true
	}
	if !strings.ContainsAny(lower, "0123456789") {
		return value{}, false
	}
	if v, ok := readDate(lower); ok {
		return v, true
	}
	if v, ok := readTime(lower); ok {
		return v, true
	}
	if v, ok := readVersion(lower); ok {
		return v, true
	}
	if digits, hex := strings.CutPrefix(lower, "0x"); hex {
		n, err := strconv.ParseUint(digits, 16, 52) // what a float has exactly
		x := float64(n)
		return value{kind: "number", amount: x, plain: x, lo: x, hi: x, parts: lower}, err == nil
	}
	return readNumber(lower)
}

func readDate(word string) (value, bool) {
	for _, sep := range [...]string{"-", "/", "."} {
		parts := strings.Split(word, sep)
		if sep == "." { // 31.12.2026
			slices.Reverse(parts)
		}
		if len(parts) != 3 || len(parts[0]) != 4 {
			continue
		}
		y, err1 := strconv.Atoi(parts[0])
		m, err2 := strconv.Atoi(parts[1])
		d, err3 := strconv.Atoi(parts[2])
		if err1 == nil && err2 == nil && err3 == nil && m >= 1 && m <= 12 && d >= 1 && d <= 31 {
			return value{kind: "date", year: y, month: m, day: d}, true
		}
	}
	return value{}, false
}

// readTime reads 14:30, 2pm and 2:30pm.
func readTime(word string) (value, bool) {
	clock, afternoon := strings.CutSuffix(strings.ReplaceAll(word, ".", ""), "pm")
	clock, morning := strings.CutSuffix(clock, "am")
	hours, minutes, colon := strings.Cut(clock, ":")
	if !colon {
		minutes = "0"
	}
	h, err1 := strconv.Atoi(hours)
	m, err2 := strconv.Atoi(minutes)
	if !colon && !afternoon && !morning || err1 != nil || err2 != nil || h < 0 || h > 24 ||
		m < 0 || m > 59 || colon && len(minutes) != 2 {
		return value{}, false
	}
	if afternoon && h < 12 {
		h += 12
	}
	if morning && h == 12 {
		h = 0
	}
	at := float64(60*h + m)
	return value{kind: "time", amount: at, lo: at, hi: at}, true
}

// readVersion reads v2, v2.1 and 1.2.3.
func readVersion(word string) (value, bool) {
	digits, v := strings.CutPrefix(word, "v")
	core, rest, _ := strings.Cut(digits, "-")
	dots := strings.Count(core, ".")
	if !v && dots < 2 {
		return value{}, false
	}
	for part := range strings.SplitSeq(core, ".") {
		if part == "" || len(part) > 6 || strings.ContainsFunc(part, func(r rune) bool { return r < '0' || r > '9' }) {
			return value{}, false
		}
	}
	if rest != "" {
		core += "-" + rest
	}
	return value{kind: "version", parts: core}, true
}

// readNumber reads 1,000 and 2k, 12ms and 40%, $5, 3rd, ~200.
func readNumber(word string) (value, bool) {
	v := value{kind: "number"}
	bare := strings.TrimLeft(word, "~≈<>≤≥+")
	loose := limitOf(word[:len(word)-len(bare)])
	word = bare
	for _, sign := range [...]string{"$", "€", "£"} {
		if s, ok := strings.CutPrefix(word, sign); ok {
			word, v.unit = s, sign
		}
	}
	end := strings.LastIndexAny(word, "0123456789") + 1
	n, err := strconv.ParseFloat(decimal(word[:end]), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) || strings.ContainsAny(word[:end], "xXeEpP_") {
		return value{}, false
	}
	v.amount, v.plain, v.parts = n, n, word[:end]
	suffix := strings.TrimSuffix(strings.TrimPrefix(word[end:], "-"), "+")
	if strings.HasSuffix(word, "+") {
		loose = atLeast
	}
	switch suffix {
	case "", "st", "nd", "rd", "th":
	case "k":
		v.amount = n * 1e3
	case "m", "mio":
		v.amount = n * 1e6
	case "bn":
		v.amount = n * 1e9
	default:
		u, ok := unitOf(suffix)
		if !ok || v.unit != "" {
			return value{}, false
		}
		v.unit, v.amount = u.unit, n*u.times
	}
	v.thousands()
	v.loosen(loose)
	return v, true
}

// thousands reads the dot before three digits of a price as the mark of thousands that it is in German and Spanish:
// prices have two decimals.
func (v *value) thousands() {
	whole, part, dot := strings.Cut(v.parts, ".")
	if dot && len(part) == 3 && len(whole) <= 3 && strings.Contains("€$£", v.unit) && v.unit != "" {
		v.amount, v.plain, v.lo, v.hi = 1e3*v.amount, 1e3*v.plain, 1e3*v.lo, 1e3*v.hi
	}
}

// decimal writes a number with a decimal point and without marks of thousands. A comma before three digits is
// such a mark, and before others the decimal one: 1,000 and 985,50.
func decimal(digits string) string {
	whole, part, comma := strings.Cut(digits, ",")
	if !comma || len(part) == 3 || strings.ContainsAny(part, ",.") {
		return strings.ReplaceAll(digits, ",", "")
	}
	return strings.ReplaceAll(whole, ".", "") + "." + part
}

// limit is how exactly a number is meant.
type limit int

const (
	exactly limit = iota
	about         // within a fifth
	atMost
	atLeast
)

func limitOf(word string) limit {
	switch word {
	case "~", "≈", "about", "around", "roughly", "approximately", "approx", "nearly", "almost", "some", "circa", "ca":
		return about
	case "<", "≤", "<=", "under", "below", "most", "maximum", "max", "within", "up":
		return atMost
	case ">", "≥", ">=", "+", "over", "above", "least", "minimum", "min", "than":
		return atLeast
	}
	return exactly
}

// loosen notes what the amount may be.
func (v *value) loosen(l limit) {
	v.lo, v.hi, v.limit, v.open = v.amount, v.amount, l, false
	switch l {
	case about:
		v.lo, v.hi = v.amount-math.Abs(v.amount)/5, v.amount+math.Abs(v.amount)/5
	case atMost:
		v.lo = math.Inf(-1)
	case atLeast:
		v.hi = math.Inf(1)
	}
}

// spelt reads a number in words.
func spelt(word string) (float64, bool) {
	switch word {
	case "zero":
		return 0, true
	case "one":
		return 1, true
	case "two":
		return 2, true
	case "three":
		return 3, true
	case "four":
		return 4, true
	case "five":
		return 5, true
	case "six":
		return 6, true
	case "seven":
		return 7, true
	case "eight":
		return 8, true
	case "nine":
		return 9, true
	case "ten":
		return 10, true
	case "eleven":
		return 11, true
	case "twelve", "dozen":
		return 12, true
	case "fifteen":
		return 15, true
	case "twenty":
		return 20, true
	case "thirty":
		return 30, true
	case "forty":
		return 40, true
	case "fifty":
		return 50, true
	case "sixty":
		return 60, true
	case "ninety":
		return 90, true
	case "hundred":
		return 100, true
	case "thousand":
		return 1000, true
	case "million":
		return 1e6, true
	}
	return 0, false
}

// weekdayOf is the number of a day of the week in English, German, French or Spanish, 0 for what is
// none. More than one such day is the same one each week.
func weekdayOf(word string) int {
	for _, w := range [...]string{word, strings.TrimSuffix(word, "s")} {
		switch w {
		case "monday", "montag", "lundi", "lunes", "lune":
			return 1
		case "tuesday", "dienstag", "mardi", "martes":
			return 2
		case "wednesday", "mittwoch", "mercredi", "miércoles":
			return 3
		case "thursday", "donnerstag", "jeudi", "jueves":
			return 4
		case "friday", "freitag", "vendredi", "viernes":
			return 5
		case "saturday", "samstag", "sonnabend", "samedi", "sábado":
			return 6
		case "sunday", "sonntag", "dimanche", "domingo":
			return 7
		}
	}
	return 0
}

// monthOf is the number of a month in words, 0 for what is none. Short words that mean
// something else as well have to begin with a capital.
func monthOf(word string) int {
	for i, m := range [...]string{"janvier", "février", "", "avril", "", "juin", "juillet", "août", "", "octobre", "",
		"décembre"} {
		if word == m {
			return i + 1
		}
	}
	first, _ := utf8.DecodeRuneInString(word)
	if !unicode.IsUpper(first) {
		return 0
	}
	lower := strings.ToLower(word)
	for i, m := range [...]string{"januar", "februar", "märz", "", "mai", "juni", "juli", "", "", "oktober", "",
		"dezember"} {
		if lower == m {
			return i + 1
		}
	}
	for i, m := range [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
		"october", "november", "december"} {
		if lower == m || len(lower) >= 3 && len(lower) <= 4 && strings.HasPrefix(m, lower) {
			return i + 1
		}
	}
	return 0
}

// alike reports whether two values may answer one question: they are of one kind, or a
// version that looks like a number.
func (v *value) alike(w *value) bool {
	return v.kind == w.kind || v.kind+w.kind == "numberversion" || v.kind+w.kind == "versionnumber"
}

// agrees reports whether both values may hold of one thing: they are equal, or one leaves
// room for the other.
func (v *value) agrees(w *value) bool {
	if !v.alike(w) {
		return false
	}
	kind := v.kind
	if v.kind != w.kind {
		kind = "version"
	}
	switch kind {
	case "date":
		return (v.year == w.year || v.year*w.year == 0) && (v.month == w.month || v.month*w.month == 0) &&
			(v.day == w.day || v.day*w.day == 0)
	case "weekday":
		return v.day == w.day
	case "version":
		return v.parts == w.parts || strings.HasPrefix(v.parts, w.parts+".") || strings.HasPrefix(w.parts, v.parts+".")
	}
	if v.unit != w.unit {
		return false
	}
	const hair = 1e-9
	equal := math.Abs(v.amount-w.amount) <= hair*math.Abs(v.amount)
	switch {
	case v.limit > about && v.limit == w.limit: // two limits, and no amount
		return equal
	case v.limit > about && w.limit > about: // a range, unless nothing or one amount is left
		return !equal && (v.amount < w.amount) == (v.limit == atLeast)
	case equal && (v.open && w.limit == exactly && w.lo == w.hi || w.open && v.limit == exactly && v.lo == v.hi):
		return false
	}
	return v.lo <= w.hi+hair*math.Abs(w.hi) && w.lo <= v.hi+hair*math.Abs(v.hi) || v.lo == w.lo || v.hi == w.hi
}

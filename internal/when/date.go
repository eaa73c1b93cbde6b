package when

import (
	"strings"
	"time"
)

const (
	// Years of a date by its parts, and how far from now a number may be that stands for
	// a year by itself.
	firstNamed, lastNamed   = 1800, 2199
	yearsBefore, yearsAfter = 60, 5

	seasonMonths   = 3
	quarterMonths  = 3
	yearsInADecade = 10
	maxDayOfMonth  = 31
)

// date is a date by its parts, as far as they are named.
type date struct {
	year, years int        // 0 for none
	month       time.Month // 0 for none
	months      int        // from month, 0 for one
	day         int        // 0 for none
}

// last is the year of the last such date that began before now.
func (d date) last(now time.Time) int {
	if time.Date(now.Year(), d.month, max(d.day, 1), 0, 0, 0, 0, now.Location()).After(now) {
		return now.Year() - 1
	}
	return now.Year()
}

// resolve turns a date into times.
func (p *parser) resolve(d date) times {
	if d.year == 0 && d.month != 0 {
		d.year = d.last(p.now)
	}
	switch {
	case d.year == 0:
		return times{}
	case d.month == 0:
		return p.days(d.year, 1, 1, d.year+max(d.years, 1), 1, 1)
	case d.day == 0:
		return p.days(d.year, d.month, 1, d.year, d.month+time.Month(max(d.months, 1)), 1)
	}
	return p.days(d.year, d.month, d.day, d.year, d.month, d.day+1)
}

// date reads a date by its parts. What precedes it may announce it.
func (p *parser) date(i int, announced bool) (date, int) {
	if i >= len(p.tokens) {
		return date{}, i
	}
	if text := p.tokens[i].text; strings.ContainsAny(text[:1], "0123456789q") {
		if d, ok := written(text); ok {
			return d, i + 1
		}
	}
	for _, read := range []func(int, bool) (date, int){p.dayMonth, p.monthDay, p.season, p.quarter, p.year} {
		if d, end := read(i, announced); end > i && d.exists() {
			return d, end
		}
	}
	return date{}, i
}

// exists reports whether there is such a day.
func (d date) exists() bool {
	y := d.year
	if y == 0 {
		y = 2000 // any leap year
	}
	return d.day == 0 || d.day <= time.Date(y, d.month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// written reads dates of digits: 2024-05, 2024/05/03, 2024-05-03T10:00, 03.05.2023, 25/12/2023,
// 2023/24, 2024-Q2 and 1990s.
func written(text string) (date, bool) {
	if day, clock, ok := strings.Cut(text, "t"); ok && len(day) == len(time.DateOnly) &&
		strings.Trim(clock, "0123456789:.,+-z") == "" {
		text = day
	}
	for _, layout := range []string{"2006-1-2", "2006/1/2", "2006-01", "2006/01", "2.1.2006", "2-1-2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			d := date{year: t.Year(), month: t.Month(), day: t.Day()}
			if strings.HasSuffix(layout, "01") {
				d.day = 0
			}
			return d, isNamed(d.year)
		}
	}
	return slashed(text)
}

// slashed reads 12/25/2023 and 25/12/2023 where only one order of day and month is possible,
// and what else is no layout of the time package.
func slashed(text string) (date, bool) {
	us, usErr := time.Parse("1/2/2006", text)
	eu, euErr := time.Parse("2/1/2006", text)
	switch {
	case usErr == nil && (euErr != nil || us.Equal(eu)):
		return date{year: us.Year(), month: us.Month(), day: us.Day()}, isNamed(us.Year())
	case euErr == nil && usErr != nil:
		return date{year: eu.Year(), month: eu.Month(), day: eu.Day()}, isNamed(eu.Year())
	}
	for _, s := range []string{"s", "er"} {
		if y := numberOf(strings.TrimSuffix(text, s)); strings.HasSuffix(text, s) && y%yearsInADecade == 0 &&
			isNamed(y) {
			return date{year: y, years: yearsInADecade}, true
		}
	}
	for _, sep := range []string{"-", "/"} {
		a, b, _ := strings.Cut(text, sep)
		for _, yq := range [][2]string{{a, b}, {b, a}} {
			if y, q := numberOf(yq[0]), quarterOf(yq[1]); q > 0 && isNamed(y) {
				return date{year: y, month: q, months: quarterMonths}, true
			}
		}
	}
	return date{}, false
}

func isNamed(year int) bool { return firstNamed <= year && year <= lastNamed }

// quarterOf is the first month of a quarter, 0 for none.
func quarterOf(text string) time.Month {
	if len(text) == 2 && text[0] == 'q' && '1' <= text[1] && text[1] <= '4' {
		return time.Month(text[1]-'1')*quarterMonths + 1
	}
	return 0
}

// dayMonth reads 3 May, 3rd of May, 3. Mai, 3 de mayo, all with a year or without.
func (p *parser) dayMonth(i int, announced bool) (date, int) {
	t := p.tokens[i]
	if t.number < 1 || t.number > maxDayOfMonth || t.stop {
		return date{}, i
	}
	at := p.skip(i+1, 1, ofs())
	m, ok := months()[p.word(at)]
	if !ok {
		return date{}, i
	}
	d := date{month: m.Month, day: t.number}
	end := p.withYear(&d, at+1)
	if d.year == 0 && !m.sure && !announced && !t.ordinal && !p.tokens[at].capital {
		return date{}, i
	}
	return d, end
}

// monthDay reads May 3 and May, with a year or without.
func (p *parser) monthDay(i int, announced bool) (date, int) {
	t := p.tokens[i]
	m, ok := months()[t.text]
	if !ok {
		return date{}, i
	}
	d, end, ordinal := date{month: m.Month}, i+1, false
	if p.goesOn(end) && 1 <= p.tokens[end].number && p.tokens[end].number <= maxDayOfMonth {
		d.day, ordinal = p.tokens[end].number, p.tokens[end].ordinal
		end++
	}
	end = p.withYear(&d, end)
	if d.year != 0 || m.sure || announced && !p.isVerb(i) || d.day != 0 && (t.capital || ordinal) {
		return d, end
	}
	return date{}, i
}

// isVerb reports whether a word that means a month, too, is used as another: after "this",
// may goes with what may be.
func (p *parser) isVerb(i int) bool {
	word := p.word(i)
	return (word == "may" || word == "march") && !p.tokens[i].capital && turns()[p.word(i-1)] == 0 &&
		p.word(i-1) == "this"
}

// withYear takes in the year that stands behind the parts of a date.
func (p *parser) withYear(d *date, i int) (end int) {
	if !p.goesOn(i) {
		return i
	}
	at := p.skip(i, 1, ofs())
	if at >= len(p.tokens) || !isNamed(p.tokens[at].number) {
		return i
	}
	d.year = p.tokens[at].number
	return at + 1
}

// season reads summer 2023, winter of 2022 and, where it is announced, the summer.
func (p *parser) season(i int, announced bool) (date, int) {
	m, ok := seasons()[p.word(i)]
	if !ok {
		return date{}, i
	}
	d := date{month: m, months: seasonMonths}
	end := p.withYear(&d, i+1)
	if d.year == 0 && (!announced || !articles()[p.word(i-1)] && p.word(i-1) != "im") {
		return date{}, i
	}
	return d, end
}

// quarter reads Q2 2024, 2024 Q2 and Q2.
func (p *parser) quarter(i int, _ bool) (date, int) {
	if q := quarterOf(p.word(i)); q > 0 {
		d := date{month: q, months: quarterMonths}
		return d, p.withYear(&d, i+1)
	}
	if q := quarterOf(p.word(i + 1)); q > 0 && isNamed(p.tokens[i].number) {
		return date{year: p.tokens[i].number, month: q, months: quarterMonths}, i + 2
	}
	return date{}, i
}

// year reads a year that is announced, or that is near now and counts nothing.
func (p *parser) year(i int, announced bool) (date, int) {
	t := p.tokens[i]
	near := p.now.Year()-yearsBefore <= t.number && t.number <= p.now.Year()+yearsAfter
	switch {
	case !isNamed(t.number) || t.ordinal || notYears()[p.word(i-1)] || !t.stop && notYears()[p.word(i+1)]:
	case announced || near && t.number%100 != 0:
		return date{year: t.number}, i + 1
	}
	return date{}, i
}

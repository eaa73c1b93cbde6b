// Package when finds the times that a text means: "in May 2023", "last week", "3 May",
// "summer 2022", "between May and July", "two weeks ago", 2024-05-03, 03.05.2023.
//
// English is known best; of German, French and Spanish the names of months, days and
// seasons and the commonest relative words. What is a date only by its context (may,
// march, spring, a bare number) needs that context: what precedes it or a year beside it.
// A missed date costs little, as dates only order what was found by other means; a false
// one would prefer the wrong things. So 3/5/2023, which is a day of March to some and of
// May to others, is none.
//
// A month, season, day or quarter without a year is the last that began before now. Weeks
// begin on Monday, seasons are those of the north by whole months, and winter 2023 is the
// one that begins in that year. "Before" a date is no time of its own.
//
// Days begin in the zone of the time that is given. All functions are pure, take any text
// and need time linear in it.
package when

import (
	"slices"
	"time"
)

// Span is a time that a text means.
type Span struct {
	From, To   time.Time // From is before To, and To is not part of it
	Text       string    // the words that say so
	Start, End int       // of Text, in bytes
}

// Parse returns the times that a text means, in its order and without overlap.
func Parse(text string, now time.Time) []Span {
	p := parser{tokens: tokens(text), now: now}
	p.french = slices.ContainsFunc(p.tokens, func(t token) bool { return frenchWords()[t.text] })
	var all []Span
	for i := 0; i < len(p.tokens); {
		t, end := p.at(i)
		if end == i {
			i++
			continue
		}
		start := p.tokens[i].start
		if t = p.bounded(i, t); t.from.Before(t.to) {
			to := p.tokens[end-1].end
			all = append(all, Span{From: t.from, To: t.to, Text: text[start:to], Start: start, End: to})
		}
		i = end
	}
	return all
}

// parser looks for times in a text. Its methods take where to look and return where what
// they found ends, or the same place for nothing.
type parser struct {
	tokens []token
	now    time.Time
	french bool // which tells hier, yesterday, from the German one, here
}

// times are from one moment up to another.
type times struct{ from, to time.Time }

// at reads the longest time at i.
func (p *parser) at(i int) (times, int) {
	for _, read := range []func(int) (times, int){p.between, p.beside, p.relative} {
		if t, end := read(i); end > i {
			return t, end
		}
	}
	d, end := p.date(i, p.leads(i))
	return p.resolve(d), end
}

// bounded is a time with regard to what precedes it: since, before.
func (p *parser) bounded(i int, t times) times {
	switch edges()[p.word(p.skip(i-1, -1, articles()))] {
	case sinceEdge:
		return times{t.from, p.now}
	case afterEdge:
		return times{t.to, p.now}
	case beforeEdge:
		return times{}
	}
	return t
}

// word is the text of a token, "" beyond the text.
func (p *parser) word(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i].text
}

// goesOn reports whether the token before i belongs to one clause with that at i.
func (p *parser) goesOn(i int) bool {
	return i > 0 && i < len(p.tokens) && !p.tokens[i-1].stop
}

// skip goes over a few words of a kind, step by step.
func (p *parser) skip(i, step int, kind map[string]bool) int {
	const limit = 3
	for range limit {
		if !kind[p.word(i)] {
			break
		}
		i += step
	}
	return i
}

// leads reports whether what precedes i announces a time.
func (p *parser) leads(i int) bool {
	before := p.skip(p.skip(i-1, -1, articles()), -1, dashes()) // as in mid-May
	return before >= 0 && !p.tokens[before].stop && prepositions()[p.word(before)]
}

// days are the times from one day up to another, whatever the calendar makes of them.
func (p *parser) days(y int, m time.Month, d int, y2 int, m2 time.Month, d2 int) times {
	from, ok := startOfDay(y, m, d, p.now.Location())
	to, ok2 := startOfDay(y2, m2, d2, p.now.Location())
	if !ok || !ok2 {
		return times{}
	}
	return times{from, to}
}

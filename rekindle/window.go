package rekindle

import (
	"strings"
	"unicode"

	"emberd/internal/text"
)

// What the value of a part of a sentence is multiplied by, for where it begins
// and ends, and for a hole in its middle; and how much more a word weighs at the
// very beginning of a long sentence than at its end, as the beginning says what it
// is about.
const (
	factorClauseStart = 0.85
	factorWordStart   = 0.7
	factorClauseEnd   = 0.995
	factorWordEnd     = 0.98
	factorHole        = 0.9
	factorUnsaid      = 0.7 // a negation of the sentence is left out
	factorEarly       = 0.6
)

// The least that stays of a sentence before and behind a hole, in units.
const (
	minHead = 3
	minTail = 2
)

// A unit is what a sentence is not cut within: a word, or a letter of a script
// without spaces.
type unit struct {
	start, end int  // bytes
	from, to   int  // characters
	opens      bool // a clause begins with it
	closes     bool // a clause ends with it
	dangles    bool // it belongs to what comes after it
	turned     bool // a negation stands before it
	negations  int  // in the line, up to it
}

// units takes a line apart.
func units(line string) []unit {
	var out []unit
	open, at := -1, 0
	finish := func(end, to int) {
		if open >= 0 {
			out[len(out)-1].end, out[len(out)-1].to = end, to
			open = -1
		}
	}
	for i, r := range line {
		wide := text.IsWide(r) && unicode.IsLetter(r)
		switch {
		case unicode.IsSpace(r):
			finish(i, at)
		case open < 0, wide && !isCombining(r):
			finish(i, at)
			open = i
			out = append(out, unit{start: i, from: at})
		}
		at++
	}
	finish(len(line), at)
	mark(out, line)
	return out
}

// mark reports where clauses begin and end: at punctuation, and before words that a
// clause begins with they end. It also marks words that dangle, and
// where a negation would be lost.
func mark(us []unit, line string) {
	negated := false // by the unit before
	for i := range us {
		pause := i > 0 && strings.ContainsRune(",;:)—–，、；：）。", lastRune(line[us[i-1].start:us[i-1].end]))
		word := strings.ToLower(line[us[i].start:us[i].end])
		link := links().has(word)
		us[i].dangles = dangling().has(word)
		if i > 0 {
			us[i].negations = us[i-1].negations
			us[i].turned = us[i-1].turned || negated
		}
		if negated = negation(word); negated {
			us[i].negations++
		}
		us[i].opens = i == 0 || pause && !link
		if i > 0 {
			us[i-1].closes = pause || link
		}
	}
	if len(us) > 0 {
		us[len(us)-1].closes = true
	}
}

// negation reports a word without which the rest says the opposite.
func negation(word string) bool {
	word = strings.ReplaceAll(strings.Trim(word, ".,;:!?\"()"), "’", "'")
	return strings.HasSuffix(word, "n't") || negations().has(word) || text.IsWide(firstRune(word)) &&
		strings.ContainsAny(word, "不没沒無无非未别別")
}

// A cutting is what stays of a sentence: the units from to to, and when head is
// more than 0, the units before head and a hole. The last ones are not included.
type cutting struct {
	head, from, to int
	value          float64 // of its words
	ease           float64 // how it reads, 1 for a whole sentence
}

// part returns the best part of a sentence that has at most room characters, with
// ellipses where something is missing, and how it reads: a run of words, or the
// beginning and the end. Nothing is left out that would turn the rest around.
func (d *document) part(one *sentence, room int) (string, float64) {
	us := units(one.text)
	sums := d.sums(one, us)
	best := cutting{}
	try := func(c cutting) {
		c.value = sums[c.head] + sums[c.to] - sums[c.from]
		c.ease = c.reads(us)
		if c.negations(us) < us[len(us)-1].negations {
			c.ease *= factorUnsaid
		}
		if c.length(us) <= room && c.value*c.ease > best.value*best.ease {
			best = c
		}
	}
	for i := range us {
		if us[i].turned {
			continue
		}
		for k := i + 1; k <= len(us) && us[k-1].to-us[i].from <= room; k++ {
			if k == len(us) || !us[k-1].dangles {
				try(cutting{from: i, to: k})
			}
		}
	}
	last := len(us) - 1
	for i := last - minTail + 1; i > minHead && us[last].to-us[i].from < room; i-- {
		if !seam(us, i) {
			continue
		}
		for h := minHead; h < i && us[h-1].to <= room; h++ {
			if !us[h-1].dangles && seam(us, h) && us[h-1].negations == us[i-1].negations {
				try(cutting{head: h, from: i, to: len(us)})
			}
		}
	}
	if best.to == 0 {
		return cut(one.text, room), factorWordEnd
	}
	return best.show(one.text, us), best.ease
}

// seam reports whether there is certainly no word across the beginning of a unit: in
// scripts without spaces, at the end of a clause only.
func seam(us []unit, i int) bool { return us[i].from > us[i-1].to || us[i-1].closes }

// sums returns the weight of the units before each. A term that comes again adds
// nothing; a pair of letters belongs to the second.
func (d *document) sums(one *sentence, us []unit) []float64 {
	sums, t := make([]float64, len(us)+1), 0
	d.round++
	for i := range us {
		sums[i+1] = sums[i]
		early := 1 + factorEarly*(1-float64(i)/float64(len(us)))
		for ; t < len(one.terms) && one.terms[t].End <= us[i].end; t++ {
			sums[i+1] += early * d.first(one.places[t])
		}
	}
	return sums
}

// negations counts those that stay.
func (c cutting) negations(us []unit) int {
	n := us[c.to-1].negations
	if c.head > 0 {
		n += us[c.head-1].negations
	}
	if c.from > 0 {
		n -= us[c.from-1].negations
	}
	return n
}

func (c cutting) reads(us []unit) float64 {
	f := 1.0
	switch {
	case c.from == 0:
	case c.head > 0:
		f *= factorHole
		if us[c.head-1].closes || us[c.from].opens {
			f *= 1 / factorWordEnd
		}
	case us[c.from].opens:
		f *= factorClauseStart
	default:
		f *= factorWordStart
	}
	switch {
	case c.to == len(us):
	case us[c.to-1].closes:
		f *= factorClauseEnd
	default:
		f *= factorWordEnd
	}
	return f
}

// length is in characters, ellipses included.
func (c cutting) length(us []unit) int {
	n := us[c.to-1].to - us[c.from].from
	switch {
	case c.head > 0:
		n += us[c.head-1].to + 3
	case !us[c.from].opens:
		n++
	}
	if c.to < len(us) {
		n++
	}
	return n
}

// show returns the text of the cutting of line.
func (c cutting) show(line string, us []unit) string {
	out := line[us[c.from].start:us[c.to-1].end]
	if c.to < len(us) {
		out = bare(out) + ellipsis
	}
	switch {
	case c.from == 0:
		return out
	case c.head > 0:
		return bare(line[:us[c.head-1].end]) + " " + ellipsis + " " + out
	case us[c.from].opens:
		return capitalized(out)
	}
	return ellipsis + out
}

// bare takes the punctuation from the end of a part.
func bare(s string) string { return strings.TrimRight(s, ",;:—–，、；：") }

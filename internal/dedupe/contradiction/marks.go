package contradiction

import (
	"slices"
	"strings"
)

// refuses reports a word, in lower case, that denies what comes after it.
func refuses(token string) bool {
	if negates(token) {
		return true
	}
	switch token {
	case "unable", "hardly", "lacks", "lacked":
		return true
	}
	return false
}

// scope is how many words with meaning a word denies: the rest of the clause, or the next
// thing only.
func scope(lower string) int {
	switch lower {
	case "lacks", "lacked", "without":
		return 2
	}
	return maxWords
}

// joined makes one word of a number and its unit or month, and one value of a range.
func joined(s string, words []word) []word {
	out := words[:0]
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.value != nil && w.value.kind == "number":
			i += amount(s, words, i, &w)
			if !limited(s, out, &w) {
				loosely(out, &w)
			}
		case i+1 < len(words) && w.value == nil:
			if m := monthOf(s[w.start:w.end]); m > 0 {
				i += dated(words, i, m, &w)
				w.month = w.value == nil
			}
		}
		out = append(out, w)
	}
	return out
}

// amount reads on behind a number: a unit, a month, or the end of a range. It returns how
// many words it took.
func amount(s string, words []word, i int, w *word) (more int) {
	v := w.value
	if i+2 < len(words) && v.unit == "" && isOne(words[i+1], "to", "–") && words[i+2].value != nil &&
		!isOne(before(words, i), "from") {
		if end := words[i+2].value; end.kind == "number" && end.amount > v.amount {
			v.hi, w.end, more = end.amount, words[i+2].end, 2
			v.unit = end.unit
		}
	}
	if i+more+1 >= len(words) || v.unit != "" {
		return more
	}
	next := words[i+more+1]
	if next.boundary || next.value != nil {
		return more
	}
	text := s[next.start:next.end]
	if m := monthOf(text); m > 0 && v.plain >= 1 && v.plain <= 31 && !v.spelt {
		*v = value{kind: "date", month: m, day: int(v.plain)}
		w.end = next.end
		return more + 1 + year(words, i+more+1, w)
	}
	if u, ok := unitOf(next.lower); ok {
		v.unit, v.amount, v.lo, v.hi = u.unit, v.amount*u.times, v.lo*u.times, v.hi*u.times
		v.thousands()
		w.end = next.end
		return more + 1
	}
	return more
}

// dated reads a month that a day or a year follows.
func dated(words []word, i, month int, w *word) (more int) {
	v := words[i+1].value
	if v == nil || v.kind != "number" || v.unit != "" || v.spelt || v.plain < 1 {
		return 0
	}
	if v.plain > 31 && (v.plain < 1000 || v.plain >= 3000) {
		return 0
	}
	w.value, w.content, w.name, w.end = &value{kind: "date", month: month}, false, false, words[i+1].end
	if v.plain > 31 {
		w.value.year = int(v.plain)
		return 1
	}
	w.value.day = int(v.plain)
	return 1 + year(words, i+1, w)
}

// year reads a year behind a date.
func year(words []word, i int, w *word) int {
	if i+1 < len(words) {
		if v := words[i+1].value; v != nil && v.kind == "number" && v.plain >= 1000 && v.plain < 3000 && v.unit == "" {
			w.value.year, w.end = int(v.plain), words[i+1].end
			return 1
		}
	}
	return 0
}

// limited notes words right before a number that make it a limit, such as "no more than", and reports
// whether there are any. They are a part of the value then.
func limited(s string, before []word, w *word) bool {
	if limitedUnspaced(s, before, w) {
		return true
	}
	for n := min(3, len(before)); n > 0; n-- {
		phrase := before[len(before)-n:]
		words := make([]string, n)
		for i := range phrase {
			words[i] = phrase[i].lower
		}
		if sign := vocabularyOf().limits[strings.Join(words, "_")]; sign != "" {
			for i := range phrase {
				phrase[i].content, phrase[i].negates = false, false
			}
			w.value.bound(sign)
			return true
		}
	}
	return false
}

// limitedUnspaced is limited where no spaces stand between words. A verb may follow, as in 至少有.
func limitedUnspaced(s string, before []word, w *word) bool {
	const nearby = 4 * len("至")
	from := max(0, w.start-nearby)
	for _, phrase := range vocabularyOf().unspacedLimits {
		at := strings.LastIndex(s[from:w.start], phrase)
		if at < 0 {
			continue
		}
		for i := range before {
			b := &before[i]
			if b.start >= from+at+len(phrase) || b.end <= from+at {
				continue
			}
			if b.content = false; strings.Count(s[b.start:w.start], "不") == strings.Count(phrase, "不") {
				b.negates = false
			}
		}
		w.value.bound(vocabularyOf().limits[phrase])
		return true
	}
	return false
}

// bound makes an amount a limit: <, <=, > or >=.
func (v *value) bound(sign string) {
	if v.lo != v.hi {
		return // a range says it itself
	}
	v.loosen(limitOf(sign))
	v.open = len(sign) == 1
}

// loosely notes words before a number that make it a limit: about, at most, over.
func loosely(before []word, w *word) {
	if w.value.lo != w.value.hi {
		return // a range says it itself
	}
	for _, b := range before[max(0, len(before)-2):] {
		if l := limitOf(b.lower); l != exactly && b.value == nil {
			w.value.loosen(l)
		}
	}
}

func before(words []word, i int) word {
	if i == 0 {
		return word{}
	}
	return words[i-1]
}

func isOne(w word, of ...string) bool {
	return slices.Contains(of, w.lower)
}

// mark notes what the sentence denies, what it says was before, and what kind it is.
func (s *sentence) mark() {
	// words still denied, and since which; whether another negation would be of its own
	left, since, fresh := 0, 0, false
	for i := range s.words {
		w := &s.words[i]
		if i+1 < len(s.words) && w.lower == "zero" && s.words[i+1].content && !s.words[i+1].boundary {
			w.value, w.negates, w.stem = nil, true, "not" // "zero children"
		}
		lower := w.lower
		switch {
		case w.boundary && !w.negates, lower == "but":
			left = 0
		case lower == "and" || lower == "or":
			fresh = true
		}
		if w.negates && i+1 < len(s.words) && isOne(s.words[i+1], "only", "just") {
			w.negates = false
		}
		if left > 0 && isOne(*w, "more") && isOne(s.words[since], "couldn't", "couldn’t") && s.ends(i, since) {
			left, w.content = 0, false // "couldn't agree more" agrees
			s.affirm(since, i)
			continue
		}
		if left > 0 && s.ends(i, since) {
			w.content, s.changes = false, true
			continue
		}
		if w.lower == "plus" && slices.ContainsFunc(s.words[max(0, i-4):i], func(v word) bool { return v.ne }) {
			w.negates, w.content, w.stem, s.changes = true, false, "not", true // "n'habite plus"
		}
		if w.negates {
			s.changes = s.changes || lower == "no" && i+1 < len(s.words) && isOne(s.words[i+1], "longer")
			if left == 0 || fresh || w.boundary {
				left, since = scope(lower), i
			} else { // never without: it is the case after all
				left = 0
				s.affirm(since, i)
			}
			fresh = false
			continue
		}
		if w.denied = left > 0; w.denied && w.content {
			left--
		}
		s.cue(i, lower)
	}
	s.denies = slices.ContainsFunc(s.words, func(w word) bool { return w.denied && w.content })
	s.scene = isScene(s.words)
	s.place()
}

// affirm takes back that the words of a stretch are denied.
func (s *sentence) affirm(from, to int) {
	for j := from; j < to; j++ {
		s.words[j].denied = false
	}
}

// ends reports whether the word at i makes of the negation at since the end of what was so: right behind it, as in
// "nicht mehr", or where the clause ends, as in "kein Brot mehr" and "not any more".
func (s *sentence) ends(i, since int) bool {
	return vocabularyOf().longer[s.words[i].lower] &&
		(i == since+1 || i == since+2 && isOne(s.words[i-1], "any") || i+1 == len(s.words) || s.words[i+1].boundary)
}

// cue notes words that announce a change, and what they say was before.
func (s *sentence) cue(i int, lower string) {
	last := i+1 >= len(s.words)
	switch lower {
	case "now":
		s.changes = s.changes || i > 0 && !last && s.words[i+1].content && !s.words[i+1].boundary
	case "moved", "changed", "switched", "renamed", "replaced", "migrated", "raised", "lowered", "increased",
		"decreased", "reduced":
		s.moves = true
	case "instead", "rather":
		if !last && isOne(s.words[i+1], "of", "than") {
			s.words[i].replaces = true
			s.past(i+2, min(len(s.words), i+8))
		}
	case "statt", "anstatt":
		s.words[i].replaces = true
		s.past(i+1, min(len(s.words), i+7))
	case "lieu", "lugar", "vez":
		if !last && isOne(s.words[i+1], "de", "del") {
			s.words[i].replaces = true
			s.past(i+2, min(len(s.words), i+8))
		}
	case "from":
		for j := i + 2; s.moves && j+1 < len(s.words) && j < i+5; j++ {
			if isOne(s.words[j], "to") {
				s.changes = true
				s.past(i+1, j)
				return
			}
		}
	}
}

// past notes that the words of a clause say what was before.
func (s *sentence) past(from, to int) {
	for j := from; j < to && (j == from || !s.words[j].boundary); j++ {
		s.words[j].former = true
	}
}

// isScene reports a sentence of the form "a man is riding": it speaks of something that
// nothing names, and another such sentence may speak of something else.
func isScene(words []word) bool {
	if len(words) < 3 {
		return false
	}
	first := words[0]
	if isOne(first, "there") {
		return true
	}
	if first.value == nil && !isOne(first, "a", "an", "some", "someone", "people", "another", "several", "many",
		"few") {
		return false
	}
	return slices.ContainsFunc(words[:min(len(words), 8)],
		func(w word) bool { return strings.HasSuffix(w.lower, "ing") })
}

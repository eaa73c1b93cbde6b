package conflict

import (
	"slices"
	"strings"
)

// refuses reports a word that denies what comes after it.
func refuses(token string) bool {
	if negations(token) > 0 {
		return true
	}
	switch strings.ToLower(token) {
	case "lack", "lacks", "lacked", "lacking", "unable", "fails", "failed", "hardly", "neither", "nor":
		return true
	}
	return false
}

// joined makes one word of a number and its unit or month, and one value of a range.
func joined(s string, words []word) []word {
	out := words[:0]
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.value != nil && w.value.kind == "number":
			i += amount(s, words, i, &w)
			loosely(s, out, &w)
		case i+1 < len(words) && w.value == nil:
			if m := monthOf(s[w.start:w.end]); m > 0 {
				i += dated(words, i, m, &w)
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
	if i+2 < len(words) && v.unit == "" && isOne(s, words[i+1], "to", "–") && words[i+2].value != nil && !isOne(s, before(words, i), "from") {
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
	if u, ok := unitOf(strings.ToLower(text)); ok {
		v.unit, v.amount, v.lo, v.hi = u.unit, v.amount*u.times, v.lo*u.times, v.hi*u.times
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

// loosely notes words before a number that make it a limit: about, at most, over.
func loosely(s string, before []word, w *word) {
	if w.value.lo != w.value.hi {
		return // a range says it itself
	}
	for _, b := range before[max(0, len(before)-2):] {
		if l := limitOf(strings.ToLower(s[b.start:b.end])); l != exactly && b.value == nil {
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

func isOne(s string, w word, of ...string) bool {
	return slices.Contains(of, strings.ToLower(s[w.start:w.end]))
}

// mark notes what the sentence denies, what it says was before, and what kind it is.
func (s *sentence) mark(text string) {
	denied, fresh := false, false
	for i := range s.words {
		w := &s.words[i]
		lower := strings.ToLower(text[w.start:w.end])
		switch {
		case w.boundary && !w.negates:
			denied = false
		case lower == "but":
			denied = false
		case lower == "and" || lower == "or":
			fresh = true
		}
		if w.negates {
			if i+1 < len(s.words) && isOne(text, s.words[i+1], "only", "just") {
				w.negates = false
				continue
			}
			denied, fresh = fresh || w.boundary || !denied, false
			if lower == "no" && i+1 < len(s.words) && isOne(text, s.words[i+1], "longer") {
				s.changes = true
			}
			continue
		}
		w.denied = denied
		s.cue(text, i, lower)
	}
	s.denies = slices.ContainsFunc(s.words, func(w word) bool { return w.negates })
	s.scene = isScene(text, s.words)
}

// cue notes words that announce a change, and what they say was before.
func (s *sentence) cue(text string, i int, lower string) {
	switch lower {
	case "now", "anymore", "moved", "changed", "switched", "renamed", "replaced", "migrated":
		s.changes = true
	case "instead", "rather":
		if i+1 < len(s.words) && isOne(text, s.words[i+1], "of", "than") {
			s.changes = true
			for j := i + 2; j < len(s.words) && j < i+8 && !s.words[j].boundary; j++ {
				s.words[j].former = true
			}
		}
	case "from":
		for j := i + 1; j < len(s.words) && j < i+5; j++ {
			if isOne(text, s.words[j], "to") && j+1 < len(s.words) {
				s.changes = true
				for k := i + 1; k < j; k++ {
					s.words[k].former = true
				}
				return
			}
		}
	}
}

// isScene reports a sentence of the form "a man is riding": it speaks of something that
// nothing names, and another such sentence may speak of something else.
func isScene(text string, words []word) bool {
	if len(words) < 3 {
		return false
	}
	first := words[0]
	if isOne(text, first, "there") {
		return true
	}
	if first.value == nil && !isOne(text, first, "a", "an", "some", "someone", "people", "another", "several", "many", "few") {
		return false
	}
	for i, w := range words[:len(words)-1] {
		if isOne(text, w, "is", "are", "was", "were") {
			for _, v := range words[i+1 : min(len(words), i+4)] {
				if strings.HasSuffix(text[v.start:v.end], "ing") {
					return true
				}
			}
		}
	}
	return false
}

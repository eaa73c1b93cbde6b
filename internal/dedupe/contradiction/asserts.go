package contradiction

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a sentence says of another time, of another place, of another thing or not for
// certain is no contradiction of what is so here and now. This file notes which it is.

// place notes of which time, place and thing the sentence speaks, and whether for certain.
func (s *sentence) place() {
	for i := range s.words {
		s.where |= environment(s.words[i].lower)
	}
	s.asks = len(s.words) > 0 && isOne(s.words[0], "if", "unless", "falls", "wenn", "si") ||
		slices.ContainsFunc(s.words, func(w word) bool { return isOne(w, "whether") }) || s.isUnsure()
	s.silent = s.silent || s.requests()
	s.which = s.subjectNumber()
	s.recall()
	s.conditions()
}

// isAnswer reports a sentence that but denies one word, as in "No, not really": it says nothing by itself.
func (s *sentence) isAnswer() bool {
	says := 0
	for i := range s.words {
		if !s.words[i].negates {
			says++
		}
	}
	return says < 2
}

// conditions notes the words of clauses that say when the rest holds, and not that they do: "when the door is open".
func (s *sentence) conditions() {
	inside := false
	for i := range s.words {
		w := &s.words[i]
		inside = inside && !w.boundary || vocabularyOf().conditions[w.lower]
		w.condition = inside
	}
}

// isUnsure reports whether the sentence says that its writer does not know.
func (s *sentence) isUnsure() bool {
	return slices.ContainsFunc(s.words,
		func(w word) bool { return w.denied && isOne(w, "sure", "certain", "sicher", "sûr", "seguro") })
}

// requests reports whether the sentence asks somebody to do something, or says that somebody did: "can you", "help
// me", "proposed to".
func (s *sentence) requests() bool {
	for i := 1; i < len(s.words); i++ {
		if isOne(s.words[i], "you") && isOne(s.words[i-1], "can", "could", "would", "will") ||
			isOne(s.words[i], "me", "us") && isOne(s.words[i-1], "help", "let") ||
			isOne(s.words[i-1], "let's", "let’s") ||
			isOne(s.words[i], "to") && isOne(s.words[i-1], "proposed", "suggested", "offered", "asked") {
			return true
		}
	}
	return false
}

// environments are distinguished by bits.
const (
	inProduction uint = 1 << iota
	inStaging
	inTests
	inDevelopment
)

// environment is the one that a word names, 0 if it names none.
func environment(lower string) uint {
	switch lower {
	case "prod", "production", "produktion", "live":
		return inProduction
	case "staging", "preprod", "uat", "preview", "canary":
		return inStaging
	case "test", "tests", "testing", "qa", "ci", "sandbox":
		return inTests
	case "dev", "development", "local", "localhost", "locally", "lokal":
		return inDevelopment
	}
	return 0
}

// subjectNumber is where the number stands that says which thing the sentence is about:
// behind the first word with meaning, with more to come.
func (s *sentence) subjectNumber() int {
	named := false
	for i := range s.words[:min(len(s.words), 4)] {
		w := &s.words[i]
		switch v := w.value; {
		case v != nil:
			more := s.words[i+1:]
			says := slices.ContainsFunc(more, func(w word) bool { return w.content || w.value != nil })
			if named && says && !w.labelled && (v.kind == "number" && v.unit == "" && !v.spelt || v.kind == "version") {
				return i
			}
			return -1
		case named && (w.content || w.known.functional), w.negates:
			return -1
		}
		named = named || w.content
	}
	return -1
}

// elsewhere reports whether the sentences speak of two scopes or two times, or only one of them for
// certain.
func (p *pair) elsewhere() bool {
	if p.s.asks != p.t.asks || p.s.history != p.t.history || p.qualified() || p.scoped() {
		return true
	}
	return p.s.when != nil && p.t.when != nil && !p.s.when.agrees(p.t.when)
}

// another reports whether the sentences are about two things of a kind, distinguished by
// their numbers: issue 12 and issue 15. Of what is not numbered by habit, that is so if the
// sentences say other things of it: "Go 1.25 is required" and "Go 1.26 is required" are
// about one.
func (p *pair) another() bool {
	if p.s.numbersOther(p.t) && p.t.numbersOther(p.s) {
		return true
	}
	i, j := p.s.which, p.t.which
	if i < 0 || j < 0 || p.s.leads(i) != p.t.leads(j) || p.s.words[i].value.agrees(p.t.words[j].value) {
		return false
	}
	return isNumbered(p.s.leads(i)) || !p.s.says(p.t, i) || !p.t.says(p.s, j)
}

// numbersOther reports whether a sentence with something to say has a thing by its number that t does not have by
// that one, but by another: sprint 41 and sprint 42.
func (s *sentence) numbersOther(t *sentence) bool {
	if s.numbered() {
		return false
	}
	for i := range s.words {
		if s.words[i].value == nil || !s.numbers(i) || t.holds(&s.words[i]) {
			continue
		}
		for j := range t.words {
			if t.words[j].value != nil && t.numbers(j) && t.words[j-1].stem == s.words[i-1].stem {
				return true
			}
		}
	}
	return false
}

// tells reports whether the sentence tells what happened, and not what is so now.
func (s *sentence) tells() bool {
	if s.moves || s.changes || slices.ContainsFunc(s.words, func(w word) bool { return isOne(w, "now", "jetzt") }) {
		return false
	}
	return slices.ContainsFunc(s.words, func(w word) bool { return vocabularyOf().told[w.lower] })
}

// qualified reports whether the sentences are about two things of which one is what the
// other is not: "small instances have 2 GB" and "large instances have 8 GB". If that is
// all in which one of them differs, they are about one.
func (p *pair) qualified() bool {
	for i := range p.s.words {
		a := &p.s.words[i]
		if !p.s.qualifies(i) || p.t.has(a.stem) {
			continue
		}
		for j := range p.t.words {
			b := &p.t.words[j]
			if p.t.qualifies(j) && !p.s.has(b.stem) && p.s.words[i+1].stem == p.t.words[j+1].stem &&
				(a.opposed(b) || slices.Contains(a.known.kinds, b.stem)) && !p.s.says(p.t, i) && !p.t.says(p.s, j) {
				return true
			}
		}
	}
	return false
}

// qualifies reports whether the word at i stands right before one that it belongs to.
func (s *sentence) qualifies(i int) bool {
	return s.words[i].content && i+1 < len(s.words) && s.words[i+1].content && !s.words[i+1].boundary
}

// says reports whether t has all that s has but for the word at i.
func (s *sentence) says(t *sentence, i int) bool {
	for k := range s.words {
		w := &s.words[k]
		if k != i && (w.value != nil && !t.holds(w) || w.content && !t.has(w.stem)) {
			return false
		}
	}
	return true
}

// isNumbered reports the stem of a thing of which there are many, each with a number.
func isNumbered(stem string) bool {
	switch stem {
	case "issu", "ticket", "pr", "mr", "bug", "commit", "revis", "order", "invoic", "sprint", "chapter", "page",
		"section", "line", "step", "phase", "case", "round", "run", "job", "task", "item", "row", "id", "room", "floor",
		"question", "figur", "tabl", "shard", "regist", "pin", "gpio", "channel", "bit", "byte", "sector",
		"note", "memori", "entri":
		return true
	}
	return false
}

// recall notes that the sentence is about the past: by a word that says so, or in the past
// tense with the time when it was. What such a sentence says is so now is not of then.
func (s *sentence) recall() {
	past := false
	for i := range s.words {
		past = past || s.inPast(i)
	}
	for i := range s.words {
		w := &s.words[i]
		switch {
		case w.value == nil && isOne(*w, "formerly", "previously", "originally", "historically", "früher", "damals",
			"ehemals", "auparavant", "autrefois"),
			isOne(*w, "used") && i > 0 && i+1 < len(s.words) && isOne(s.words[i+1], "to") &&
				!s.words[i-1].known.functional:
			s.history = true
		case past && isOne(*w, "in", "during", "en") && i+1 < len(s.words) && s.words[i+1].isPeriod():
			s.history, s.when = true, s.words[i+1].value
		case past && i > 1 && isOne(*w, "until", "till", "before", "bis", "vor", "jusqu'en"),
			past && isOne(*w, "until", "till", "bis", "jusqu'en"):
			s.history = true
		}
	}
	if slices.ContainsFunc(s.words,
		func(w word) bool { return isOne(w, "now", "but", "jetzt", "heute", "aber", "maintenant") }) {
		s.history, s.when = false, nil
	}
	if !s.history {
		s.when = nil
	}
}

// inPast reports whether a verb in the past tense is at i, as far as its form shows it.
func (s *sentence) inPast(i int) bool {
	w := &s.words[i]
	switch w.lower {
	case "was", "were", "had", "did", "ran", "used", "held", "kept", "took", "went", "lived", "led", "built", "sent",
		"wrote", "war", "waren", "hatte", "hatten", "lief", "était", "étaient", "avait":
		return true
	}
	return s.happened(i)
}

// happened reports whether the word at i says what was done: "failed", but not "is needed".
func (s *sentence) happened(i int) bool {
	w := &s.words[i]
	if !w.content || w.name || len(w.lower) <= 4 || !strings.HasSuffix(w.lower, "ed") {
		return false
	}
	return !slices.ContainsFunc(s.words[max(0, i-2):i], func(w word) bool {
		return isOne(w, "is", "are", "be", "been", "being", "was", "were", "has", "have", "had")
	}) && (i == 0 || !isOne(s.words[i-1], "a", "an", "the"))
}

// isEvent reports a sentence of what happened, as may have happened more than once.
func (s *sentence) isEvent() bool {
	for i := range s.words {
		if s.happened(i) {
			return true
		}
	}
	return false
}

// isPeriod reports a month with its year, or a year.
func (w *word) isPeriod() bool {
	v := w.value
	return v != nil && (v.kind == "date" && v.year > 0 ||
		v.kind == "number" && v.unit == "" && v.plain >= 1900 && v.plain < 2100 && v.plain == float64(int(v.plain)))
}

// isIdentifier reports a name as programs and files have it: config.yaml, new_checkout.
func isIdentifier(token string) bool {
	for i, r := range token {
		if r != '.' && r != '_' || i < 2 {
			continue
		}
		next, _ := utf8.DecodeRuneInString(token[i+1:])
		if r == '_' && unicode.IsLetter(next) || r == '.' && unicode.IsLower(next) && len(token)-i > 2 {
			return true
		}
	}
	return false
}

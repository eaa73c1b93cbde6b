package contradiction

import "slices"

// Two values are compared only if they are of one thing: this file tells products, outcomes, sums and
// events apart.

// isOutcome reports a number behind "a" that counts and measures nothing: "rolling a 6".
func isOutcome(s *sentence, i int) bool {
	v := s.words[i].value
	return i > 0 && isOne(s.words[i-1], "a", "an") && v.kind == "number" && v.unit == "" && s.counted(i) == ""
}

// ofProducts reports whether one of two values is the version of a product, right behind its name, and the other one
// of something else.
func (p *pair) ofProducts(i, j int) bool {
	v, w := p.s.words[i].value, p.t.words[j].value
	if v.kind != "version" && w.kind != "version" {
		return false
	}
	if v.kind != w.kind && p.s.counted(i)+p.t.counted(j) != "" { // how many there are is no version
		return true
	}
	x, y := product(p.s, i), product(p.t, j)
	return x != "" && !hasBefore(p.t, j, x) || y != "" && !hasBefore(p.s, i, y)
}

// product is the stem of the name right before the word at i, "" if there is none.
func product(s *sentence, i int) string {
	if i > 0 && (s.words[i-1].name || s.words[i-1].first) {
		return s.words[i-1].stem
	}
	return ""
}

// hasBefore reports whether a stem is what the sentence begins with, or is before the word at i in its clause.
func hasBefore(s *sentence, i int, stem string) bool {
	begins := slices.IndexFunc(s.words, func(w word) bool { return w.content })
	if begins >= 0 && begins < i && s.words[begins].stem == stem {
		return true
	}
	for j := i - 1; j >= 0; j-- {
		if s.words[j].stem == stem {
			return true
		}
		if s.words[j].boundary || joins(s.words[j].stem) {
			return false
		}
	}
	return false
}

// happenedTwice reports whether both sentences tell what was done, on two days and with two results: that were
// two events.
func (p *pair) happenedTwice() bool {
	if !isPast(p.s) || !isPast(p.t) {
		return false
	}
	days, results := 0, 0
	for i := range p.s.words {
		w := &p.s.words[i]
		switch {
		case p.t.holds(w) || !hasLike(p.t, w.value):
		case w.value.kind == "date" || w.value.kind == "weekday":
			days++
		default:
			results++
		}
	}
	return days > 0 && results > 0
}

// hasLike reports whether the sentence has a value that may answer the same question.
func hasLike(s *sentence, v *value) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return w.value != nil && w.value.alike(v) })
}

// isPast reports whether the sentence has a verb in the past tense.
func isPast(s *sentence) bool {
	for i := range s.words {
		if s.inPast(i) {
			return true
		}
	}
	return false
}

// sums reports whether a value of the sentence is that of several things together.
func sums(s *sentence) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return vocabularyOf().sums[w.lower] })
}

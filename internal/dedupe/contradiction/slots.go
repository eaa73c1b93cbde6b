package contradiction

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A slot is where two statements differ, with the same parts before it and behind it.
type slot struct {
	before, behind []part // of the first statement
	a, b           []part // what stands there
	more           bool   // a phrase is behind one of the statements that the other lacks
}

// maxSlot is how many parts a value has at most.
const maxSlot = 5

// slotOf finds the one stretch in which two statements differ, whatever phrase they begin
// with and in whichever voice they are.
func slotOf(a, b []part) (best slot, ok bool) {
	if best, ok = wholeSlot(a, b); ok {
		return best, true
	}
	for k := len(a) - 1; k > 1; k-- {
		if s := difference(a[:k], b); a[k].link && s.isValue() && adds(a[k:]) {
			s.more = true
			return s, true
		}
	}
	for k := len(b) - 1; k > 1; k-- {
		if s := difference(a, b[:k]); b[k].link && s.isValue() && adds(b[k:]) {
			s.more = true
			return s, true
		}
	}
	return slot{}, false
}

// wholeSlot is slotOf for statements without a phrase that only one of them has.
func wholeSlot(a, b []part) (best slot, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return slot{}, false
	}
	other := active(b)
	for form := range forms(a) {
		for _, s := range [...]slot{difference(form, b), difference(active(form), other)} {
			size := len(s.before) + len(s.behind)
			if s.isValue() && (!ok || size > len(best.before)+len(best.behind)) {
				best, ok = s, true
			}
		}
	}
	return best, ok
}

// difference cuts what two statements begin and end with alike.
func difference(a, b []part) slot {
	from := 0
	for from < len(a) && from < len(b) && a[from].key == b[from].key {
		from++
	}
	i, j := len(a), len(b)
	for i > from && j > from && a[i-1].key == b[j-1].key {
		i--
		j--
	}
	return slot{before: a[:from], behind: a[i:], a: a[from:i], b: b[from:j]}
}

// isValue reports whether two values stand in the slot, and around it what they are of.
func (s *slot) isValue() bool {
	if len(s.a) == 0 || len(s.b) == 0 || len(s.a) > maxSlot || len(s.b) > maxSlot {
		return false
	}
	says := func(p part) bool { return !p.link }
	if !slices.ContainsFunc(s.before, says) && !slices.ContainsFunc(s.behind, says) {
		return false
	}
	keys := keysOf(s.b)
	return !slices.ContainsFunc(s.a, func(p part) bool { return p.link || slices.Contains(keys, p.key) }) &&
		!slices.ContainsFunc(s.b, func(p part) bool { return p.link })
}

// slots finds that the same is said of two different things, or two different things of the
// same, where only one can be: of who leads or owns it, what it is called, or where it lives.
func (p *pair) slots() []Finding {
	if p.apart(maxSlot) || !p.comparable() {
		return nil
	}
	s, ok := slotOf(p.s.parts, p.t.parts)
	if !ok || !p.exclusive(&s) {
		return nil
	}
	x, y := p.f.stretch(s.a), p.g.stretch(s.b)
	return []Finding{{Kind: "name", A: x, B: y, Why: x + " against " + y, framed: true}}
}

// exclaims reports whether a sentence ends in an exclamation mark. With a label before it, it is a turn of a
// conversation, and not a property of a thing.
func (f *Facts) exclaims(s *sentence) bool {
	return strings.HasPrefix(strings.TrimLeft(f.text[s.words[len(s.words)-1].end:], "\"”)*_"), "!")
}

// exclusive reports whether only one of the two values can stand in the slot.
func (p *pair) exclusive(s *slot) bool {
	if s.a[0].single || s.b[0].single {
		return s.unspaced()
	}
	named := p.s.isNamed(s.a) && p.t.isNamed(s.b)
	if rel := s.relation(); rel != nil {
		switch {
		case isChoice(rel.lower):
			return len(s.before)+len(s.behind) > 1
		case rel.lower == ":":
			return isLabel(s.before) && allNamed(s.a) && allNamed(s.b) && !p.f.exclaims(p.s) && !p.g.exclaims(p.t)
		case rel.key == keyBe:
			return named || isHeldOnce(s.before) && !isState(s.a) && !isState(s.b)
		}
		e := lookup(p.s.words[rel.word].stem)
		return named && e.functional && !(s.more && e.limited)
	}
	if len(s.before) > 0 || len(s.behind) < 2 {
		return false
	}
	switch first := s.behind[0]; {
	case first.key == keyBe && isHolding(s.behind[1].lower):
		return p.s.beginsNamed(s.a) && p.t.beginsNamed(s.b)
	case first.key == keyBe:
		return (named || p.s.beginsNamed(s.a) && p.t.beginsNamed(s.b)) && p.definite(first)
	case isHolding(first.lower):
		return p.s.beginsNamed(s.a) && p.t.beginsNamed(s.b)
	}
	return false
}

// isLabel reports whether what stands before a colon names one thing, and not several.
func isLabel(before []part) bool {
	if len(before) < 2 {
		return false
	}
	head := before[len(before)-2].lower
	return !strings.HasSuffix(head, "s") || strings.HasSuffix(head, "ss") || strings.HasSuffix(head, "us")
}

func allNamed(parts []part) bool {
	return !slices.ContainsFunc(parts, func(p part) bool { return !p.named })
}

// relation is the last word before the slot that is no preposition, nil if there is none. The
// noun that "is" follows is what the value is of.
func (s *slot) relation() *part {
	for i := range slices.Backward(s.before) {
		if p := &s.before[i]; !p.link || p.key == keyBe {
			return p
		}
	}
	return nil
}

// definite reports whether "the", "our" or a possessive stands behind a form of be: there is
// one of what it is.
func (p *pair) definite(be part) bool {
	rest := strings.Fields(p.f.text[be.end:])
	if len(rest) == 0 {
		return false
	}
	word := strings.ToLower(rest[0])
	return vocabularyOf().definite[word] || strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s")
}

// isHeldOnce reports whether a statement is of a thing of which there is one: its port, its
// owner, the primary database.
func isHeldOnce(before []part) bool {
	for _, p := range before {
		if vocabularyOf().once[p.key] {
			return true
		}
	}
	return false
}

// isState reports a stretch that says how something is, and not what: "is known".
func isState(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		return isParticiple(p.lower) || vocabularyOf().states[p.lower]
	})
}

// unspaced reports whether a relation with one value is named before or behind the slot in a
// script without spaces.
func (s *slot) unspaced() bool {
	text := func(parts []part) (s string) {
		for _, p := range parts {
			s += p.lower
		}
		return s
	}
	before, behind := text(s.before), text(s.behind)
	for _, r := range vocabularyOf().unspacedRelations {
		if strings.HasSuffix(before, r) || strings.HasPrefix(behind, r) {
			return utf8.RuneCountInString(before+behind) > 2
		}
	}
	return false
}

// isNamed reports whether a stretch has a name or an identifier.
func (s *sentence) isNamed(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { w := &s.words[p.word]; return w.name && !w.former })
}

// beginsNamed reports whether a stretch begins with a name, as far as a capital shows it.
func (s *sentence) beginsNamed(parts []part) bool {
	w := &s.words[parts[0].word]
	return w.first || s.isNamed(parts)
}

func isChoice(lower string) bool { return vocabularyOf().choice[lower] }

func isHolding(lower string) bool { return vocabularyOf().holding[lower] }

package contradiction

import "slices"

// changes finds that one sentence announces a change of what the other says.
func (p *pair) changes() []Finding {
	if p.s.changes == p.t.changes || p.shared < 3 || 2*p.shared <= min(len(p.s.stems), len(p.t.stems)) ||
		p.apart(maxSlot) {
		return nil
	}
	said := p.s
	if p.t.changes {
		said = p.t
	}
	if others := len(said.stems) - p.shared; others == 0 ||
		p.s.has("now") && p.t.has("now") || others == 1 && said.has("now") {
		return nil // it says but that it is so now
	}
	if said == p.s && p.t.isResult(p.s) || said == p.t && p.s.isResult(p.t) {
		return nil
	}
	a, b := p.f.whole(p.s), p.g.whole(p.t)
	return []Finding{{Kind: "change", A: a, B: b, Why: "one of them mentions a change"}}
}

// still reports whether the sentence has a word outside what it says was before.
func (s *sentence) still(stem string) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return !w.former && w.stem == stem })
}

// gives reports whether the sentence has a value that agrees with v.
func (s *sentence) gives(v *value) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return w.value != nil && w.value.agrees(v) })
}

// isResult reports whether the sentence says nothing of what was before the change that t announces.
func (s *sentence) isResult(t *sentence) bool {
	changed := false
	for i := range t.words {
		w := &t.words[i]
		if !w.former || w.value == nil && !w.content || w.value == nil && t.still(w.stem) {
			continue
		}
		if changed = true; w.value == nil && s.has(w.stem) || w.value != nil && s.gives(w.value) {
			return false
		}
	}
	return changed
}

// whole is a sentence as it stands.
func (f *Facts) whole(s *sentence) string {
	return f.text[s.words[0].start:s.words[len(s.words)-1].end]
}

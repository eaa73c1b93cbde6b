package contradiction

import "slices"

// placed are two prepositions of one thing that say something else of it: at the screen, away from the
// screen; for the stadium, against it. They are empty if there are none.
func (f *Facts) placed(g *Facts) (mine, other string) {
	for i := range f.sentences {
		s := &f.sentences[i]
		t := g.counterpart(s)
		if t == nil {
			continue
		}
		if k, j := placedIn(s.parts, t.parts, placesApart); k >= 0 {
			return f.stretch(withPhrase(s.parts, k)), g.stretch(withPhrase(t.parts, j))
		}
	}
	return "", ""
}

// placedIn is where a preposition stands in a, and in b one of the same thing that is apart from it; -1 if
// there is none. What both texts say of both does not count.
func placedIn(a, b []part, apart func(p, q part) bool) (i, j int) {
	for i := range a {
		for j := range b {
			if a[i].link && b[j].link && apart(a[i], b[j]) && ofOneThing(a, i, b, j) &&
				!(follows(b, a, i) && follows(a, b, j)) {
				return i, j
			}
		}
	}
	return -1, -1
}

// placesApart reports two prepositions that do not say the same.
func placesApart(a, b part) bool {
	v := vocabularyOf()
	return a.key != b.key && (v.places[a.key] && v.places[b.key] ||
		v.apart[a.key] && v.broad[b.key] || v.apart[b.key] && v.broad[a.key])
}

// stancesApart reports two prepositions that exclude each other behind a verb of deciding.
func stancesApart(a, b part) bool { return vocabularyOf().stances[a.key+"/"+b.key] }

// ofOneThing reports whether the prepositions at i and at j belong to the same: to phrases that begin with one
// word, or of which one has all words of the other; or both to the word before them.
func ofOneThing(a []part, i int, b []part, j int) bool {
	x, y := phrase(a, i), phrase(b, j)
	switch {
	case len(x) == 0 && len(y) == 0:
		return i > 0 && j > 0 && a[i-1].key == b[j-1].key
	case len(x) == 0 || len(y) == 0:
		return false
	}
	return x[0].key == y[0].key || has(x, y) || has(y, x)
}

// phrase are the words behind the preposition at i, to the next link.
func phrase(parts []part, i int) []part {
	end := i + 1
	for end < len(parts) && !parts[end].link {
		end++
	}
	return parts[i+1 : end]
}

// withPhrase is the preposition at i with its phrase.
func withPhrase(parts []part, i int) []part { return parts[i : i+1+len(phrase(parts, i))] }

// has reports whether parts have the keys of all others.
func has(parts, others []part) bool {
	keys := keysOf(parts)
	return !slices.ContainsFunc(others, func(p part) bool { return !slices.Contains(keys, p.key) })
}

// follows reports whether parts have the preposition at i of others right before the same word.
func follows(parts, others []part, i int) bool {
	for k := range parts {
		if parts[k].key == others[i].key && k+1 < len(parts) && i+1 < len(others) && parts[k+1].key == others[i+1].key {
			return true
		}
	}
	return false
}

// sides finds that all of one statement is said of the other side of something: before the deploy, and after
// it; or that it is decided for something, and against it.
func (p *pair) sides() []Finding {
	i, j := p.crossing(vocabularyOf().excluding)
	if i < 0 && p.s.decides() && p.t.decides() {
		i, j = placedIn(p.s.parts, p.t.parts, stancesApart)
	}
	if i < 0 || p.s.scene || p.t.scene || p.s.where != p.t.where || p.s.denies != p.t.denies ||
		says(common(p.s.parts, p.t.parts)) < min(says(p.s.parts), says(p.t.parts)) ||
		follows(p.t.parts, p.s.parts, i) || follows(p.s.parts, p.t.parts, j) {
		return nil
	}
	x, y := p.f.stretch(withPhrase(p.s.parts, i)), p.g.stretch(withPhrase(p.t.parts, j))
	return []Finding{{Kind: "opposite", A: x, B: y, Why: x + " against " + y}}
}

// decides reports whether a sentence says what was decided.
func (s *sentence) decides() bool {
	return slices.ContainsFunc(s.parts, func(p part) bool { return vocabularyOf().deciding[p.lower] })
}

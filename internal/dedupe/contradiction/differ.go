package contradiction

import (
	"slices"
	"strings"
)

// Differ is why two texts do not say the same although they share most words, "" if
// nothing shows that they do not: they have other numbers, dates, names or words with a
// hyphen, one denies what the other does not, they use opposites, or the same words in
// another order.
//
// What only one of them has is an addition and keeps nothing apart: a caller that drops one of
// the texts asks [Facts.Adds] too. The answer is the same whichever comes first, but for
// the order of the words that it names.
func (f *Facts) Differ(g *Facts) string {
	if f.repeats(g) {
		return ""
	}
	if a, b := f.unmet(g); a != "" && b != "" {
		return "different numbers or dates: " + a + " and " + b
	}
	if f.denies(g) {
		return "one denies what the other does not"
	}
	if a, b := f.unnamed(g, f.names), g.unnamed(f, g.names); a != "" && b != "" {
		return "different names: " + a + " and " + b
	}
	if a, b := f.unnamed(g, f.all()), g.unnamed(f, g.all()); a != "" && b != "" {
		return "different names, or first words: " + a + " and " + b
	}
	if a, b := f.OtherThing(g); a != "" {
		return "different names: " + a + " and " + b
	}
	if a, b := f.chosen(g); a != "" {
		return "different names: " + a + " and " + b
	}
	if a, b := f.opposite(g); a != "" {
		return "opposites: " + a + " and " + b
	}
	if f.turned(g) {
		return "the same names or words in another order"
	}
	return ""
}

// Adds is what a text says that another does not: a number, date or name that is in it
// only, or something that it alone denies. It is "" if nothing shows that it says more.
func (f *Facts) Adds(g *Facts) string {
	for _, at := range f.values {
		if !g.holds(f.word(at).value) {
			return f.says(at)
		}
	}
	if name := f.unnamed(g, f.names); name != "" {
		return name
	}
	if f.negators() > g.negators() {
		return "a denial"
	}
	return ""
}

// holds reports whether any value of the text agrees with one.
func (f *Facts) holds(v *value) bool {
	return slices.ContainsFunc(f.values, func(at wordPosition) bool { return f.word(at).value.agrees(v) })
}

// unmet are the first values of one kind that either text has and the other has not.
func (f *Facts) unmet(g *Facts) (mine, other string) {
	var missing []wordPosition
	for _, at := range g.values {
		if !f.holds(g.word(at).value) {
			missing = append(missing, at)
		}
	}
	if len(missing) == 0 {
		return "", ""
	}
	for _, at := range f.values {
		v := f.word(at).value
		if g.holds(v) {
			continue
		}
		if i := slices.IndexFunc(missing, func(b wordPosition) bool { return g.word(b).value.alike(v) }); i >= 0 {
			return f.says(at), g.says(missing[i])
		}
	}
	return "", ""
}

// unnamed is the first of the words of f that g does not have in any case or form.
func (f *Facts) unnamed(g *Facts, words []wordPosition) string {
	for _, at := range words {
		if !g.words[f.word(at).stem] {
			return f.says(at)
		}
	}
	return ""
}

// OtherThing are a word with a hyphen of each text that the other does not have, such as two
// programs that they are about; "" and "" if that is not so of both.
func (f *Facts) OtherThing(g *Facts) (mine, other string) {
	if mine, other = f.unjoined(g), g.unjoined(f); mine == "" || other == "" {
		return "", ""
	}
	return mine, other
}

// unjoined is the first of the words that a hyphen joins of which g does not have both
// parts together: programs, machines and branches have such names, without capitals.
func (f *Facts) unjoined(g *Facts) string {
	for _, at := range f.compounds {
		if !g.hasJoined(f, at) {
			return f.text[f.word(at).start:f.word(at.next()).end]
		}
	}
	return ""
}

// hasJoined reports whether two words that a hyphen joins in g follow each other in f.
func (f *Facts) hasJoined(g *Facts, at wordPosition) bool {
	first, second := g.word(at).stem, g.word(at.next()).stem
	if !f.words[first] || !f.words[second] {
		return false
	}
	for i := range f.sentences {
		words := f.sentences[i].words
		for j := range len(words) - 1 {
			if words[j].stem == first && words[j+1].stem == second {
				return true
			}
		}
	}
	return false
}

// all are the names and what may be some.
func (f *Facts) all() []wordPosition { return slices.Concat(f.names, f.firsts) }

func (f *Facts) negators() (n int) {
	for i := range f.sentences {
		n += f.sentences[i].negators()
	}
	return n
}

func (s *sentence) negators() (n int) {
	for i := range s.words {
		if s.words[i].negates {
			n++
		}
	}
	return n
}

// denies reports whether a sentence of the one text denies what its counterpart in the
// other does not. What stands in sentences without a counterpart is an addition.
func (f *Facts) denies(g *Facts) bool {
	a, b := len(f.sentences), len(g.sentences)
	return a <= b && f.deniesOf(g) || b <= a && g.deniesOf(f)
}

func (f *Facts) deniesOf(g *Facts) bool {
	for i := range f.sentences {
		s := &f.sentences[i]
		if near := g.closest(s); len(near) > 0 {
			t := &g.sentences[near[0]]
			if s.negators() != t.negators() || s.refused(t) || t.refused(s) {
				return true
			}
		}
	}
	return false
}

// refused reports whether the word behind one that negates stands elsewhere in t.
func (s *sentence) refused(t *sentence) bool {
	for i := range s.words {
		if w := &s.words[i]; w.content && w.denied &&
			slices.ContainsFunc(t.words, func(v word) bool { return v.stem == w.stem && !v.denied }) {
			return true
		}
	}
	return false
}

// opposite finds a word of f and its opposite in g, neither of which is in both. Small
// words such as on and off count in single sentences only.
func (f *Facts) opposite(g *Facts) (mine, other string) {
	short := len(f.sentences) == 1 && len(g.sentences) == 1
	for i := range f.sentences {
		for j := range f.sentences[i].words {
			w := &f.sentences[i].words[j]
			if g.words[w.stem] || !w.content && !short {
				continue
			}
			if o := f.excluded(g, w); o != "" {
				return f.says(wordPosition{i, j}), o
			}
		}
	}
	return "", ""
}

// chosen are what two single sentences say is preferred, or what something is called.
func (f *Facts) chosen(g *Facts) (mine, other string) {
	if len(f.sentences) != 1 || len(g.sentences) != 1 {
		return "", ""
	}
	p := pair{f: f, g: g, s: &f.sentences[0], t: &g.sentences[0]}
	for _, found := range p.choices() {
		return found.A, found.B
	}
	return "", ""
}

// excluded is a word of g that is the opposite of w, a word of f, and not in f.
func (f *Facts) excluded(g *Facts, w *word) string {
	only := func(o string) bool { return g.words[o] && !f.words[o] }
	for _, list := range [...][]string{w.known.opposites, w.known.kinds} {
		if i := slices.IndexFunc(list, only); i >= 0 {
			return list[i]
		}
	}
	for _, prefix := range prefixes() {
		if o := prefix + w.stem; only(o) && turnedBy(w.stem, o) {
			return o
		}
		if o, ok := strings.CutPrefix(w.stem, prefix); ok && only(o) && turnedBy(w.stem, o) {
			return o
		}
	}
	return ""
}

// turned reports whether two texts have the same names or numbers in another order, or
// the same words with the first and the last exchanged: "the dog bites the man".
func (f *Facts) turned(g *Facts) bool {
	stems := func(h *Facts, list []wordPosition) (out []string) {
		for _, at := range list {
			out = append(out, h.word(at).stem)
		}
		return out
	}
	if !sameOrder(stems(f, f.values), stems(g, g.values)) || !sameOrder(stems(f, f.names), stems(g, g.names)) {
		return true
	}
	if len(f.sentences) != 1 || len(g.sentences) != 1 || f.words["by"] != g.words["by"] {
		return false
	}
	a, b := &f.sentences[0], &g.sentences[0]
	return a.covered(b) && b.covered(a) && (exchanged(a.stems, b.stems) || exchanged(b.stems, a.stems))
}

// exchanged reports whether what comes first in a is last in b, and what is first in b
// comes after it in a, with a word between that both have between them.
func exchanged(a, b []string) bool {
	if len(b) < 3 || a[0] != b[len(b)-1] || a[0] == b[0] {
		return false
	}
	end := slices.Index(a, b[0])
	return slices.ContainsFunc(a[1:max(1, end)], func(w string) bool { return slices.Contains(b[1:len(b)-1], w) })
}

// covered reports whether t has all words of s that mean something.
func (s *sentence) covered(t *sentence) bool {
	return !slices.ContainsFunc(s.stems, func(stem string) bool { return !t.has(stem) })
}

// sameOrder reports whether what both lists have comes in one order.
func sameOrder(a, b []string) bool {
	return slices.Equal(shared(a, b), shared(b, a))
}

// shared are the words of a list that another has too, each once.
func shared(list, other []string) (out []string) {
	if len(list) == 0 || len(other) == 0 {
		return nil
	}
	there := make(map[string]bool, len(other))
	for _, w := range other {
		there[w] = true
	}
	for _, w := range list {
		if there[w] {
			there[w] = false
			out = append(out, w)
		}
	}
	return out
}

// repeats reports whether two texts have the same words in the same order, whatever stands
// between them. Of a number its unit is a part, and of a month the day.
func (f *Facts) repeats(g *Facts) bool {
	return slices.EqualFunc(f.sentences, g.sentences, func(s, t sentence) bool {
		return slices.EqualFunc(s.words, t.words, func(v, w word) bool {
			return v.lower == w.lower && strings.EqualFold(f.text[v.start:v.end], g.text[w.start:w.end])
		})
	})
}

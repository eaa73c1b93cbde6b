package contradiction

import (
	"cmp"
	"slices"
	"strings"
)

// Differ is why two texts do not say the same although they share most words, "" if
// nothing shows that they do not: they have other numbers, dates, names or words with a
// hyphen, one denies what the other does not, they use opposites, or they say the same of
// somebody or something else.
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
	if a, b := f.otherFormula(g), g.otherFormula(f); a != "" && b != "" {
		return "different formulas: " + a + " and " + b
	}
	if a, b := f.opposite(g); a != "" {
		return "opposites: " + a + " and " + b
	}
	return cmp.Or(f.roleReason(g), g.roleReason(f), f.conflict(g))
}

// conflict is what two single sentences contradict each other in, "" if nothing shows it.
func (f *Facts) conflict(g *Facts) string {
	if len(f.sentences) == 1 && len(g.sentences) == 1 {
		for _, found := range f.Find(g) {
			return found.Why
		}
	}
	return ""
}

// roleReason is why what a text says of somebody or something is said of another in g, "" if
// nothing shows it.
func (f *Facts) roleReason(g *Facts) string {
	if a, b := f.placed(g); a != "" {
		return "different places: " + a + " and " + b
	}
	if x, y := f.turned(g); x != "" {
		return x + " and " + y + " have each other's place"
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
		if s.words[i].negates || s.words[i].replaces {
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
		if t := g.counterpart(s); t != nil && (s.negators() != t.negators() || s.refused(t) || t.refused(s)) {
			return true
		}
	}
	return false
}

// refused reports whether the word behind one that negates stands elsewhere in t.
func (s *sentence) refused(t *sentence) bool {
	for i := range s.words {
		if w := &s.words[i]; w.content && w.denied &&
			slices.ContainsFunc(t.words, func(v word) bool { return v.stem == w.stem && !v.denied && !v.former }) {
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

// turned are two stretches of a sentence that have each other's place in its counterpart: "the dog
// bites the man". They are empty if there are none.
func (f *Facts) turned(g *Facts) (x, y string) {
	for i := range f.sentences {
		s := &f.sentences[i]
		t := g.counterpart(s)
		if t == nil {
			continue
		}
		if how, swap := arrange(common(s.active, t.active), common(t.active, s.active)); how == exchanged {
			return f.stretch(swap.x), f.stretch(swap.y)
		}
	}
	return "", ""
}

// stretch is what parts that follow each other say, as it stands.
func (f *Facts) stretch(parts []part) string {
	from, to := len(f.text), 0
	for _, p := range parts {
		from, to = min(from, p.start), max(to, p.end)
	}
	return f.text[min(from, to):to]
}

// common are the parts that another statement has too, as often as both have them.
func common(parts, others []part) (out []part) {
	left := make(map[string]int, len(others))
	for _, p := range others {
		left[p.key]++
	}
	for _, p := range parts {
		if left[p.key]--; left[p.key] >= 0 {
			out = append(out, p)
		}
	}
	return out
}

// covered reports whether t has all words of s that mean something.
func (s *sentence) covered(t *sentence) bool {
	return !slices.ContainsFunc(s.stems, func(stem string) bool { return !t.has(stem) })
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

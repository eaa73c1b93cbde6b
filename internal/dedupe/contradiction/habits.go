package contradiction

import (
	"maps"
	"slices"
	"strings"

	"emberd/internal/text/analysis"
)

// Habits are the stems by which to look for texts that a habit in a text excludes: meat and beef
// where it has vegetarian, and vegetarian where it has beef. Few texts have any.
func Habits(a *analysis.Analyzer, text string) []string {
	found := make(map[string]bool)
	for _, t := range a.Terms(text) {
		e := lookup(canonical(t.Text))
		for _, class := range e.abstains {
			for _, stem := range excludedBy()[class] {
				found[stem] = true
			}
		}
		for _, stem := range excludedBy()[e.class] {
			found[stem] = found[stem] || lookup(stem).class != e.class || stem == e.class
		}
	}
	maps.DeleteFunc(found, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(found))
}

// maxReversed is how many characters a text has at most for which Reversed returns terms.
const maxReversed = 16

// Reversed are the terms by which to look for texts with the roles of a short text exchanged, where no
// spaces stand between words: 追猫 and 狗追 for 猫追狗, which has no pair of characters in common with them.
func Reversed(text string) (out []string) {
	runes := []rune(text)
	if len(runes) > maxReversed {
		return nil
	}
	for i := 1; i < len(runes); i++ {
		if isUnspaced(runes[i-1]) && isUnspaced(runes[i]) {
			out = append(out, string([]rune{runes[i], runes[i-1]}))
		}
	}
	return out
}

// habits finds that somebody takes what the other statement says they do not: a vegetarian eats
// meat, and one who drinks no alcohol drinks wine.
func (p *pair) habits() []Finding {
	if who := p.s.subject(); who == "" || who != p.t.subject() {
		return nil
	}
	if i, j := abstaining(p.s, p.t); i >= 0 {
		return []Finding{p.habit(i, j)}
	}
	if j, i := abstaining(p.t, p.s); i >= 0 {
		return []Finding{p.habit(i, j)}
	}
	return nil
}

// subject is who or what a sentence begins with, up to a form of be or a word about a habit.
func (s *sentence) subject() string {
	for i, p := range s.parts {
		if e := s.words[p.word].known; p.link || e.taking || e.class != "" || e.abstains != nil {
			return strings.Join(keysOf(s.parts[:i]), " ")
		}
	}
	return ""
}

func (p *pair) habit(i, j int) Finding {
	f := p.finding("opposite", p.s.words[i], p.t.words[j])
	f.framed = true
	return f
}

// abstaining returns the word of s that excludes a class of things, and the word of t that is
// of the class and is taken; -1 if there is none.
func abstaining(s, t *sentence) (i, j int) {
	for i := range s.words {
		for _, class := range s.words[i].excludes() {
			if j := t.takes(class); j >= 0 {
				return i, j
			}
		}
	}
	return -1, -1
}

// excludes are the classes that a word says are not taken.
func (w *word) excludes() []string {
	switch {
	case w.denied && w.known.class != "":
		return []string{w.stem}
	case w.denied || w.former:
		return nil
	}
	return w.known.abstains
}

// takes is where a sentence names a thing, or something of a class, behind a verb of taking it, -1 if it
// does not.
func (s *sentence) takes(class string) int {
	verb := func(w word) bool { return w.known.taking && !w.denied }
	return slices.IndexFunc(s.words, func(w word) bool {
		return (w.known.class == class || w.stem == class) && !w.denied && !w.former &&
			slices.ContainsFunc(s.words, verb)
	})
}

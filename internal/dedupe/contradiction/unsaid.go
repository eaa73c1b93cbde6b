package contradiction

import (
	"slices"
	"strings"

	"emberd/internal/text/analysis"
)

// Unsaid is why another text does not say all that a text says, in the same words and with the
// same roles; "" if it does. Order counts but for [arrange], and of what the other text says
// besides nothing may restrict it or change whom it is about.
func (f *Facts) Unsaid(g *Facts) string {
	if formula := f.otherFormula(g); formula != "" {
		return "it lacks " + formula
	}
	for i := range f.sentences {
		s := &f.sentences[i]
		if len(s.parts) == 0 {
			continue
		}
		said := func(j int) bool {
			return contains(g.sentences[j].parts, s.parts) && !otherCase(s, &g.sentences[j])
		}
		if near := g.closest(s); !slices.ContainsFunc(near, said) {
			return f.unsaidWord(g, s)
		}
	}
	return ""
}

// Equal reports whether two texts say the same: each says all that the other says.
func Equal(a *analysis.Analyzer, s, t string) bool {
	f, g := Of(a, s), Of(a, t)
	return f.Differ(g) == "" && f.Unsaid(g) == "" && g.Unsaid(f) == ""
}

// unsaidWord names a word that the other text lacks, or says that its order is another one.
func (f *Facts) unsaidWord(g *Facts, s *sentence) string {
	for _, p := range s.parts {
		if !p.link && !g.words[p.key] {
			return "it lacks " + f.text[p.start:p.end]
		}
	}
	return "it arranges the words in another way"
}

// contains reports whether a statement says all that another one says.
func contains(whole, some []part) bool {
	if how, _ := arrange(whole, some); how == alike {
		return true
	}
	whole = active(whole)
	said := func(form []part) bool { return covers(whole, active(form)) }
	return anyForm(forms(some), said) || anyForm(inverted(some), said)
}

// covers reports whether the parts of a statement stand in another one in their order, and
// whether what it has between them only adds to it.
func covers(whole, some []part) bool {
	some = slices.DeleteFunc(slices.Clone(some), isBe)
	at := 0
	for i := 0; i < len(whole); {
		switch {
		case at < len(some) && whole[i].key == some[at].key:
			at++
			i++
		case whole[i].key == keyBe:
			i++
		default:
			end := i + 1
			for end < len(whole) && (at == len(some) || whole[end].key != some[at].key) {
				end++
			}
			if at == 0 || !adds(whole[i:end]) && !qualifiesAt(whole, i, end) {
				return false
			}
			i = end
		}
	}
	return at == len(some)
}

// adds reports whether words only add to what stands before them: a phrase with its
// preposition, or an adverb.
func adds(extra []part) bool {
	if slices.ContainsFunc(extra, restricts) {
		return false
	}
	return extra[0].link || len(extra) == 1 && strings.HasSuffix(extra[0].lower, "ly")
}

// qualifiesAt reports whether the one word between two places only says which one is meant: "on the
// old machine". It is no part of a name.
func qualifiesAt(whole []part, from, to int) bool {
	return to == from+1 && to < len(whole) && !whole[from].link && whole[from-1].link && !isBe(whole[from-1]) &&
		!restricts(whole[from-1]) && !restricts(whole[from]) && !whole[to].link && !whole[from].named
}

// restricts reports a word that leaves less of what a statement says, or nothing.
func restricts(p part) bool {
	switch p.key {
	case keyNot, keyInstead, "but", "if", "unless", "until", "without", "than", keyBy:
		return true
	}
	switch p.lower {
	case "only", "except", "less", "never", "or", "oder", "ou", "o", "或":
		return true
	}
	return false
}

// otherCase reports whether two German sentences have a noun in different cases: the one who bites is not the one
// who is bitten, wherever they stand.
func otherCase(s, t *sentence) bool {
	for i := 1; i < len(s.words); i++ {
		article := s.words[i-1].lower
		if article != "der" && article != "den" {
			continue
		}
		for j := 1; j < len(t.words); j++ {
			other := t.words[j-1].lower
			if t.words[j].stem == s.words[i].stem && other != article && (other == "der" || other == "den") {
				return true
			}
		}
	}
	return false
}

// Reworded is the similarity by vectors (calibrated, 0 to 1) from which a text says the same in
// other words. It is the least one at which at most one in a hundred neutral pairs of one half of
// SICK are taken for the same, by all-MiniLM-L6-v2.
const Reworded = 0.955

// Unknown is why another text does not say what a text says, "" if it does: by its words, or by
// vectors of a similarity of [Reworded] or more, 0 without vectors. Vectors do not see who does
// what to whom, so that both texts have to have half of their words in common, in one order.
func (f *Facts) Unknown(g *Facts, byVectors float64) string {
	why := f.Unsaid(g)
	if why != "" && byVectors >= Reworded && !f.rearranged(g) && !g.rearranged(f) {
		return ""
	}
	return why
}

// rearranged reports whether what two texts have in common stands in another order, or is less than
// half of what a sentence says.
func (f *Facts) rearranged(g *Facts) bool {
	for i := range f.sentences {
		s := &f.sentences[i]
		t := g.counterpart(s)
		if t == nil {
			return true
		}
		both := common(s.active, t.active)
		if how, _ := arrange(both, common(t.active, s.active)); how != alike || 2*says(both) < says(s.active) {
			return true
		}
	}
	return false
}

// says counts the parts that are no links.
func says(parts []part) (n int) {
	for _, p := range parts {
		if !p.link {
			n++
		}
	}
	return n
}

// counterpart is the sentence that shares most with one of another text, nil if none shares a word.
func (f *Facts) counterpart(s *sentence) *sentence {
	near := f.closest(s)
	if len(near) == 0 {
		return nil
	}
	return &f.sentences[near[0]]
}

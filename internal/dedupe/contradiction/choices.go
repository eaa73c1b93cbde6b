package contradiction

import (
	"slices"
	"strings"
)

// owners reports whether two sentences are the same but for the name that they begin with,
// of a role that one person has: "Ann owns the billing service".
func (p *pair) owners() bool {
	a, b := p.s.owner(), p.t.owner()
	if a == nil || b == nil || a.stem == b.stem || p.s.has(b.stem) || p.t.has(a.stem) ||
		p.s.words[1].stem != p.t.words[1].stem {
		return false
	}
	return p.shared > 1 && p.shared == len(p.s.stems)-1 && p.shared == len(p.t.stems)-1
}

// owner is the name at the beginning, if a verb of having something alone follows, or what
// there is one of.
func (s *sentence) owner() *word {
	if len(s.words) < 3 || !s.words[0].first && !s.words[0].name {
		return nil
	}
	if isOne(s.words[1], "is") && isOne(s.words[2], "the") {
		return &s.words[0]
	}
	if v := &s.words[1]; !v.negates && isOne(*v, "owns", "leads", "manages", "heads", "leitet") {
		return &s.words[0]
	}
	return nil
}

// choices finds that two sentences are the same but for what is preferred, or what
// something is called. Names need no capitals then.
func (p *pair) choices() []Finding {
	i, j := p.s.chosen(), p.t.chosen()
	if i < 0 || j < 0 || p.s.where != p.t.where {
		return nil
	}
	a, b := &p.s.words[i], &p.t.words[j]
	if a.stem == b.stem || a.denied != b.denied || p.s.words[i-1].stem != p.t.words[j-1].stem {
		return nil
	}
	rest := func(s *sentence) []string {
		return slices.DeleteFunc(slices.Sorted(slices.Values(s.stems)),
			func(stem string) bool { return stem == a.stem || stem == b.stem })
	}
	if r := rest(p.s); len(r) < 2 || !slices.Equal(r, rest(p.t)) {
		return nil
	}
	return []Finding{p.finding("name", *a, *b)}
}

// chosen is where the thing stands that is preferred, or the name that something has; -1
// if there is neither.
func (s *sentence) chosen() int {
	for i := 1; i < len(s.words); i++ {
		w, before := &s.words[i], &s.words[i-1]
		if !w.content || w.boundary || w.former || w.known.opposites != nil {
			continue
		}
		if isOne(*before, "prefers", "prefer", "called", "named") {
			return i
		}
		if i > 1 && isOne(*before, "to") && isOne(s.words[i-2], "renamed") {
			return i
		}
	}
	return -1
}

// label are the words before a colon that the word at i is all the rest behind, in one;
// "" if it is not. What several may be has a label in the plural.
func (s *sentence) label(i int) string {
	if !s.words[i].labelled || i == 0 || i > 4 {
		return ""
	}
	var stems []string
	for _, w := range s.words[:i] {
		if w.value != nil || w.negates {
			return ""
		}
		if w.content {
			stems = append(stems, w.stem)
		}
	}
	head := s.words[i-1].lower
	plural := strings.HasSuffix(head, "s") && !strings.HasSuffix(head, "ss") && !strings.HasSuffix(head, "us")
	if plural || slices.ContainsFunc(s.words[i+1:], func(w word) bool { return !w.name }) {
		return ""
	}
	return strings.Join(stems, " ")
}

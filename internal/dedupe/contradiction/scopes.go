package contradiction

import (
	"slices"
	"strings"

	"emberd/internal/text/analysis"
)

// A statement holds within its scope: under its headings, of the person whose sister it names, and in
// the opinion of whom it quotes. Statements of two scopes do not contradict each other.

// heading is a heading above sentences.
type heading struct {
	level int // from 1 in the text, below it of a note that the text is a part of
	stems []string
}

// headingLevel returns the level of a Markdown heading, 0 for other text.
func headingLevel(s string) int {
	s = strings.TrimLeft(s, " ")
	level := len(s) - len(strings.TrimLeft(s, "#"))
	if level > 6 || level == len(s) || s[level] != ' ' {
		return 0
	}
	return level
}

// enter puts the sentences that follow under a heading, which the last sentence is, and ends the
// headings that are not above it.
func (p *parser) enter(level int, stems []string) {
	p.headings = slices.DeleteFunc(p.headings, func(h heading) bool { return h.level >= level })
	p.headings = append(p.headings, heading{level, stems})
	p.scope = nil
	for _, h := range p.headings {
		p.scope = append(p.scope, h.stems...)
	}
}

// stemsOf returns those of the terms that are no stop words.
func stemsOf(terms []analysis.Term) (out []string) {
	for _, t := range terms {
		if !t.Stop() && t.Text != "" {
			out = append(out, canonical(t.Text))
		}
	}
	return out
}

// scoped reports whether the sentences are of two scopes.
func (p *pair) scoped() bool {
	if p.s.holder != p.t.holder || p.s.owner != "" && p.t.owner != "" && p.s.owner != p.t.owner {
		return true
	}
	under, other := p.s.underAnother(p.t), p.t.underAnother(p.s)
	return under && other || under && p.t.within(p.s) || other && p.s.within(p.t)
}

// underAnother reports whether a heading above s has a word that t has neither in it nor above it.
func (s *sentence) underAnother(t *sentence) bool {
	return slices.ContainsFunc(s.scope,
		func(stem string) bool { return !slices.Contains(t.scope, stem) && !t.has(stem) })
}

// within reports whether s names its scope in a phrase, such as "in project A", that t does not have
// in it or above it.
func (s *sentence) within(t *sentence) bool {
	for i, p := range s.parts {
		if !p.named || slices.Contains(t.scope, p.key) || t.has(p.key) {
			continue
		}
		if slices.ContainsFunc(s.parts[max(0, i-2):i], func(q part) bool { return vocabularyOf().scopes[q.key] }) {
			return true
		}
	}
	return false
}

// attribute notes whose opinion the sentence is, and whose thing or relative it is about.
func (s *sentence) attribute() {
	for i := range s.words {
		w := &s.words[i]
		if owner := vocabularyOf().owners[w.lower]; owner != "" && s.owner == "" {
			s.owner = owner
		}
		switch {
		case s.holder != "":
		case vocabularyOf().opinions[w.lower] && s.quotes(i):
			s.holder = s.holderBefore(i)
		case vocabularyOf().opinions[w.lower] && w.boundary && i > 1 && len(s.words) <= i+3: // "…", said Ann
			s.holder = s.holderAfter(i)
		case vocabularyOf().accordingTo[w.lower]:
			s.holder = s.holderAfter(i)
		}
	}
}

// quotes reports whether a statement of its own follows a verb of opinion: "says that", but not
// "thinks of it".
func (s *sentence) quotes(i int) bool {
	says := 0
	for _, w := range s.words[i+1:] {
		switch link := linkOf(w.lower); {
		case says > 0 || w.content || w.value != nil || link == "" || link == keyWhich || link == keyBe:
		default:
			return false
		}
		if w.content || w.value != nil {
			says++
		}
	}
	return says > 1
}

// holderBefore returns the words before a verb of opinion, which say whose it is: those with meaning, or
// else the last one, such as "some". It is "" for the writer.
func (s *sentence) holderBefore(i int) string {
	var out []string
	last := ""
	for _, w := range s.words[:i] {
		if last = w.stem; w.content {
			out = append(out, w.stem)
		}
	}
	if len(out) == 0 && last != "" {
		out = []string{last}
	}
	if len(out) == 1 && vocabularyOf().writers[out[0]] {
		return ""
	}
	return strings.Join(out, " ")
}

// holderAfter returns the first word with meaning behind "according to".
func (s *sentence) holderAfter(i int) string {
	for _, w := range s.words[i+1:] {
		if w.content {
			return w.stem
		}
	}
	return ""
}

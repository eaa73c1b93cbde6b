package contradiction

import (
	"slices"
	"strings"
)

// direction is which way a word says that something goes.
type direction int8

const (
	level   direction = iota
	up                // it increases
	down              // it decreases
	linked            // it is related to something else, one way or the other
	none              // it has nothing to do with it
	notUp             // it does not increase
	notDown           // it does not decrease
)

// directionAt returns the direction of the word at i; a denied word has none.
func (s *sentence) directionAt(i int) direction {
	w := &s.words[i]
	c := w.known.direction
	switch {
	case w.former, c == none && !s.said(i), i+1 < len(s.words) && isOne(s.words[i+1], "by") &&
		strings.HasSuffix(w.lower, "ed") && !s.said(i):
		return level // "fever induced by a drug" says which fever
	case !w.denied:
		return c
	case c == up:
		return notUp
	case c == down:
		return notDown
	case c == linked:
		return none
	}
	return level
}

// said reports whether the word at i is what the sentence says of something, as in "is
// unrelated": behind a form of be, or a word further.
func (s *sentence) said(i int) bool {
	for _, w := range s.words[max(0, i-2):i] {
		switch w.stem {
		case "is", "ar", "are", "was", "wa", "were", "be", "been", "remain":
			return true
		}
	}
	return false
}

// opposite reports whether what goes the one way cannot go the other.
func (c direction) opposite(d direction) bool {
	if c > d {
		c, d = d, c
	}
	switch c {
	case up:
		return d == down || d == none || d == notUp
	case down:
		return d == none || d == notDown
	case linked:
		return d == none
	}
	return false
}

// reach is how many words with meaning belong to a word that says which way they go.
const reach = 4

// around are the words that one at i says something of: behind it, to the next word that
// names a direction, or to "by" and "after", which say what did it.
func (s *sentence) around(i int) (out []string) {
	for j := i + 1; j < len(s.words) && len(out) < reach; j++ {
		if s.words[j].boundary && len(out) > 0 || s.words[j].known.direction != level && len(out) > 0 {
			break
		}
		if link := linkOf(s.words[j].lower); link == keyBy && len(out) > 0 || link == "after" {
			break
		}
		if w := &s.words[j]; w.content && w.known.direction == level {
			out = append(out, w.stem)
		}
	}
	return out
}

// lacks counts the words that say that something is not there.
func (s *sentence) lacks() (n int) {
	for i := range s.words {
		if s.words[i].known.lacks {
			n++
		}
	}
	return n
}

// mixed reports a sentence about things that go one way and things that go the
// other.
func (s *sentence) mixed() bool {
	ups, downs := false, false
	for i := range s.words {
		c := s.directionAt(i)
		ups, downs = ups || c == up || c == notDown, downs || c == down || c == notUp || c == none
	}
	return ups && downs
}

// directions finds one thing that goes one way here, and the other way there. Nothing is
// found if another word of the sentences agrees on it.
func (p *pair) directions() (out []Finding) {
	if p.s.scene || p.t.scene || p.shared < 3 && 2*p.shared < min(len(p.s.stems), len(p.t.stems)) ||
		(p.s.lacks()-p.t.lacks())%2 != 0 {
		return nil
	}
	minimum := 1
	if p.s.mixed() || p.t.mixed() {
		minimum = 2
	}
	for i := range p.s.words {
		c := p.s.directionAt(i)
		if c == level {
			continue
		}
		var of []string
		for j := range p.t.words {
			d := p.t.directionAt(j)
			if d == level {
				continue
			}
			if of == nil {
				of = p.s.around(i)
			}
			both := inBoth(of, p.t.around(j))
			switch {
			case c == d && both > 0:
				return nil
			case out == nil && both >= minimum && c.opposite(d):
				out = []Finding{p.finding("opposite", p.s.words[i], p.t.words[j])}
			}
		}
	}
	return out
}

// inBoth counts the words that both lists have, each once.
func inBoth(a, b []string) (n int) {
	for i, w := range a {
		if slices.Contains(b, w) && !slices.Contains(a[:i], w) {
			n++
		}
	}
	return n
}

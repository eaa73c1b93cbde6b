package contradiction

import (
	"slices"
	"strconv"
	"strings"
)

// A sentence that does not name what it is about belongs to the topic of its text, which the other sentences
// name: "Trip to Rome: hotel Adler. Checkout is at 10." Two such sentences are about one thing only if their
// texts have one topic.

// meeting counts what two texts of several sentences have in common.
type meeting struct {
	shared       int // stems
	mine, others int // names that only the first text has, and only the second
}

func meet(f, g *Facts) (m meeting) {
	for stem := range f.counts {
		if g.counts[stem] > 0 {
			m.shared++
		}
	}
	m.mine, m.others = f.ownNames(g), g.ownNames(f)
	return m
}

// ownNames counts the names of f that g does not have.
func (f *Facts) ownNames(g *Facts) (n int) {
	for name := range f.topics {
		if !g.knows(name) {
			n++
		}
	}
	return n
}

func (f *Facts) knows(name string) bool { return f.words[name] || f.topics[name] > 0 }

// countTopics counts in how many sentences each stem and each name stands. A number that says which thing it
// is, as in "sprint 41", is a name.
func (f *Facts) countTopics() {
	if len(f.sentences) < 2 {
		return
	}
	f.counts, f.topics = make(map[string]int), make(map[string]int)
	for i := range f.sentences {
		for _, stem := range f.sentences[i].stems {
			f.counts[stem]++
		}
		for _, name := range f.sentences[i].topicNames() {
			f.topics[name]++
		}
	}
}

// topicNames are the names in a sentence, each once.
func (s *sentence) topicNames() (out []string) {
	for i := range s.words {
		w := &s.words[i]
		name := ""
		switch {
		case w.value != nil && s.numbers(i):
			name = s.words[i-1].stem + " " + strconv.FormatFloat(w.value.plain, 'g', -1, 64)
		case w.name:
			name = w.stem
		}
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// refersBack reports whether the subject of a sentence is a pronoun, or such as "the old one".
func (s *sentence) refersBack() bool {
	if len(s.words) == 0 {
		return false
	}
	if vocabularyOf().pronouns[s.words[0].lower] {
		return true
	}
	for i := 1; i < min(len(s.words), 4); i++ {
		if isOne(s.words[i], "one", "ones") && (i+1 == len(s.words) || !s.words[i+1].content) {
			return true
		}
	}
	return false
}

// leans reports whether a sentence may be about what other sentences of its text name: it is not the first one,
// or has a pronoun for its subject, and names nothing that the other text has too.
func (f *Facts) leans(s, t *sentence) bool {
	if len(f.sentences) < 2 || !s.refers && s == f.opening() {
		return false
	}
	return s.refers || !slices.ContainsFunc(s.words, func(w word) bool { return w.name && !w.former && t.has(w.stem) })
}

// opening is the first sentence that is no heading and no reply such as "No, that's wrong"; nil if there is none.
func (f *Facts) opening() *sentence {
	for i := range f.sentences {
		if s := &f.sentences[i]; !s.heading && !isReply(s) {
			return &f.sentences[i]
		}
	}
	return nil
}

// offTopic reports whether the sentences may be about two things. It notes whether only one of them says what
// it is about.
func (p *pair) offTopic() bool {
	mine, other := p.f.leans(p.s, p.t), p.g.leans(p.t, p.s)
	p.leaning = mine != other
	switch {
	case mine && other:
		return !p.oneTopic()
	case mine:
		return p.t.strayed(p.s, p.f)
	case other:
		return p.s.strayed(p.t, p.g)
	}
	return false
}

// oneTopic reports whether what the other sentences of both texts say is mostly the same, and names the same.
func (p *pair) oneTopic() bool {
	if len(p.f.sentences) < 2 || len(p.g.sentences) < 2 {
		return true
	}
	m := *p.met
	mine, others := len(p.f.counts), len(p.g.counts)
	for _, stem := range p.s.stems {
		gone := p.f.counts[stem] == 1
		if gone {
			mine--
		}
		if p.g.counts[stem] > 0 && (gone || p.t.has(stem) && p.g.counts[stem] == 1) {
			m.shared--
		}
	}
	for _, stem := range p.t.stems {
		if p.g.counts[stem] != 1 {
			continue
		}
		if others--; p.f.counts[stem] > 0 && !p.s.has(stem) {
			m.shared--
		}
	}
	m.mine -= ownIn(p.s, p.f, p.g)
	m.others -= ownIn(p.t, p.g, p.f)
	return 2*m.shared > min(mine, others) && (m.mine == 0 || m.others == 0)
}

// ownIn counts the names that f has in one of its sentences only, and g has not.
func ownIn(s *sentence, f, g *Facts) (n int) {
	for _, name := range s.topicNames() {
		if f.topics[name] == 1 && !g.knows(name) {
			n++
		}
	}
	return n
}

// strayed reports whether the sentence, which says what it is about, is about something else than another one of f
// that does not: f does not have half of what the sentence says beside it, or it has another name.
func (s *sentence) strayed(other *sentence, f *Facts) bool {
	own, known := 0, 0
	for _, stem := range s.stems {
		if other.has(stem) {
			continue
		}
		if own++; f.words[stem] {
			known++
		}
	}
	if other.refers {
		return 2*known < own || own > 0 && s.namesBeyond(f)
	}
	return s.namesBeyond(f) && !slices.ContainsFunc(other.words, func(w word) bool { return w.name })
}

// namesBeyond reports whether the sentence has a name that a text lacks.
func (s *sentence) namesBeyond(f *Facts) bool {
	return slices.ContainsFunc(s.topicNames(), func(name string) bool { return !f.knows(name) })
}

// isReply reports whether a sentence says only whether an earlier one is right.
func isReply(s *sentence) bool {
	return !slices.ContainsFunc(s.stems, func(stem string) bool { return !vocabularyOf().replies[stem] })
}

// states reports whether a sentence says that something is so.
func (s *sentence) states() bool { return !s.silent && !s.heading }

// maxBrief is how many sentences a brief text has at most.
const maxBrief = 4

// Brief reports a text that says so little that each of its sentences is about the same. What only a sentence of a
// longer one says, such as an explanation or a turn of a conversation, is not enough to replace it.
func (f *Facts) Brief() bool {
	n := 0
	for i := range f.sentences {
		if s := &f.sentences[i]; !s.heading {
			n++
		}
	}
	return n <= maxBrief
}

// fences counts the marks in a text that begin or end a block of code.
func fences(s string) int { return strings.Count(s, "```") }

// about are the stems that say what the word at i is about: those of its clause, and
// with what the sentence begins.
func (s *sentence) about(i int) []string {
	from, to := i, i+1
	for from > 0 && !s.words[from].boundary && !joins(s.words[from].stem) {
		from--
	}
	for to < len(s.words) && !s.words[to].boundary && !joins(s.words[to].stem) {
		to++
	}
	var out []string
	add := func(w *word) {
		if w.content && !w.former && !w.known.neutral && !slices.Contains(out, w.stem) {
			out = append(out, w.stem)
		}
	}
	for j := range s.words[:from] {
		if w := &s.words[j]; w.content && !w.known.neutral {
			add(w)
			break
		}
	}
	for j := from; j < to; j++ {
		if j != i {
			add(&s.words[j])
		}
	}
	return out
}

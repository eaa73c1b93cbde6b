package intent

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"emberd/memory"
)

// negationReach is how many words after a negation a phrase may begin and be taken
// back by it.
const negationReach = 4

// maxTags bounds the tags that are suggested.
const maxTags = 10

// signals are what a message holds of each kind, every phrase once, in order.
type signals struct {
	save, recall, importance, exclusion, doubt, negated []string

	command, refused bool // a command to save, and one that is negated
	critical, marker bool
	preference       bool
	tags             []string
	recallSpans      []hit
}

// marked reports whether the message says itself that it matters.
func (s *signals) marked() bool { return s.marker || s.command }

// forbidden reports whether the message asks not to be saved.
func (s *signals) forbidden() bool { return s.refused && !s.command }

// signals reads what a message holds of each kind.
func (a *Analyzer) signals(m message) *signals {
	hits, tags := a.hits(m)
	hits = settle(hits)
	denied := negations(m, hits)
	s := &signals{tags: withHashtags(m.text, tags)}
	commands := map[int]bool{} // by sentence
	var questions []hit
	for i, h := range hits {
		switch {
		case h.list.negatable() && denied[h.start]:
			s.negated = appendNew(s.negated, h.phrase)
			s.refused = s.refused || h.list == saveCommands
		case h.list == exclusion:
			if !leadsToSave(hits[i+1:], h) {
				questions = append(questions, h)
			}
		default:
			s.note(h)
			if h.list == recall {
				questions = append(questions, h)
			} else if h.list == saveCommands {
				commands[m.words[h.start].sentence] = true
			}
		}
	}
	for _, h := range questions {
		// A question does not cancel a command in another sentence.
		if !s.command || commands[m.words[h.start].sentence] {
			s.exclusion = appendNew(s.exclusion, h.phrase)
		}
	}
	return s
}

func (s *signals) note(h hit) {
	switch h.list {
	case saveCommands, savePreferences, saveDecisions:
		s.save = appendNew(s.save, h.phrase)
		s.command = s.command || h.list == saveCommands
	case recall:
		s.recall = appendNew(s.recall, h.phrase)
		s.recallSpans = append(s.recallSpans, h)
	case importanceCritical, importanceMarkers, importanceWords:
		s.importance = appendNew(s.importance, h.phrase)
		s.critical = s.critical || h.list == importanceCritical
		s.marker = s.marker || h.list != importanceWords
	case uncertainty:
		s.doubt = appendNew(s.doubt, h.phrase)
	case preference:
		s.preference = true
	}
}

// appendNew keeps the lists short whatever the length of the message: there are only
// so many phrases.
func appendNew(phrases []string, p string) []string {
	if slices.Contains(phrases, p) {
		return phrases
	}
	return append(phrases, p)
}

// settle drops, of the phrases that say what a message is for, those that reach into
// one that starts earlier or is longer. It keeps the order, which is by start.
func settle(hits []hit) []hit {
	var kept []hit
	end := 0
	for i, h := range hits {
		switch {
		case !h.list.purpose():
			kept = append(kept, h)
		case h.start >= end && !outdone(hits[i+1:], h):
			kept = append(kept, h)
			end = h.end
		}
	}
	return kept
}

// outdone reports whether a longer phrase starts where h does. Of equally long ones
// the first stays, which is that of the earlier list.
func outdone(after []hit, h hit) bool {
	for _, o := range after {
		if o.start != h.start {
			return false
		}
		if o.list.purpose() && o.end > h.end {
			return true
		}
	}
	return false
}

// negations reports for each word whether a phrase that begins there is negated: by a
// negation shortly before it in its clause. One that is part of a phrase, as in "don't
// forget", negates nothing else.
func negations(m message, hits []hit) []bool {
	denied, within := make([]bool, len(m.words)+1), make([]bool, len(m.words))
	for _, h := range hits {
		if h.list.purpose() {
			for i := range within[h.start:h.end] {
				within[h.start+i] = true
			}
		}
	}
	for _, h := range hits {
		if h.list != negation || within[h.start] {
			continue
		}
		for i := h.end; i < len(m.words) && i < h.end+negationReach && !m.words[i].apart(); i++ {
			denied[i] = true
		}
	}
	return denied
}

// leadsToSave reports whether a command to save follows an exclusion with nothing but
// openers between, which the command may include: "could you please remember".
func leadsToSave(after []hit, h hit) bool {
	at := h.end
	for _, o := range after {
		switch {
		case o.start > at:
			return false
		case o.start >= h.end && o.list == saveCommands:
			return true
		case o.start == at && o.list == openers:
			at = o.end
		}
	}
	return false
}

// hashtag is a tag as Obsidian writes it.
var hashtag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s(])#([\p{L}\p{M}\p{N}_/-]*\p{L}[\p{L}\p{M}\p{N}_/-]*)`)
})

// withHashtags puts the tags that are written in the text before those suggested.
func withHashtags(text string, suggested []string) []string {
	var tags []string
	if strings.Contains(text, "#") {
		for _, m := range hashtag().FindAllStringSubmatch(text, maxTags) {
			if tag, err := memory.NormalizeTag(m[1]); err == nil {
				tags = appendNew(tags, tag)
			}
		}
	}
	for _, t := range suggested {
		tags = appendNew(tags, t)
	}
	return tags[:min(maxTags, len(tags))]
}

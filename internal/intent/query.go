package intent

import (
	"strings"

	"emberd/internal/text"
)

// query returns what to search for: what follows the phrases that recall in their
// sentence, or precedes them there if nothing does, or the message without them.
func (a *Analyzer) query(m message, phrases []hit) string {
	last := phrases[0]
	_, end := sentenceAround(m.text, m.words[last.start].start)
	for _, h := range phrases {
		if m.words[h.start].start < end {
			last = h
		}
	}
	from, to := m.words[last.start].start, m.words[last.end-1].end
	start, _ := sentenceAround(m.text, from)
	for _, part := range []string{
		m.text[to:max(to, end)],
		m.text[start:from],
		m.text[:from] + " " + m.text[to:],
	} {
		if q := a.trimmed(part); q != "" {
			return q
		}
	}
	return clip(m.text, 50)
}

// trimmed returns the query that part of a message makes, "" if it has no word to
// search for.
func (a *Analyzer) trimmed(part string) string {
	m := read(part)
	content, first := false, 0
	for i, w := range m.words {
		n := a.root.next[w.folded]
		if n != nil && n.lists.has(possessives) && first == i {
			first++
		} else if n == nil || !n.lists.has(pronouns) {
			content = true
		}
	}
	if !content {
		return ""
	}
	return clip(strings.Trim(m.text[m.words[first].start:], "?？!.。,:;： \n\t"), maxQuery)
}

// sentenceAround returns where the sentence starts and ends that contains offset at of s.
func sentenceAround(s string, at int) (start, end int) {
	for piece := range text.SplitSentences(s) {
		if end = start + len(piece); at < end {
			break
		}
		start = end
	}
	return start, end
}

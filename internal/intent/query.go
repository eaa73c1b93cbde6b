package intent

import (
	"strings"
	"unicode/utf8"
)

// query returns what to search for: what follows the phrases that recall in their
// sentence, or precedes them there if nothing does, or the message without them.
func (a *Analyzer) query(m message, phrases []hit) string {
	last := phrases[0]
	end := sentenceEnd(m.text, m.words[last.start].start)
	for _, h := range phrases {
		if m.words[h.start].start < end {
			last = h
		}
	}
	from, to := m.words[last.start].start, m.words[last.end-1].end
	for _, part := range []string{
		m.text[to:max(to, end)],
		m.text[sentenceStart(m.text, from):from],
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

const stops = ".!?…。！？\n"

// sentenceEnd returns where the sentence ends that goes on at a byte of text. A stop
// within a word, as in node.js, ends none.
func sentenceEnd(text string, at int) int {
	for i, r := range text[at:] {
		if strings.ContainsRune(stops, r) {
			rest := text[at+i+len(string(r)):]
			if r > 0x7f || r == '\n' || rest == "" || strings.ContainsAny(rest[:1], " \n\t\"'") {
				return at + i
			}
		}
	}
	return len(text)
}

// sentenceStart returns where the sentence begins that holds a byte of text.
func sentenceStart(text string, at int) int {
	start := 0
	for {
		end := sentenceEnd(text, start)
		_, size := utf8.DecodeRuneInString(text[end:])
		if end+size > at || size == 0 {
			return start
		}
		start = end + size
	}
}

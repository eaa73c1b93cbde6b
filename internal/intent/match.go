package intent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"emberd/internal/text"
)

// message is a text as the words that phrases are made of.
type message struct {
	text  string
	words []word
}

// word is a run of letters and digits, folded, or one letter of a script that writes
// no spaces.
type word struct {
	folded     string
	start, end int
	gap        gap
	sentence   int  // by number
	asked      bool // its sentence ends in a question mark
}

// gap is what stands before a word.
type gap uint8

const (
	within gap = iota // blanks, quotation marks, emphasis
	line              // one line break
	comma             // something that parts clauses, or words as in node.js
	stop              // the end of a sentence or a paragraph
)

// apart reports whether no phrase reaches from the word before to this one.
func (w word) apart() bool { return w.gap >= comma }

func read(s string) message {
	if !norm.NFC.IsNormalString(s) {
		s = norm.NFC.String(s)
	}
	m := message{text: s, words: make([]word, 0, len(s)/4)}
	ends, last, start := text.SentenceEnds(upper(s)), 0, -1
	end := func(at int) {
		if start < 0 {
			return
		}
		for ends[0] <= last && ends[0] < len(s) {
			ends = ends[1:]
		}
		w := word{folded: fold(s[start:at]), start: start, end: at}
		if n := len(m.words); n == 0 {
			w.gap = stop
		} else {
			w.gap, w.sentence = gapOf(s[last:start], last < ends[0] && ends[0] <= start), m.words[n-1].sentence
		}
		if w.gap == stop && len(m.words) > 0 {
			w.sentence++
		}
		m.words = append(m.words, w)
		last, start = at, -1
	}
	for i, r := range s {
		switch {
		case text.WritesNoSpaces(r):
			end(i)
			start = i
			end(i + utf8.RuneLen(r))
		case text.IsWord(r) || start >= 0 && text.IsApostrophe(r):
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
	}
	end(len(s))
	m.markQuestions()
	return m
}

// upper returns s with the ASCII letters in upper case, byte for byte. Many write messages
// without capital letters, so where sentences end must not depend on case.
func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// markQuestions looks at what ends each sentence, from the last to the first.
func (m message) markQuestions() {
	asked, after := false, len(m.text)
	for i := len(m.words) - 1; i >= 0; i-- {
		w := &m.words[i]
		if i == len(m.words)-1 || m.words[i+1].gap == stop {
			asked = strings.ContainsAny(m.text[w.end:after], "?？")
		}
		w.asked, after = asked, w.start
	}
}

// fold drops apostrophes, which many leave out, and those of quotations.
func fold(s string) string {
	if isSmall(s) {
		return s
	}
	if strings.ContainsFunc(s, text.IsApostrophe) {
		s = strings.Map(func(r rune) rune {
			if text.IsApostrophe(r) {
				return -1
			}
			return r
		}, s)
	}
	return strings.ToLower(s)
}

// isSmall reports a word of small ASCII letters, as most are.
func isSmall(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

// gapOf classifies what stands between two words. The sentence of the first one ends there
// if ends is set.
func gapOf(s string, ends bool) gap {
	if s == " " || s == "" {
		return within
	}
	widest := within
	if n := strings.Count(s, "\n"); n == 1 {
		widest = line
	} else if n > 1 {
		return stop
	}
	if before, _, broken := strings.Cut(s, "\n"); ends && (!broken || text.EndsSentence(strings.TrimSpace(before))) {
		return stop
	}
	if strings.Contains(s, " - ") {
		widest = comma
	}
	blank := strings.ContainsFunc(s, unicode.IsSpace)
	for _, r := range s {
		switch {
		case r == '：', r == '；', (r == ';' || r == ':') && blank:
			return stop
		case !unicode.IsSpace(r) && !strings.ContainsRune("\"'“”‘’„*_`~-", r):
			widest = comma
		}
	}
	return widest
}

// node is a place in the tree of all phrases, one word below its parent.
type node struct {
	next     map[string]*node
	phrase   string // as the list has it
	lists    set    // that hold the phrase
	anchored set    // that hold it for the beginning of a clause only
	tags     []string
}

// child returns the node of a word below n, made if there is none.
func (n *node) child(w string) *node {
	c := n.next[w]
	if c == nil {
		c = &node{}
		if n.next == nil {
			n.next = map[string]*node{}
		}
		n.next[w] = c
	}
	return c
}

// hit is a phrase found at words[start:end].
type hit struct {
	list       list
	start, end int
	phrase     string
}

// hits returns the phrases in a message by where they start, of each list the longest
// at a word, and the tags that words suggest. A phrase has at most maxWords words, so
// the work is linear.
func (a *Analyzer) hits(m message) (found []hit, tags []string) {
	begins := inside
	for i, w := range m.words {
		begins = w.place(begins)
		n, at := &a.root, len(found)
		for j := i; j < len(m.words) && (j == i || !m.words[j].apart()); j++ {
			if n = n.next[m.words[j].folded]; n == nil {
				break
			}
			for l := range n.lists.members() {
				if n.anchored.has(l) && !begins.anchors(l) {
					continue
				}
				found = put(found, at, hit{l, i, j + 1, n.phrase})
			}
			for _, t := range n.tags {
				tags = appendNew(tags, t)
			}
		}
		if !slices.ContainsFunc(found[at:], func(h hit) bool { return h.list == openers }) {
			begins = inside
		}
	}
	return found, tags
}

// put adds a hit to those of one word, found[at:], in place of a shorter one of its list.
func put(found []hit, at int, h hit) []hit {
	for i := range found[at:] {
		if found[at+i].list == h.list {
			found[at+i] = h
			return found
		}
	}
	return append(found, h)
}

// place is where in its sentence a word stands, for anchored phrases.
type place uint8

const (
	inside   place = iota
	clause         // it begins a clause
	question       // of a sentence that asks
	sentence       // it begins a sentence or a line
)

// place returns where a word stands, given what openers left of the word before.
func (w word) place(before place) place {
	switch {
	case w.gap == stop, w.gap == line:
		return sentence
	case w.gap == comma && w.asked:
		return question
	case w.gap == comma:
		return clause
	}
	return before
}

// anchors reports whether an anchored phrase of a list counts at p. One that excludes
// asks something, and "our database, which is small" does not.
func (p place) anchors(l list) bool {
	if l == exclusion {
		return p >= question
	}
	return p >= clause
}

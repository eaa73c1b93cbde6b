package rekindle

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"emberd/internal/text"
)

// MaxKeyTerms is how many terms a rehydratable memory is found by at most.
const MaxKeyTerms = 12

// The bound of a summary: a hundredth of the text, but not less than this many
// characters (code points).
const (
	minBound    = 80
	compression = 100
)

// Bound returns how many characters a text's summary may have:
// max(80, length/100), and never more than the text has.
func Bound(content string) int {
	n := utf8.RuneCountInString(content)
	return min(n, max(minBound, n/compression))
}

// A Summarizer makes summaries and key terms. It may be shared.
type Summarizer struct {
	analyzer *text.Analyzer
	common   map[string]bool
}

// NewSummarizer returns a Summarizer whose terms are those of a, which should be
// the analyzer that searches use.
func NewSummarizer(a *text.Analyzer) *Summarizer {
	s := &Summarizer{analyzer: a, common: make(map[string]bool)}
	for w := range strings.FieldsSeq(common) {
		s.common[w] = true
	}
	return s
}

// Summary returns one sentence of the text, within [Bound] and without markup,
// control characters or line breaks. The entities that the memory is known by
// weigh more than other words, and one that the sentence does not name may be put
// before it. What is left out of a sentence is shown by an ellipsis. It is not
// empty unless the text is.
func (s *Summarizer) Summary(content string, entities []string) string {
	bound := Bound(content)
	d := s.read(content, entities)
	best := candidate{}
	for i := range d.sentences {
		for _, c := range s.candidates(d, i, bound) {
			if c.value > best.value {
				best = c
			}
		}
	}
	if best.text != "" || content == "" {
		return best.text
	}
	return cut(cmp.Or(clean(content), ellipsis), bound)
}

// KeyTerms returns the words of the text that it is best found by, at most
// [MaxKeyTerms], weightiest first and no two of the same term. They are spelled as
// in the text, so that the analyzer makes the same terms of them again.
func (s *Summarizer) KeyTerms(content string, entities []string) []string {
	d := s.read(content, entities)
	type word struct {
		term, text string
		place      int
	}
	var words []word
	seen := make(map[string]bool)
	for i := range d.sentences {
		one, end := &d.sentences[i], 0
		for _, t := range one.terms {
			if t.Start >= end && !seen[t.Text] {
				seen[t.Text] = true
				words = append(words, word{t.Text, one.text[t.Start:t.End], len(words)})
				end = t.End
			}
		}
	}
	slices.SortFunc(words, func(a, b word) int {
		return cmp.Or(cmp.Compare(d.weights[b.term], d.weights[a.term]), cmp.Compare(a.place, b.place))
	})
	var out []string
	for _, w := range words[:min(len(words), MaxKeyTerms)] {
		out = append(out, w.text)
	}
	return out
}

const ellipsis = "…"

// A candidate is what may become the summary.
type candidate struct {
	text  string
	value float64
}

// What a sentence's weight is multiplied by.
const (
	factorFirst    = 1.15 // the first sentence of a text
	factorTopic    = 1.5  // when the text is an article, which begins with what it is about
	factorQuestion = 0.7  // asks and does not tell
	factorColon    = 0.7  // promises what comes after it
	factorPronoun  = 0.9  // begins with a word for something said before
	factorHeading  = 0.8
	factorCode     = 0.4
)

// article is the number of sentences that make a text one.
const article = 6

// standing is the part of a sentence's value that is not its words.
func (d *document) standing(i int) float64 {
	one := &d.sentences[i]
	f := 1.0
	switch {
	case i == d.opening && len(d.sentences) >= article:
		f = factorTopic
	case i == 0:
		f = factorFirst
	}
	switch one.kind {
	case heading:
		f *= factorHeading
	case code:
		f *= factorCode
	}
	switch {
	case asks(one.text):
		f *= factorQuestion
	case strings.HasSuffix(one.text, ":"), strings.HasSuffix(one.text, "："):
		f *= factorColon
	}
	word, _, _ := strings.Cut(one.text, " ")
	if among(pronouns, strings.ToLower(word)) {
		f *= factorPronoun
	}
	return f
}

func asks(s string) bool { return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") }

// candidates are what a summary could make of the sentence at i: with its
// neighbours as far as they fit, or the best part of it alone.
func (s *Summarizer) candidates(d *document, i, bound int) []candidate {
	one := &d.sentences[i]
	lead := s.lead(d, one)
	room := bound - utf8.RuneCountInString(lead)
	if room < bound/2 {
		lead, room = "", bound
	}
	standing := d.standing(i)
	if utf8.RuneCountInString(one.text) > room {
		one = s.shortened(one, room)
	}
	if utf8.RuneCountInString(one.text) > room {
		part, share := d.part(one, room)
		return []candidate{s.candidate(d, one, lead, part, standing*share)}
	}
	out := []candidate{s.candidate(d, one, lead, one.text, standing)}
	joined := one.text
	for k := i + 1; k < len(d.sentences); k++ {
		next := &d.sentences[k]
		if next.block != one.block || !joinable(joined) || asks(next.text) || s.idle(d, joined) || s.idle(d, next.text) {
			break
		}
		joined = s.join(joined, next.text)
		if utf8.RuneCountInString(joined) > room {
			break
		}
		out = append(out, s.candidate(d, one, lead, joined, (standing+d.standing(k))/2))
	}
	return out
}

// lead is what is put before a sentence: who says it, or the weightiest entity
// when it names none, or the title when it has less than half of its words.
func (s *Summarizer) lead(d *document, one *sentence) string {
	if one.label != "" {
		return one.label + ": "
	}
	if one.kind == heading {
		return ""
	}
	lower := strings.ToLower(one.text)
	names := func(e string) bool { return strings.Contains(lower, strings.ToLower(e)) }
	if len(d.entities) > 0 && !slices.ContainsFunc(d.entities, names) {
		return d.entities[0] + ": "
	}
	title, shared := s.analyzer.Query(d.title), 0
	for _, t := range title {
		if slices.ContainsFunc(one.terms, func(o text.Term) bool { return o.Text == t.Text }) {
			shared++
		}
	}
	if 2*shared >= len(title) || isTerminator(lastRune(d.title)) {
		return ""
	}
	return d.title + ": "
}

// candidate values a text by its distinct terms. One without any still beats none.
// Who says it counts, since that is part of the first sentence too; an entity or a
// title that had to be put before it does not.
func (s *Summarizer) candidate(d *document, one *sentence, lead, body string, factor float64) candidate {
	valued := body
	if one.label != "" {
		valued = lead + body
	}
	return candidate{text: lead + body, value: factor * max(s.worth(d, valued), 1e-9)}
}

// idle reports a text without a single word that says something.
func (s *Summarizer) idle(d *document, text string) bool { return s.worth(d, text) < 1 }

// joinable reports whether a sentence may go on behind a semicolon.
func joinable(s string) bool {
	last := lastRune(s)
	return last == '.' || last == '!' || last == '。' || last == '！' || !isTerminator(last) && !isCloser(last)
}

// join makes one sentence of two.
func (s *Summarizer) join(a, b string) string {
	if isWide(lastRune(a)) {
		return strings.TrimRight(a, "。！") + "；" + b
	}
	word, _, _ := strings.Cut(b, " ")
	if s.common[strings.ToLower(word)] && !strings.HasPrefix(word, "I") {
		b = strings.ToLower(word) + b[len(word):]
	}
	return strings.TrimRight(a, ".!…") + "; " + b
}

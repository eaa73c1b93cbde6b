package rekindle

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/internal/text/analysis"
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
	analyzer *analysis.Analyzer
	common   list
}

// NewSummarizer returns a Summarizer whose terms are those of a, which should be
// the analyzer that searches use.
func NewSummarizer(a *analysis.Analyzer) *Summarizer {
	return &Summarizer{analyzer: a, common: listOf("common")}
}

// Summary returns one sentence of the text, within [Bound] and without markup,
// control characters or line breaks. The entities that the memory is known by
// weigh more than other words. One that the sentence does not name may be put before
// it if the text names it earlier, and if it is no person: "Emma: The pump leaks" would
// say who says so. What is left out of a sentence is shown by an ellipsis. It is not
// empty unless the text is.
func (s *Summarizer) Summary(content string, entities []string, people ...string) string {
	return s.summary(s.read(content, entities, people), content)
}

// KeyTerms returns the words of the text that it is best found by, at most
// [MaxKeyTerms], weightiest first and no two of the same term. They are spelled as
// in the text, so that the analyzer makes the same terms of them again.
func (s *Summarizer) KeyTerms(content string, entities []string) []string {
	return s.read(content, entities, nil).keyTerms()
}

// Remains returns what is left of a memory when its text goes: what Summary and
// KeyTerms return, for the price of one of them.
func (s *Summarizer) Remains(content string, entities []string, people ...string) (summary string, terms []string) {
	d := s.read(content, entities, people)
	return s.summary(d, content), d.keyTerms()
}

func (s *Summarizer) summary(d *document, content string) string {
	bound := Bound(content)
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

func (d *document) keyTerms() []string {
	type word struct {
		text   string
		weight float64
		place  int
	}
	var words []word
	d.round++
	for i := range d.sentences {
		one, end := &d.sentences[i], 0
		for k, t := range one.terms {
			if place := one.places[k]; t.Start >= end && d.met[place] != d.round {
				words = append(words, word{one.text[t.Start:t.End], d.first(place), len(words)})
				end = t.End
			}
		}
	}
	slices.SortFunc(words, func(a, b word) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.place, b.place))
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
	if pronouns().has(strings.ToLower(word)) {
		f *= factorPronoun
	}
	return f
}

func asks(s string) bool { return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") }

// candidates are what a summary could make of the sentence at i: with its
// neighbours as far as they fit, or the best part of it alone.
func (s *Summarizer) candidates(d *document, i, bound int) []candidate {
	one := &d.sentences[i]
	lead := d.lead(one)
	room := bound - utf8.RuneCountInString(lead)
	if room < bound/2 {
		lead, room = "", bound
	}
	standing := d.standing(i)
	if utf8.RuneCountInString(one.text) > room {
		one = s.shortened(d, one, room)
	}
	// The speaker counts, since it is part of the first sentence too; an entity or a
	// title that had to be put before it does not.
	var counted []reading
	if one.label != "" {
		counted = append(counted, s.reading(d, lead))
	}
	if utf8.RuneCountInString(one.text) > room {
		part, share := d.part(one, room)
		counted = append(counted, s.reading(d, part))
		return []candidate{newCandidate(lead+part, standing*share, d.worth(counted...))}
	}
	counted = append(counted, one.reading)
	out := []candidate{newCandidate(lead+one.text, standing, d.worth(counted...))}
	said := len(counted) - 1
	joined := one.text
	for k := i + 1; k < len(d.sentences); k++ {
		next := &d.sentences[k]
		if next.block != one.block || !joinable(joined) || asks(next.text) || idle(d.worth(counted[said:]...)) ||
			idle(next.worth) {
			break
		}
		joined = s.join(joined, next.text)
		if utf8.RuneCountInString(joined) > room {
			break
		}
		counted = append(counted, next.reading)
		out = append(out, newCandidate(lead+joined, (standing+d.standing(k))/2, d.worth(counted...)))
	}
	return out
}

// newCandidate values a text by its distinct terms. One without any still beats none.
func newCandidate(text string, factor, worth float64) candidate {
	return candidate{text: text, value: factor * max(worth, 1e-9)}
}

// idle reports the worth of a text without a single word that says something.
func idle(worth float64) bool { return worth < 1 }

// lead is the text before a sentence: the speaker, or the weightiest entity
// when it names none, or the title when it has less than half of its words.
func (d *document) lead(one *sentence) string {
	if one.label != "" {
		return one.label + ": "
	}
	if one.kind == heading {
		return ""
	}
	if e := d.entityFor(one); e != "" {
		return e + ": "
	}
	if d.title == "" || text.EndsSentence(d.title) {
		return ""
	}
	title, shared := d.sentences[0].places, 0
	for _, place := range title {
		if slices.Contains(one.places, place) {
			shared++
		}
	}
	if 2*shared >= len(title) {
		return ""
	}
	return d.title + ": "
}

// entityFor returns the weightiest entity, if the text names it before a sentence that names none, or "".
func (d *document) entityFor(one *sentence) string {
	if len(d.entities) == 0 {
		return ""
	}
	lower := strings.ToLower(one.text)
	named := func(e string) bool { return strings.Contains(lower, e) }
	if slices.ContainsFunc(d.lower, named) || slices.ContainsFunc(d.people, named) {
		return ""
	}
	for i := range d.sentences {
		switch other := &d.sentences[i]; {
		case other == one:
			return ""
		case strings.Contains(strings.ToLower(other.text), d.lower[0]):
			return d.entities[0]
		}
	}
	return ""
}

// joinable reports whether a sentence may continue behind a semicolon.
func joinable(s string) bool {
	last := lastRune(s)
	return last == '.' || last == '!' || last == '。' || last == '！' || !text.EndsSentence(s) && !text.IsCloser(last)
}

// join makes one sentence of two.
func (s *Summarizer) join(a, b string) string {
	if text.IsWide(lastRune(a)) {
		return strings.TrimRight(a, "。！") + "；" + b
	}
	word, _, _ := strings.Cut(b, " ")
	if s.common.has(strings.ToLower(word)) && word != "I" && !strings.HasPrefix(word, "I'") {
		b = strings.ToLower(word) + b[len(word):]
	}
	return strings.TrimRight(a, ".!…") + "; " + b
}

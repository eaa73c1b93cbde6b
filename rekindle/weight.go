package rekindle

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/internal/text/analysis"
)

// What a term weighs before repetition counts. An ordinary word weighs 1.
const (
	weightCommon   = 0.1
	weightFirst    = 1.3 // begins a sentence with a capital, as a name would too
	weightNumber   = 0.7
	weightAddress  = 0.3 // part of a URL
	weightName     = 1.5 // begins with a capital within a sentence, or is a name in the text's label
	weightCoded    = 1.4 // has digits, inner capitals or signs: PostgreSQL, S3, foo_bar
	weightEntity   = 2   // factor on terms of the entities that the memory is known by
	weightRepeated = 0.5 // per natural logarithm of the number of times, capped
	maxRepeated    = 8
)

// A reading is what the analyzer makes of a text: its terms, and the place of each
// among the weights of the document.
type reading struct {
	terms  []analysis.Term
	places []int
}

// stops reports a text of stop words alone, which count only where there is
// nothing else.
func (r reading) stops() bool { return len(r.terms) == 0 || r.terms[0].Stop() }

// A sentence is one of a text, analysed.
type sentence struct {
	reading
	text  string
	label string // the speaker, as in the block's first words, "" when the sentence itself begins with that
	block int
	kind  kind
	worth float64 // of its terms
}

// A document is a text, taken apart.
type document struct {
	sentences []sentence
	title     string   // the heading it begins with, "" without one
	opening   int      // place of the first sentence that is no heading
	entities  []string // those that the text names, weightiest first
	lower     []string // the same in lower case
	people    []string // in lower case, not among the entities

	places  map[string]int // by term
	weights []float64      // by place
	met     []int          // the round that a term was last met in, by place
	round   int
}

// read takes a text apart and weighs its terms.
func (s *Summarizer) read(content string, entities, people []string) *document {
	d := &document{places: make(map[string]int)}
	for i, b := range blocks(content) {
		label := s.labelOf(b)
		parts := []string{b.text}
		if b.kind != code {
			parts = text.Sentences(b.text)
		}
		for k, part := range parts {
			one := sentence{text: s.opened(part, k == 0), block: i, kind: b.kind}
			if k > 0 {
				one.label = label
			}
			if one.text != "" {
				one.reading = s.reading(d, one.text)
				d.sentences = append(d.sentences, one)
			}
		}
	}
	if len(d.sentences) > 0 && d.sentences[0].kind == heading &&
		utf8.RuneCountInString(d.sentences[0].text) <= maxTitle {
		d.title = d.sentences[0].text
	}
	d.opening = max(0, slices.IndexFunc(d.sentences, func(one sentence) bool { return one.kind != heading }))
	s.weigh(d)
	s.prefer(d, slices.Concat(entities, people))
	d.setApart(people)
	for i := range d.sentences {
		d.sentences[i].worth = d.worth(d.sentences[i].reading)
	}
	return d
}

// reading analyses a text. Terms that d does not have weigh nothing.
func (s *Summarizer) reading(d *document, text string) reading {
	r := reading{terms: s.analyzer.Query(text)}
	r.places = make([]int, len(r.terms))
	for i, t := range r.terms {
		place, ok := d.places[t.Text]
		if !ok {
			place = len(d.weights)
			d.places[t.Text] = place
			d.weights, d.met = append(d.weights, 0), append(d.met, 0)
		}
		r.places[i] = place
	}
	return r
}

// labelOf returns the speaker that a block begins with, such as "Ada Lovelace: it
// computes", when that looks like a name: at most three words with capitals.
func (s *Summarizer) labelOf(b block) string {
	label, rest, found := strings.Cut(b.text, ": ")
	if !found || rest == "" || b.kind == code || utf8.RuneCountInString(label) > maxLabel {
		return ""
	}
	words := strings.Fields(label)
	if len(words) == 0 || len(words) > 3 || len(words) == 1 &&
		(s.common.has(strings.ToLower(label)) || labels().has(strings.ToLower(label))) {
		return ""
	}
	for _, w := range words {
		if r := firstRune(w); unicode.IsLower(r) || !unicode.IsLetter(r) || strings.ContainsAny(w, ".!?,;") {
			return ""
		}
	}
	return label
}

// How many characters a label or title may have that is put before a sentence.
const (
	maxLabel = 30
	maxTitle = 38
)

// weigh gives every term of d its weight. A label that many blocks begin with
// counts once for them all: it names the speaker, not the subject.
func (s *Summarizer) weigh(d *document) {
	times := make([]float64, len(d.weights))
	for i := range d.sentences {
		one := &d.sentences[i]
		labelled := len(s.labelOf(block{text: one.text}))
		for k, t := range one.terms {
			place := one.places[k]
			if t.Start >= labelled || times[place] == 0 {
				times[place]++
			}
			w := s.base(one, t)
			if t.Start < labelled && w == weightFirst {
				w = weightName
			}
			d.weights[place] = max(d.weights[place], w)
		}
	}
	for place, n := range times {
		d.weights[place] *= 1 + weightRepeated*math.Log(min(n, maxRepeated))
	}
}

// base returns what a term weighs where it stands.
func (s *Summarizer) base(in *sentence, t analysis.Term) float64 {
	word := strings.ReplaceAll(strings.TrimSuffix(in.text[t.Start:t.End], "'s"), "’", "'")
	first, letters := firstRune(word), utf8.RuneCountInString(word)
	switch {
	case inURL(in.text, t.Start):
		return weightAddress
	case unicode.IsUpper(first) && letters > 1 && !strings.HasPrefix(word, "I'") && !atStart(in.text[:t.Start]):
		return weightName
	case s.common.has(strings.ToLower(word)) || grammatical(word) || letters == 1 && first < utf8.RuneSelf:
		return weightCommon
	case strings.Trim(word, "0123456789.,:") == "":
		return weightNumber
	case coded(word):
		return weightCoded
	case unicode.IsUpper(first):
		return weightFirst
	}
	return 1
}

// inURL reports whether the word at a place of a line is part of a URL.
func inURL(line string, at int) bool {
	if !strings.Contains(line, "://") {
		return false
	}
	start := strings.LastIndexFunc(line[:at], unicode.IsSpace) + 1
	word, _, _ := strings.Cut(line[start:], " ")
	return strings.Contains(word, "://")
}

// coded reports words that are made up: letters with digits, signs, or capitals
// after the first letter.
func coded(word string) bool {
	_, size := utf8.DecodeRuneInString(word)
	return strings.ContainsAny(word, "0123456789_./+#@") || strings.ContainsFunc(word[size:], unicode.IsUpper)
}

// atStart reports whether nothing but signs and labels stands before a word.
func atStart(before string) bool {
	before = strings.TrimRightFunc(before, unicode.IsSpace)
	return !strings.ContainsFunc(before, unicode.IsLetter) || strings.HasSuffix(before, ":")
}

// grammatical reports letters that Japanese writes its grammar with, and pairs with
// a Chinese particle or pronoun, most of which are no word.
func grammatical(word string) bool {
	if text.IsWide(firstRune(word)) && strings.ContainsAny(word, "的了和是在就都也与及或这那我你他她它们吗呢吧把被") {
		return true
	}
	return strings.TrimFunc(word, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) }) == ""
}

// prefer raises the weight of the terms of entities, and keeps those that the
// text names.
func (s *Summarizer) prefer(d *document, entities []string) {
	raised := make(map[int]bool)
	for _, e := range entities {
		named := false
		for _, t := range s.analyzer.Query(e) {
			place, ok := d.places[t.Text]
			if named = named || ok; ok && !raised[place] {
				raised[place] = true
				d.weights[place] = max(d.weights[place], 1) * weightEntity
			}
		}
		if e = clean(e); named && e != "" {
			d.entities = append(d.entities, e)
		}
	}
	slices.SortStableFunc(d.entities, func(a, b string) int {
		return cmp.Compare(d.worth(s.reading(d, b)), d.worth(s.reading(d, a)))
	})
	for _, e := range d.entities {
		d.lower = append(d.lower, strings.ToLower(e))
	}
}

// setApart takes people out of the entities.
func (d *document) setApart(people []string) {
	for _, p := range people {
		if i := slices.Index(d.entities, clean(p)); i >= 0 {
			d.people = append(d.people, d.lower[i])
			d.entities, d.lower = slices.Delete(d.entities, i, i+1), slices.Delete(d.lower, i, i+1)
		}
	}
}

// worth is the weight of the distinct terms of texts that stand one behind the other.
func (d *document) worth(texts ...reading) float64 {
	told := slices.ContainsFunc(texts, func(r reading) bool { return !r.stops() })
	d.round++
	sum := 0.0
	for _, r := range texts {
		if told && r.stops() {
			continue
		}
		for _, place := range r.places {
			sum += d.first(place)
		}
	}
	return sum
}

// first is the weight of a term when it is met for the first time in a round.
func (d *document) first(place int) float64 {
	if d.met[place] == d.round {
		return 0
	}
	d.met[place] = d.round
	return d.weights[place]
}

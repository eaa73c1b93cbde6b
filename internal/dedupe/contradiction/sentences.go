package contradiction

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/internal/text/analysis"
)

// maxWords is how many words a sentence has at most, twice as many where no spaces stand between them; a
// longer one counts as several. It bounds what comparing two costs.
const maxWords = 48

// word is one word of a sentence, or one number of several.
type word struct {
	stem      string
	lower     string // as it stands, in lower case
	known     *entry
	start     int    // where it begins in the text, and where it ends
	end       int    //
	value     *value // nil unless it is a number, date, version or time
	content   bool   // it is no stop word, and neither a value nor a word of negation
	name      bool   // capitalised within a sentence, or an identifier
	first     bool   // capitalised where a sentence begins
	negates   bool   // not, never, without
	replaces  bool   // instead of, rather than
	denied    bool   // it stands behind a word that negates
	lacking   bool   // "-free" stands behind it: what is gluten-free has no gluten
	former    bool   // it is what something was before: "from X to", "instead of X"
	boundary  bool   // a comma, colon or bracket stands before it
	condition bool   // it is in a clause with "when" or "if"
	ne        bool   // it is the French "ne", or begins with it
	month     bool   // it is a month without a day and a year
	labelled  bool   // a colon or an equals sign stands before it
}

// sentence is a stretch of text that says one thing.
type sentence struct {
	words   []word
	parts   []part   // in the order of the text
	active  []part   // in that of the active voice
	stems   []string // of its content, distinct
	denies  bool     // an odd number of its words negate what it says
	changes bool     // it announces a change: "now", "no longer", "from 5 to 6"
	moves   bool     // it has a verb of change
	scene   bool     // it is about an unnamed person or thing that is doing something
	history bool     // it is about some other time
	refers  bool     // a pronoun stands for what it is about
	heading bool     // it is a Markdown heading
	silent  bool     // it states nothing: a question, or code in a block
	asks    bool     // it says what would be, or wonders whether it is
	when    *value   // of history, when that was; nil if it does not say
	where   uint     // which environments it speaks of, see environments
	scope   []string // stems of the headings above it
	holder  string   // whose opinion it is, "" for the writer's
	owner   string   // whose thing or relative it is about, by a pronoun; "" without one
	// the number that says which thing the sentence is about, as in "order 12 has"; -1 if there is none
	which int
}

// has reports a word in any of its forms, or a value that agrees.
func (s *sentence) has(stem string) bool { return slices.Contains(s.stems, stem) }

// parser takes a text apart into sentences.
type parser struct {
	text    string
	terms   []analysis.Term
	current []word
	out     []sentence

	headings []heading // above the next sentence, outermost first
	scope    []string  // their stems
	fences   int       // marks around blocks of code so far
}

// sentencesOf parses the sentences of s, which stands under headings. A semicolon ends one too.
func sentencesOf(a *analysis.Analyzer, s string, headings []string) []sentence {
	p := parser{text: s, terms: a.Terms(s)}
	for i, h := range headings {
		p.enter(i-len(headings), stemsOf(a.Terms(h)))
	}
	at := 0
	for piece := range text.SplitSentences(s) {
		p.fences += fences(piece)
		n := len(p.out)
		p.sentence(at, piece)
		p.finish()
		if len(p.out) > n && strings.HasSuffix(strings.TrimRight(piece, " \t\r\n\"”)*_"), "?") {
			p.out[len(p.out)-1].silent = true
		}
		if level := headingLevel(piece); level > 0 && len(p.out) > 0 {
			p.out[len(p.out)-1].heading = true
			p.enter(level, p.out[len(p.out)-1].stems)
		}
		at += len(piece)
	}
	return p.out
}

// sentence adds the words of a piece of the text that starts at offset at.
func (p *parser) sentence(at int, piece string) {
	begins, boundary, labelled := true, false, false
	for start, end := range fields(piece) {
		token := piece[start:end]
		if begins && isListNumber(token) {
			continue
		}
		start += at
		from, to := trimmed(token)
		boundary = boundary || strings.ContainsAny(token[:from], "(,[") || token == "-" || token == "–" || token == "—"
		if from < to {
			n := len(p.current)
			if strings.HasSuffix(token[:from], "!") { // as programs deny: !ok
				p.current = append(p.current, word{stem: "not", lower: "!", known: lookup(""), start: start + from - 1,
					end: start + from, boundary: boundary, negates: true})
			}
			p.add(start+from, start+to, begins, boundary)
			if len(p.current) > n {
				p.current[n].labelled = labelled
			}
			begins, boundary, labelled = false, false, false
		} else if sign, size := utf8.DecodeRuneInString(token); strings.ContainsRune("%€$£", sign) {
			p.unit(start, start+size) // with a word behind it, as in "%-0", it belongs to that
		}
		tail := token[to:]
		labelled = labelled || strings.ContainsAny(tail, ":=")
		boundary = boundary || strings.ContainsAny(tail, ",):]")
		if strings.Contains(tail, ";") || len(p.current) >= maxWords {
			p.finish()
			begins, boundary, labelled = true, false, false
		}
	}
}

// isListNumber reports the number of an item of a list, such as "2." or "3)".
func isListNumber(token string) bool {
	n := len(token) - 1
	return n > 0 && n < 3 && (token[n] == '.' || token[n] == ')') && strings.Trim(token[:n], "0123456789") == ""
}

// unit gives the number before it a sign of percent or of a currency that stands by itself, from start to end.
func (p *parser) unit(start, end int) {
	n := len(p.current)
	if n == 0 {
		return
	}
	if w := &p.current[n-1]; w.value != nil && w.value.kind == "number" && w.value.unit == "" {
		w.value.unit, w.end = p.text[start:end], end
		w.value.thousands()
	}
}

// fields yields where each run without white space begins and ends.
func fields(s string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		start := -1
		for i, r := range s {
			switch space := unicode.IsSpace(r); {
			case space && start >= 0:
				if !yield(start, i) {
					return
				}
				start = -1
			case !space && start < 0:
				start = i
			}
		}
		if start >= 0 {
			yield(start, len(s))
		}
	}
}

// trimmed is the part of a token between marks, with the signs that belong to numbers.
func trimmed(token string) (from, to int) {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	from = strings.IndexFunc(token, isWord)
	if from < 0 {
		return len(token), len(token)
	}
	last := strings.LastIndexFunc(token, isWord)
	_, size := utf8.DecodeRuneInString(token[last:])
	to = last + size
	if unicode.IsNumber(rune(token[from])) {
		for from > 0 {
			sign, size := utf8.DecodeLastRuneInString(token[:from])
			if !strings.ContainsRune("$€£~<>", sign) {
				break
			}
			from -= size
		}
		if to < len(token) && strings.ContainsRune("%+", rune(token[to])) {
			to++
		}
	}
	return from, to
}

// add appends the words of a token.
func (p *parser) add(start, end int, begins, boundary bool) {
	elided := false
	for _, denial := range [...]string{"n'", "n’"} { // of the French negation the other part counts
		if strings.HasPrefix(p.text[start:end], denial) {
			start, elided = start+len(denial), true
		}
	}
	token := p.text[start:end]
	lower := strings.ToLower(token)
	if token == "" {
		return
	}
	plain := word{stem: lower, lower: lower, known: lookup(""), start: start, end: end, boundary: boundary}
	if v, ok := read(lower); ok {
		plain.value = &v
		p.current = append(p.current, plain)
		return
	}
	if refuses(lower) {
		plain.stem, plain.known, plain.negates = "not", lookup(lower), true
		p.current = append(p.current, plain)
		if token[0] < utf8.RuneSelf {
			return
		}
		boundary = false // without spaces the token has other words
	}
	first, size := utf8.DecodeRuneInString(token)
	upper := unicode.IsUpper(first)
	inside := strings.ContainsFunc(token[size:], unicode.IsUpper) || strings.ContainsFunc(token, unicode.IsDigit) ||
		isIdentifier(token)
	covered := start
	for ; len(p.terms) > 0 && p.terms[0].Start < end; p.terms = p.terms[1:] {
		t := p.terms[0]
		if t.Start < start || t.End <= covered || t.Text == "" || t.End > end {
			continue // a part of what stands already
		}
		covered = t.End
		if len(p.current) >= 2*maxWords { // where no spaces stand between words, one token has many
			p.finish()
		}
		stem := canonical(t.Text)
		w := word{stem: stem, lower: strings.ToLower(p.text[t.Start:t.End]), known: lookup(stem), start: t.Start,
			end: t.End, content: !t.Stop(), boundary: boundary}
		if p.text[t.Start:t.End] == "A" && (!begins || token != "A") {
			w.letter()
		}
		named := w.content && !isGreeting(w.lower)
		if token[0] >= utf8.RuneSelf || len(p.terms) > 1 && strings.ContainsFunc(token, isUnspaced) {
			if v, ok := read(w.lower); ok {
				w.value, w.content, named = &v, false, false
			}
			named = named && w.lower[0] < utf8.RuneSelf
		}
		w.name, w.first = named && (inside || upper && !begins), named && upper && begins && !inside
		w.ne, elided = elided || w.lower == "ne", false
		p.current, boundary = append(p.current, w), false
	}
}

// finish makes a sentence of the words so far.
func (p *parser) finish() {
	words := slices.Clone(p.current)
	p.current = p.current[:0]
	if len(words) == 0 {
		return
	}
	if first := &words[0]; p.text[first.start:first.end] == "A" && slices.ContainsFunc(words[1:], word.isLetter) {
		first.letter() // "A calls B"
	}
	s := sentence{words: joined(p.text, words), scope: p.scope, silent: p.fences%2 == 1}
	s.mark()
	for i := range s.words[:len(s.words)-1] {
		w, next := &s.words[i], &s.words[i+1]
		w.lacking = next.lower == "free" && next.start == w.end+1 && p.text[w.end] == '-'
	}
	s.attribute()
	s.refers = s.refersBack()
	for i := range s.words {
		if w := &s.words[i]; w.content && !slices.Contains(s.stems, w.stem) {
			s.stems = append(s.stems, w.stem)
		}
	}
	p.out = append(p.out, s)
}

// letter makes a name of the letter A, which is an article elsewhere.
func (w *word) letter() { w.stem, w.known, w.content, w.name = "A", lookup(""), true, true }

// isLetter reports a name of one letter, such as B.
func (w word) isLetter() bool {
	return w.name && w.end == w.start+1 && w.lower[0] >= 'a' && w.lower[0] <= 'z'
}

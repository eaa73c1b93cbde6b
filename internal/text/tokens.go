package text

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
)

// maxTerm bounds a term in bytes. Longer ones keep their beginning and a hash.
const maxTerm = 64

// analyze makes the terms of s; grams decides what becomes of runs of letters.
func (a *Analyzer) analyze(s string, grams *cjk.CJKBigramFilter) []Term {
	f := fold(s)
	tokens := grams.Filter(split(f.text, a.words.Tokenize(f.text)))
	terms := make([]Term, 0, len(tokens))
	for i, t := range tokens {
		switch t.Type {
		case analysis.Single:
			inner := i > 0 && tokens[i-1].End == t.End || i+1 < len(tokens) && tokens[i+1].Start == t.Start
			terms = append(terms, f.term(t, inner))
		case analysis.Double:
			terms = append(terms, f.term(t, false))
		default:
			terms = a.word(terms, f, t)
		}
	}
	return terms
}

// term makes the term of a finished token.
func (f *folded) term(t *analysis.Token, inner bool) Term {
	start, end := f.source(t.Start, t.End)
	return Term{Text: bounded(t.Term), Start: start, End: end, inner: inner}
}

// bounded returns term as a string of at most maxTerm bytes. The hash is the same
// on both sides, so long terms still match exactly and only exactly.
func bounded(term []byte) string {
	if len(term) <= maxTerm {
		return string(term)
	}
	hash := fnv.New64a()
	hash.Write(term)
	keep := maxTerm - 17
	for !utf8.RuneStart(term[keep]) {
		keep--
	}
	return fmt.Sprintf("%s~%016x", term[:keep], hash.Sum64())
}

// split completes the tokenizer's words: it adds what lies between them and takes
// words that mix Hangul with other letters apart. Runs to be cut into pairs come
// out as Ideographic.
func split(text []byte, words analysis.TokenStream) analysis.TokenStream {
	out := make(analysis.TokenStream, 0, len(words))
	end := 0
	for _, w := range words {
		out = appendRuns(out, text, end, w.Start, runOf)
		end = w.End
		if w.Type == analysis.Ideographic || bytes.IndexFunc(w.Term, isHangul) < 0 {
			out = append(out, w)
			continue
		}
		out = appendRuns(out, text, w.Start, w.End, func(r rune) analysis.TokenType {
			if isHangul(r) {
				return analysis.Ideographic
			}
			return analysis.AlphaNumeric
		})
	}
	return appendRuns(out, text, end, len(text), runOf)
}

// skip marks runes that belong to no token.
const skip analysis.TokenType = -1

// runOf says what a rune outside the tokenizer's words is: a letter of a script
// that writes no spaces, a pictograph, or nothing.
func runOf(r rune) analysis.TokenType {
	switch {
	case r >= 0x2600 && unicode.Is(unicode.So, r):
		return analysis.AlphaNumeric
	case r >= utf8.RuneSelf && unicode.In(r, unicode.L, unicode.M, unicode.Nd):
		return analysis.Ideographic
	}
	return skip
}

func isHangul(r rune) bool { return r >= 0x1100 && unicode.Is(unicode.Hangul, r) }

// appendRuns appends the runs of equal type in text[start:end]. Pictographs are
// taken one by one.
func appendRuns(out analysis.TokenStream, text []byte, start, end int, kind func(rune) analysis.TokenType) analysis.TokenStream {
	var open *analysis.Token
	for i := start; i < end; {
		r, n := utf8.DecodeRune(text[i:])
		switch k := kind(r); {
		case k == skip:
			open = nil
		case open == nil || open.Type != k || unicode.Is(unicode.So, r):
			open = &analysis.Token{Term: text[i : i+n], Start: i, End: i + n, Type: k}
			out = append(out, open)
		default:
			open.End = i + n
			open.Term = text[open.Start:open.End]
		}
		i += n
	}
	return out
}

// word appends the terms of one word: the word itself, and when it is an identifier
// or a name, the parts it is made of.
func (a *Analyzer) word(terms []Term, f *folded, t *analysis.Token) []Term {
	if suffix := languageSuffix(f.text, t); suffix != "" {
		whole := a.finish(f, t.Start, t.End+len(suffix), string(t.Term)+suffix)
		letter := a.finish(f, t.Start, t.End, string(t.Term))
		letter.inner = true
		return append(terms, whole, letter)
	}
	a.owner.Filter(analysis.TokenStream{t})
	whole := a.finish(f, t.Start, t.End, string(t.Term))
	terms = append(terms, whole)
	if whole.stop || t.Type == analysis.Numeric {
		return terms
	}
	return a.parts(terms, f, t.Start, string(t.Term))
}

// languageSuffix returns the "++" or "#" after a single letter: C++, C#, F#.
func languageSuffix(text []byte, t *analysis.Token) string {
	if len(t.Term) != 1 {
		return ""
	}
	for _, suffix := range []string{"++", "#"} {
		if bytes.HasPrefix(text[t.End:], []byte(suffix)) {
			return suffix
		}
	}
	return ""
}

// parts appends what stands between the underscores, dots and colons of word, two
// bytes or more. Of a word with an apostrophe only the end is a part, and only when
// it is longer than a contraction's: the brien of o'brien, the avion of l'avion.
func (a *Analyzer) parts(terms []Term, f *folded, at int, word string) []Term {
	start := 0
	for start < len(word) {
		end, separator := len(word), byte(0)
		if n := strings.IndexAny(word[start:], "_.:'"); n >= 0 {
			end, separator = start+n, word[start+n]
		}
		least := 2
		if start > 0 && word[start-1] == '\'' {
			least = 3
		}
		if separator != '\'' && end-start >= least && end-start < len(word) {
			part := a.finish(f, at+start, at+end, word[start:end])
			part.inner = true
			terms = append(terms, part)
		}
		start = end + 1
	}
	return terms
}

// finish makes the term of the folded word at [start,end): stemmed when it is made
// of plain letters, since the stemmer would bite the ends off identifiers.
func (a *Analyzer) finish(f *folded, start, end int, word string) Term {
	token := analysis.Token{Term: []byte(strings.ReplaceAll(word, "'", ""))}
	if bytes.IndexFunc(token.Term, isNotLetter) < 0 {
		a.stem.Filter(analysis.TokenStream{&token})
	}
	token.Start, token.End = start, end
	term := f.term(&token, false)
	term.stop = a.stopWords[word]
	return term
}

// isNotLetter reports whether r is anything but a folded Latin letter.
func isNotLetter(r rune) bool { return r < 'a' || r > 'z' }

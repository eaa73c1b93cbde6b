package analysis

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
)

// maxTerm bounds a term in bytes. Longer ones keep their beginning and a hash.
const maxTerm = 64

// analyze appends the terms of s; grams decides what becomes of runs of letters. What
// is ASCII after folding goes through ascii, the rest through chain, cut where white
// space keeps the two apart.
func (a *Analyzer) analyze(terms []Term, s string, grams *cjk.CJKBigramFilter) []Term {
	f := a.fold(s)
	defer a.release(f)
	return a.analyzeFolded(terms, f, grams)
}

func (a *Analyzer) analyzeFolded(terms []Term, f *folded, grams *cjk.CJKBigramFilter) []Term {
	terms = slices.Grow(terms, len(f.text)/bytesPerTerm+1)
	if f.at == nil {
		return a.ascii(terms, f, 0, len(f.text))
	}
	for start := 0; start < len(f.text); {
		end := asciiEnd(f.text, start)
		terms = a.ascii(terms, f, start, end)
		start = end
		if end = chainEnd(f.text, start); end > start {
			terms = a.chain(terms, f, start, end, grams)
		}
		start = end
	}
	return terms
}

// bytesPerTerm is about how far terms lie apart in prose.
const bytesPerTerm = 6

// asciiEnd returns where the ASCII ends that begins at start: the end of the text, or
// the last white space before a word that holds something else.
func asciiEnd(text []byte, start int) int {
	end := start
	for i := start; i < len(text); i++ {
		switch {
		case text[i] >= utf8.RuneSelf:
			return end
		case isSpace(text[i]):
			end = i
		}
	}
	return len(text)
}

// chainEnd returns where the words end, from start on, that hold something other than
// ASCII.
func chainEnd(text []byte, start int) int {
	plain := false
	end := start
	for i := start; i < len(text); i++ {
		switch {
		case text[i] >= utf8.RuneSelf:
			plain = false
		case isSpace(text[i]):
			if plain {
				return end
			}
			plain, end = true, i
		}
	}
	if plain {
		return end
	}
	return len(text)
}

// isSpace reports the white space that words are kept apart by here. Nothing is one
// word across it, whatever stands on its two sides.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// chain appends the terms of f.text[from:to] by Bleve's packages.
func (a *Analyzer) chain(terms []Term, f *folded, from, to int, grams *cjk.CJKBigramFilter) []Term {
	text := f.text[from:to]
	tokens := grams.Filter(split(text, a.words.Tokenize(text)))
	for i, t := range tokens {
		switch t.Type {
		case analysis.Single:
			inner := i > 0 && tokens[i-1].End == t.End || i+1 < len(tokens) && tokens[i+1].Start == t.Start
			terms = append(terms, f.gram(t, from, inner))
		case analysis.Double:
			terms = append(terms, f.gram(t, from, false))
		default:
			terms = a.word(terms, f, from+t.Start, from+t.End, t.Type == analysis.Numeric)
		}
	}
	return terms
}

// gram makes the term of a letter or a pair of letters.
func (f *folded) gram(t *analysis.Token, from int, inner bool) Term {
	start, end := f.source(from+t.Start, from+t.End)
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
		out = appendMixed(out, text, w.Start, w.End)
	}
	return appendRuns(out, text, end, len(text), runOf)
}

// appendMixed appends the runs of a word that mixes Hangul with other letters. A mark that
// joined the word stands at the edge of a run now, or is all of it, and is no part of a term.
func appendMixed(out analysis.TokenStream, text []byte, start, end int) analysis.TokenStream {
	first := len(out)
	out = appendRuns(out, text, start, end, func(r rune) analysis.TokenType {
		if isHangul(r) {
			return analysis.Ideographic
		}
		return analysis.AlphaNumeric
	})
	kept := out[:first]
	for _, run := range out[first:] {
		left := bytes.TrimLeftFunc(run.Term, unicode.IsPunct)
		run.Start = run.End - len(left)
		run.Term = bytes.TrimRightFunc(left, unicode.IsPunct)
		run.End = run.Start + len(run.Term)
		if len(run.Term) > 0 {
			kept = append(kept, run)
		}
	}
	return kept
}

// skip marks runes that belong to no token.
const skip analysis.TokenType = -1

// runOf reports what a rune outside the tokenizer's words is: a letter of a script
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
func appendRuns(out analysis.TokenStream, text []byte, start, end int,
	kind func(rune) analysis.TokenType) analysis.TokenStream {
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

// word appends the terms of the word f.text[start:end]: the word itself, and when it is
// an identifier or a name, the parts it is made of.
func (a *Analyzer) word(terms []Term, f *folded, start, end int, numeric bool) []Term {
	if n := languageSuffix(f.text, start, end); n > 0 {
		letter := a.finish(f, start, end, end)
		letter.inner = true
		return append(terms, a.finish(f, start, end+n, end+n), letter)
	}
	word := bytes.TrimSuffix(f.text[start:end], []byte("'s"))
	whole := a.finish(f, start, end, start+len(word))
	terms = append(terms, whole)
	if whole.stop || numeric {
		return terms
	}
	return a.parts(terms, f, start, word)
}

// languageSuffix returns the length of the "++" or "#" after a single letter: C++, C#, F#.
func languageSuffix(text []byte, start, end int) int {
	if end-start != 1 {
		return 0
	}
	for _, suffix := range []string{"++", "#"} {
		if bytes.HasPrefix(text[end:], []byte(suffix)) {
			return len(suffix)
		}
	}
	return 0
}

// parts appends what stands between the underscores, dots and colons of word, two
// bytes or more. Of a word with an apostrophe only the end is a part, and only when
// it is longer than a contraction's: the brien of o'brien, the avion of l'avion.
func (a *Analyzer) parts(terms []Term, f *folded, at int, word []byte) []Term {
	start := 0
	for start < len(word) {
		end, separator := len(word), byte(0)
		if n := bytes.IndexAny(word[start:], "_.:'"); n >= 0 {
			end, separator = start+n, word[start+n]
		}
		minimum := 2
		if start > 0 && word[start-1] == '\'' {
			minimum = 3
		}
		if separator != '\'' && end-start >= minimum && end-start < len(word) {
			part := a.finish(f, at+start, at+end, at+end)
			part.inner = true
			terms = append(terms, part)
		}
		start = end + 1
	}
	return terms
}

// finish makes the term of the folded word f.text[start:last], which stands for the span
// from start to end. A stem begins like its word.
func (a *Analyzer) finish(f *folded, start, end, last int) Term {
	from, to := f.source(start, end)
	if f.only != nil && !f.only[f.text[start]] {
		return Term{Start: from, End: to}
	}
	term, stop, form := a.finished(f.text[start:last])
	return Term{Text: term, Start: from, End: to, stop: stop, form: form}
}

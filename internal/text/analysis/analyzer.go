// Package analysis turns a text into the terms both tiers search by, and cuts the
// snippet that shows where they matched.
//
// Memory and vault are searched with the same terms, so one query means the same
// in both. The terms of a text are made in four steps:
//
//  1. Folding, rune by rune, with the way back to the source kept: lower case,
//     full-width and half-width forms, Latin letters without their accents,
//     combining marks dropped, kana and Hangul composed. "Café", "cafe" and
//     "ＣＡＦＥ" become one term, in either Unicode normal form.
//  2. Words by Unicode's text segmentation (UAX #29). Letters it gives no word
//     to (Thai, Lao, Khmer, Burmese) are taken run by run, and pictographs one
//     by one.
//  3. Runs of Han, kana, Hangul and the scripts of step 2 that write no spaces
//     become overlapping pairs. Documents hold their single letters too, so that
//     a query of one letter finds them.
//  4. English possessives go, and words of Latin letters alone are stemmed with
//     Porter's algorithm (https://tartarus.org/martin/PorterStemmer), which measured
//     the same as its successor Snowball and takes half the time; a y after a
//     vowel stays, as there. Identifiers are
//     kept whole and are joined by their parts: foo.bar is also foo and bar.
//
// Steps 2 to 4 use Bleve's analysis packages; none of Bleve's types appear here. What
// is ASCII after folding, most of most notes, is read by a loop that knows the few rules
// that ASCII needs and yields the same terms in a tenth of the time.
//
// Stop words stay in documents and are left out of queries that say anything
// else, so "who was the manager" asks for a manager and "The Who" is still found.
//
// All work is linear in the text. Arguments are never kept and results belong to
// the caller. An Analyzer remembers the terms of words it met, in a table of fixed size
// that takes at most 3 MB.
package analysis

import (
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
)

// identity names the analysis. It must change whenever any text may yield other
// terms than before, which TestIdentity notices.
const identity = "emberd-text/3 bleve/2.6.1 en-porter cjk-2"

// Term is one searchable term and where in its text it stands.
type Term struct {
	// Text is the folded and stemmed term, at most 64 bytes.
	Text string
	// Start and End are the byte span in the analysed string. Spans may overlap:
	// pairs of letters do, and an identifier covers its parts.
	Start, End int

	inner bool // covered by another term, so it adds nothing to the length
	stop  bool // an English stop word
	form  Form
}

// Inner reports a term that another one covers. It adds nothing to the length of a text.
func (t Term) Inner() bool { return t.inner }

// Stop reports an English stop word. A query has them only when it has nothing else.
func (t Term) Stop() bool { return t.stop }

// Count reports how often a term occurs in one text.
type Count struct {
	Text string
	N    int
}

// Analyzer makes terms. It is safe for concurrent use, and what it returns depends on
// the arguments alone. Use New to make one.
type Analyzer struct {
	words     *unicode.UnicodeTokenizer
	pairs     *cjk.CJKBigramFilter
	letters   *cjk.CJKBigramFilter // pairs and single letters
	stem      *porter.PorterStemmer
	stopWords analysis.TokenMap
	latin     *[lastLatin - firstLatin + 1]string // what Latin letters with accents fold to
	stopTerms func() map[string]bool
	known     finished
	folds     sync.Pool // of *folded
	rooms     sync.Pool // of *[]Term, for texts that are looked through
}

// New returns an Analyzer.
func New() *Analyzer {
	a := &Analyzer{
		words:     unicode.NewUnicodeTokenizer(),
		pairs:     cjk.NewCJKBigramFilter(false),
		letters:   cjk.NewCJKBigramFilter(true),
		stem:      porter.NewPorterStemmer(),
		stopWords: stopWords(),
		latin:     latin(),
		known:     newFinished(),
	}
	a.stopTerms = sync.OnceValue(a.stopTermsOf)
	return a
}

// latin is what every Analyzer shares and none changes, as stopWords is.
var latin = sync.OnceValue(func() *[lastLatin - firstLatin + 1]string {
	all := new([lastLatin - firstLatin + 1]string)
	for i := range all {
		all[i] = plain(rune(firstLatin + i))
	}
	return all
})

// Identity returns a short string that changes whenever the terms of any text may
// have changed. Code that stores terms stores it beside them, and makes the terms
// again when it differs.
func (a *Analyzer) Identity() string { return identity }

// Terms returns the terms a document is found by, ordered by Start.
func (a *Analyzer) Terms(s string) []Term { return a.AppendTerms(nil, s) }

// AppendTerms appends what Terms returns to terms, for callers that analyse much and
// use a slice again.
func (a *Analyzer) AppendTerms(terms []Term, s string) []Term { return a.analyze(terms, s, a.letters) }

// AppendOnly is AppendTerms for looking some terms up, which takes half the time: Text is ""
// of terms that are none of those, for certain if they begin with other letters.
func (a *Analyzer) AppendOnly(terms []Term, s string, wanted []string) []Term {
	f := a.fold(s)
	defer a.release(f)
	f.only = new([256]bool)
	for _, w := range wanted {
		if w != "" {
			f.only[w[0]] = true
		}
	}
	return a.analyzeFolded(terms, f, a.letters)
}

// Query returns the terms to search for, ordered by Start: those of Terms less the
// single letters that a pair covers, and less the stop words unless there is
// nothing else.
func (a *Analyzer) Query(s string) []Term {
	terms := a.analyze(nil, s, a.pairs)
	kept := make([]Term, 0, len(terms))
	for _, t := range terms {
		if !t.stop {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return terms
	}
	return kept
}

// Prefix returns the beginning of a word folded as terms are but not stemmed, for
// looking up terms that begin with it; "" when it is not the beginning of one. Of several words the
// last counts.
func (a *Analyzer) Prefix(word string) string {
	const digit = "0" // words of letters alone are stemmed
	s := word + digit
	for _, t := range a.Terms(s) {
		if t.End == len(s) && t.Text != digit && len(t.Text) < maxTerm {
			return strings.TrimSuffix(t.Text, digit)
		}
	}
	return ""
}

// Counts returns the distinct terms of a document in order of first appearance,
// with their numbers, and its length in words: terms that lie within another term
// are counted but add nothing to the length.
func (a *Analyzer) Counts(s string) (counts []Count, length int) {
	seen := make(map[string]int)
	for _, t := range a.Terms(s) {
		if !t.inner {
			length++
		}
		at, ok := seen[t.Text]
		if !ok {
			at = len(counts)
			seen[t.Text] = at
			counts = append(counts, Count{Text: t.Text})
		}
		counts[at].N++
	}
	return counts, length
}

// stopWords reads Bleve's copy of Snowball's English list.
var stopWords = sync.OnceValue(func() analysis.TokenMap {
	words := analysis.NewTokenMap()
	if err := words.LoadBytes(en.EnglishStopWords); err != nil {
		panic("analysis: built-in stop words: " + err.Error())
	}
	return words
})

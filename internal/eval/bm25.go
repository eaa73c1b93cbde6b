package eval

import (
	"cmp"
	"emberd/internal/text"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The parameters of plain BM25, those of Lucene.
const (
	plainK1 = 1.2
	plainB  = 0.75
)

const stopWords = "a an and are as at be but by for from has have in into is it its of on or s such t that the " +
	"their then there " +
	"these they this to was were what when where which who will with how did do does he she his her you your i"

// BM25 is the plain kind that everything else has to beat: runs of letters and
// digits in lower case without a short list of English stop words, a plural s
// cut off, k1 1.2, b 0.75, and the idf that is never negative
// (Robertson and Zaragoza, 2009, 3.5).
type BM25 struct {
	names    []string
	bigrams  bool
	stop     map[string]bool
	postings map[string][]posting
	norms    []float64 // k1 times the length's part, by document
}

type posting struct {
	doc   int
	count float64
}

// noSpaces are letters of scripts that put no spaces between words: Thai, Lao,
// Khmer, kana, Han and Hangul.
var noSpaces = text.Pattern(`[\x{0e00}-\x{0eff}\x{1780}-\x{17ff}\x{3040}-\x{30ff}\x{3400}-\x{9fff}\x{ac00}-\x{d7af}]+`)

// NewBM25 indexes texts, each under the name at its place. With bigrams, runs of
// letters of scripts without spaces are cut into pairs; else such a run is one
// word.
func NewBM25(names, texts []string, bigrams bool) *BM25 {
	b := &BM25{names: names, bigrams: bigrams, stop: map[string]bool{}, postings: map[string][]posting{}}
	for w := range strings.FieldsSeq(stopWords) {
		b.stop[w] = true
	}
	lengths, average := make([]float64, len(texts)), 0.0
	for doc, text := range texts {
		words, counts := b.count(text)
		for _, w := range words {
			b.postings[w] = append(b.postings[w], posting{doc, counts[w]})
			lengths[doc] += counts[w]
		}
		average += lengths[doc]
	}
	average /= float64(max(1, len(texts)))
	for _, l := range lengths {
		b.norms = append(b.norms, plainK1*(1-plainB+plainB*l/max(average, 1)))
	}
	return b
}

// Search returns the names of the most relevant texts that hold any word, at
// most so many, best first and equal ones in the order of the texts.
func (b *BM25) Search(query string, most int) []string {
	scores := map[int]float64{}
	words, counts := b.count(query)
	for _, w := range words {
		found := b.postings[w]
		n, df := float64(len(b.names)), float64(len(found))
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		for _, p := range found {
			scores[p.doc] += counts[w] * idf * p.count * (plainK1 + 1) / (p.count + b.norms[p.doc])
		}
	}
	order := slices.SortedFunc(maps.Keys(scores), func(x, y int) int {
		return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y))
	})
	names := make([]string, 0, most)
	for _, doc := range order[:min(most, len(order))] {
		names = append(names, b.names[doc])
	}
	return names
}

// count returns the distinct words of a text in the order in which they first
// occur, and how often each does. The order makes sums come out the same each time.
func (b *BM25) count(text string) ([]string, map[string]float64) {
	var order []string
	counts := map[string]float64{}
	for _, w := range b.words(text) {
		if counts[w]++; counts[w] == 1 {
			order = append(order, w)
		}
	}
	return order, counts
}

func (b *BM25) words(text string) (out []string) {
	text = strings.ToLower(text)
	if b.bigrams {
		for _, run := range noSpaces().FindAllString(text, -1) {
			out = append(out, pairs([]rune(run))...)
		}
		text = noSpaces().ReplaceAllString(text, " ")
	}
	for _, w := range strings.FieldsFunc(text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if b.stop[w] {
			continue
		}
		if utf8.RuneCountInString(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		out = append(out, w)
	}
	return out
}

// pairs returns every two neighbours of a run; a single letter is its own pair.
func pairs(run []rune) (out []string) {
	for i := range len(run) - 1 {
		out = append(out, string(run[i:i+2]))
	}
	if len(run) == 1 {
		out = append(out, string(run))
	}
	return out
}

// Package similarity reports how alike two texts or two vectors are: from 0, nothing in
// common, to 1, the same.
//
// Vectors, as embeddings are, are compared by their [Cosine]. Texts are compared either
// as CortexGraph does it, by the share of their words that both have ([TextSimilarity]),
// or better by the [Vector] of their terms, weighed by how rare each is in a [Corpus]:
// its cosine distinguishes two texts about one thing from two that begin with the same phrase.
//
// Thresholds are meant for cosines of embeddings. [Calibrate] maps the cosine of words to
// that scale, so that one threshold means about the same of both.
//
// Everything is a pure function of its arguments but for Corpus, which is for one
// goroutine as long as texts are added, and for any number after that.
package similarity

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
)

// Cosine is the cosine of the angle between two vectors (Salton, Wong and Yang, "A vector
// space model for automatic indexing", 1975), -1 to 1. It is 0 if either is all zeros, and
// an error if they have not the same length.
func Cosine(a, b []float32) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("vectors of %d and %d dimensions cannot be compared", len(a), len(b))
	}
	var dot, sumA, sumB float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, sumA, sumB = dot+x*y, sumA+x*x, sumB+y*y
	}
	if sumA == 0 || sumB == 0 {
		return 0, nil
	}
	return max(-1, min(1, dot/math.Sqrt(sumA*sumB))), nil
}

// Jaccard is the part of what either set has that both have (Jaccard, "Étude comparative
// de la distribution florale", 1901). It is 0 if either is empty.
func Jaccard(a, b map[string]bool) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	shared := 0
	for s := range a {
		if b[s] {
			shared++
		}
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}

// Tokens are the words of a text as CortexGraph has them: in lower case, of letters,
// digits and low lines, longer than two characters.
func Tokens(text string) map[string]bool {
	tokens := make(map[string]bool)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_'
	}) {
		if utf8.RuneCountInString(word) > 2 {
			tokens[word] = true
		}
	}
	return tokens
}

// TextSimilarity is CortexGraph's similarity of texts without a model: the [Jaccard] of
// their [Tokens]. Equal texts of short words alone have none in common.
func TextSimilarity(a, b string) float64 { return Jaccard(Tokens(a), Tokens(b)) }

// Truncate cuts a text to so many characters, less the white space that is then its end,
// and shows that by three dots, as CortexGraph's previews are cut. A length of 0 or less
// leaves it whole.
func Truncate(content string, length int) string {
	if length <= 0 || utf8.RuneCountInString(content) <= length {
		return content
	}
	return strings.TrimRightFunc(text.First(content, length), unicode.IsSpace) + "..."
}

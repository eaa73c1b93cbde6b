package embedding

import (
	"context"
	"math"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// words makes vectors of how a text is spelt: a feature for each word and for each
// stretch of letters of a word, hashed to one of its dimensions with a sign (the hashing
// trick of Weinberger and others, 2009), weighted 1+ln(count). They bring together what
// is misspelt, inflected or compounded, and know no synonym.
//
// It keeps nothing and knows no corpus, so a word counts the same however common it is,
// but for the few commonest of English.
type words struct{}

const (
	wordsDim = 512
	// wordsVersion changes whenever a vector may.
	wordsVersion = "words 1"
	// Lengths of stretches, in letters, with the marks of the word's ends.
	shortest, longest = 3, 5
	// A whole word says more than a stretch of it, and stretches are many.
	wordWeight, stretchWeight, commonWeight = 1.0, 0.35, 0.1
)

func (words) identify(context.Context, []Identity) (Identity, error) {
	return Identity{Provider: Words, Model: "words", SHA256: wordsVersion, Dim: wordsDim, Lexical: true}, nil
}

func (words) embed(ctx context.Context, _ Identity, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = spelt(text)
	}
	return vectors, nil
}

func (words) tokens(_ context.Context, _ Identity, text string) (int, error) {
	return estimate(text), nil
}
func (words) loaded() bool         { return true }
func (words) awaits(Identity) bool { return false }
func (words) close() error         { return nil }

// spelt is the vector of a text, nil for one without a letter or digit.
func spelt(text string) []float32 {
	b := featureVector{at: make(map[string]int)}
	for word := range wordsOf(text) {
		b.addWord(word)
	}
	v := b.vector()
	if !normalize(v) {
		return nil
	}
	return v
}

// featureVector contains the features of a text in order of first appearance: a sum in the order of a
// map would not be the same twice.
type featureVector struct {
	at       map[string]int
	features []feature
}

type feature struct {
	text   string
	weight float64
	count  float64
}

func (b *featureVector) add(text string, weight float64) {
	i, ok := b.at[text]
	if !ok {
		i = len(b.features)
		b.at[text] = i
		b.features = append(b.features, feature{text: text, weight: weight})
	}
	b.features[i].count++
}

func (b *featureVector) vector() []float32 {
	var sums [wordsDim]float64
	for _, f := range b.features {
		h := hash(f.text)
		w := f.weight * (1 + math.Log(f.count))
		if h>>63 == 1 {
			w = -w
		}
		sums[h%wordsDim] += w
	}
	v := make([]float32, wordsDim)
	for i, s := range sums {
		v[i] = float32(s)
	}
	return v
}

// wordsOf yields the words of a text: letters and digits without their accents, in lower
// case.
func wordsOf(text string) func(yield func([]rune) bool) {
	return func(yield func([]rune) bool) {
		var word []rune
		for _, r := range norm.NFKD.String(strings.ToLower(text)) {
			switch {
			case unicode.IsMark(r):
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				word = append(word, r)
			case len(word) > 0:
				if !yield(word) {
					return
				}
				word = word[:0]
			}
		}
		if len(word) > 0 {
			yield(word)
		}
	}
}

// addWord adds a word and its stretches. Scripts that write no spaces have no words of
// their own, and every two letters of them count as one.
func (b *featureVector) addWord(word []rune) {
	if spaceless(word[0]) {
		for i := range word {
			b.add(string(word[i:min(i+2, len(word))]), wordWeight)
		}
		return
	}
	marked := "<" + string(word) + ">"
	weight := wordWeight
	if common(string(word)) {
		weight = commonWeight
	}
	b.add(marked, weight)
	letters := []rune(marked)
	for n := shortest; n <= longest && n < len(letters); n++ {
		for i := range len(letters) - n + 1 {
			b.add(string(letters[i:i+n]), weight*stretchWeight)
		}
	}
}

func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// common reports the words that most English sentences have and that say nothing of what
// they are about.
func common(word string) bool {
	switch word {
	case "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for", "from", "had",
		"has", "have", "he", "her", "his", "how", "i", "if", "in", "is", "it", "its", "me", "my", "no", "not", "of",
		"on", "or", "our", "she", "so", "that", "the", "their", "them", "then", "there", "they", "this", "to", "was",
		"we", "were", "what", "when", "where", "which",
		"who", "why", "will", "with", "would", "you", "your":
		return true
	}
	return false
}

// hash is FNV-1a of 64 bits, with its bits mixed once more, since its lowest alone are
// not even (the finalizer of MurmurHash3).
func hash(feature string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(feature) {
		h = (h ^ uint64(feature[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	return h ^ h>>33
}

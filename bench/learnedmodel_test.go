package bench

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"emberd/internal/tinybert"
)

// What the vocabularies of tinybert have: special tokens at first, and a mark at the
// beginning of a word.
const (
	specials = 5
	boundary = "\u2581"
)

// Model is a model of one layer whose vector of a text is the mean of the vectors of its
// words. Attention and feed-forward add nothing, and what is left are the normalisations,
// which would make all vectors equally long. So each token has two numbers more, opposite
// ones that make up for what its vector lacks of length 1, and the last normalisation
// leaves them out.
//
// The vocabulary are the learned words, and characters and suffixes with small random
// vectors, of which other words are spelled.
func (l *learnedWords) Model() *tinybert.Model {
	tokens, vectors := l.tokens()
	s := tinybert.Spec{Layers: 1, Dim: l.dim, Heads: 1, FeedForward: 32, Context: 512, Pooling: 1}
	s.Vocabulary = len(tinybert.Tokens()) // tinybert.New makes its own, which are replaced
	m := tinybert.New(s)
	for i := range m.Meta {
		switch m.Meta[i].Key {
		case "general.name":
			m.Meta[i].Value = "tinybert learned"
		case "tokenizer.ggml.tokens":
			m.Meta[i].Value = tokens
		case "tokenizer.ggml.token_type":
			m.Meta[i].Value = tokenKinds(len(tokens))
		}
	}
	for i := range m.Tensors {
		t := &m.Tensors[i]
		switch {
		case t.Name == "token_embd.weight":
			t.Dims[1], t.Value = len(tokens), func(k int) float32 { return vectors.cells[k] }
		case strings.HasSuffix(t.Name, "layer_output_norm.weight"):
			t.Value = func(k int) float32 {
				if k >= l.dim-2 {
					return 0
				}
				return 1
			}
		case !strings.HasSuffix(t.Name, "_norm.weight"):
			t.Value = func(int) float32 { return 0 }
		}
	}
	return m
}

// tokenKinds are the kinds of so many tokens: control for the special ones, else normal.
func tokenKinds(n int) []int32 {
	types := slices.Repeat([]int32{1}, n)
	for i := range specials {
		types[i] = 3
	}
	return types
}

// pieceLength is how long the vectors of pieces are: two texts without a learned word
// are not the same, and no piece counts beside a word.
const pieceLength = 0.05

// tokens are the vocabulary and the vectors of its tokens, all of length 1.
func (l *learnedWords) tokens() ([]string, *wordTable) {
	tokens := tinybert.Tokens()[:specials]
	for _, w := range l.words {
		tokens = append(tokens, boundary+w)
	}
	known := make(map[string]bool, len(tokens))
	for _, t := range tokens {
		known[t] = true
	}
	for _, t := range append(tinybert.Tokens()[specials:], l.characters()...) {
		if !known[t] {
			known[t] = true
			tokens = append(tokens, t)
		}
	}
	vectors := newTable(len(tokens), l.dim)
	for i := range tokens {
		v := vectors.row(i)
		if at := i - specials; at >= 0 && at < len(l.words) {
			copy(v, l.vectors.row(at))
		} else {
			drawPiece(v[:l.dim-2], i) // the special tokens too: no text may have a vector of zeros
		}
		square := 0.0
		for _, x := range v {
			square += float64(x) * float64(x)
		}
		rest := float32(math.Sqrt(max(0, 1-square) / 2))
		v[l.dim-2], v[l.dim-1] = rest, -rest
	}
	return tokens, vectors
}

// characters are those of the texts, each at the beginning of a word and within one.
func (l *learnedWords) characters() []string {
	var tokens []string
	for _, r := range l.letters {
		tokens = append(tokens, boundary+string(r), string(r))
	}
	return tokens
}

// drawPiece fills a vector with numbers whose sum is zero.
func drawPiece(v []float32, seed int) {
	for k := 0; k+1 < len(v); k += 2 {
		x := float32(normal(uint64(seed<<16+k+1)*0x9e3779b97f4a7c15) * pieceLength / math.Sqrt(float64(len(v))))
		v[k], v[k+1] = x, -x
	}
}

// split cuts a text into words as a tokenizer of BERT does before it looks for pieces:
// letters and digits in lower case, each character of a script without spaces by itself.
func split(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		start := 0
		for i, r := range w {
			if !unicode.Is(unicode.Han, r) {
				continue
			}
			if i > start {
				words = append(words, w[start:i])
			}
			start = i + len(string(r))
			words = append(words, string(r))
		}
		if start < len(w) {
			words = append(words, w[start:])
		}
	}
	return words
}

// letters are the characters of texts in lower case, but for spaces.
func letters(texts []string) []rune {
	seen := map[rune]bool{}
	for _, t := range texts {
		for _, r := range t {
			if r = unicode.ToLower(r); unicode.IsGraphic(r) && !unicode.IsSpace(r) {
				seen[r] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

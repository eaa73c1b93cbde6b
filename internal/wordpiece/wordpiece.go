// Package wordpiece cuts texts into the tokens of a model's vocabulary by WordPiece (Wu et al., "Google's neural
// machine translation system", 2016), as the tokenizer that BERT models are trained with does: the library tokenizers
// with its BertNormalizer, BertPreTokenizer and WordPiece. Every engine sees these tokens, so that the vectors of one
// model file can be compared whoever makes them. llama.cpp's own tokenizer differs: of a Hangul syllable it takes one
// letter, it leaves out marks that the models know, and it cuts words of any length.
//
// The library has older tables of Unicode than this package: 568 of all characters differ, nearly all of them accents
// and punctuation that it takes for parts of words.
package wordpiece

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"emberd/internal/gguf"
	"emberd/internal/text"
)

// boundary begins a token that begins a word. A token without it continues one.
const boundary = "\u2581"

// maxWord is the maximum of characters in a word that is cut into tokens. A longer word is unknown.
const maxWord = 100

// Tokenizer cuts texts into tokens. It never changes and may be used by any number of goroutines.
type Tokenizer struct {
	tokens              *text.Dictionary
	longest             [256]int // bytes of the longest token that begins with this one
	begin, end, unknown int32
	cased, accented     bool // capital letters and accents are kept
}

// New makes the tokenizer of a file that was checked and whose tokenizer is "bert".
func New(f *gguf.File, facts *gguf.Facts) *Tokenizer {
	tokens, _ := f.Strings("tokenizer.ggml.tokens")
	t := &Tokenizer{
		begin: facts.Begin, end: facts.End, unknown: facts.Unknown,
		cased: facts.Cased, accented: facts.Accented,
	}
	t.learn(tokens)
	return t
}

// None is what [Of] has at the ends of a text and for a word that the vocabulary has no tokens for.
const None = -1

// Of makes a tokenizer of a vocabulary alone, for texts in lower case and without accents. A
// token's number is its place in the vocabulary, none is empty, and one that begins a word
// begins with U+2581.
func Of(vocabulary []string) *Tokenizer {
	t := &Tokenizer{begin: None, end: None, unknown: None}
	t.learn(vocabulary)
	return t
}

func (t *Tokenizer) learn(tokens []string) {
	t.tokens = text.NewDictionary(slices.Values(tokens))
	for _, token := range tokens {
		t.longest[token[0]] = max(t.longest[token[0]], len(token))
	}
}

// Tokens are those of a text between those of its beginning and its end, limit at most in
// all, or as many as there are if limit is 0. A word that the vocabulary has no tokens for is
// one unknown token. Text never becomes a special token, whatever it spells, and bytes that
// are not UTF-8 are passed over. It takes time in proportion to the text.
func (t *Tokenizer) Tokens(text string, limit int) []int32 {
	c := &cut{Tokenizer: t, list: []int32{t.begin}, word: []byte(boundary)}
	for i, r := range text {
		c.add(r, text[i:])
		if limit > 0 && len(c.list) >= limit {
			break
		}
	}
	c.finish()
	if limit > 0 && len(c.list) >= limit {
		c.list = c.list[:max(limit-1, 0)]
	}
	return append(c.list, t.end)
}

// Unknown is how many of the tokens stand for words that the vocabulary does not have.
func (t *Tokenizer) Unknown(tokens []int32) int {
	n := 0
	for _, id := range tokens {
		if id == t.unknown {
			n++
		}
	}
	return n
}

// A cut is the tokens so far, and the word that is being read.
type cut struct {
	*Tokenizer
	list []int32
	word []byte // the boundary and what there is of the word
	size int    // characters in it
}

// add reads a character, which the text begins with.
func (c *cut) add(r rune, text string) {
	switch {
	case r < utf8.RuneSelf:
		c.addPlain(r)
	case dropped(r):
	case ideograph(r):
		c.finish()
		c.addDecomposed(r, text)
		c.finish()
	default:
		c.addDecomposed(r, text)
	}
}

// addDecomposed adds a character, or what it is composed of without the accents.
func (c *cut) addDecomposed(r rune, text string) {
	if c.accented {
		c.addPlain(r)
		return
	}
	if isHangul(r) {
		for _, letter := range norm.NFD.String(string(r)) {
			c.addPlain(letter)
		}
		return
	}
	decomposed := norm.NFD.PropertiesString(text).Decomposition()
	if decomposed == nil {
		c.addUnlessAccent(r)
		return
	}
	for len(decomposed) > 0 {
		part, n := utf8.DecodeRune(decomposed)
		c.addUnlessAccent(part)
		decomposed = decomposed[n:]
	}
}

func (c *cut) addUnlessAccent(r rune) {
	if !unicode.Is(unicode.Mn, r) {
		c.addPlain(r)
	}
}

// addPlain adds a character that is not composed of others: to the word, or as a word of its own.
func (c *cut) addPlain(r rune) {
	switch {
	case r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f: // controls
	case unicode.IsSpace(r):
		c.finish()
	case isPunctuation(r):
		c.finish()
		c.extend(r)
		c.finish()
	default:
		c.extend(r)
	}
}

func (c *cut) extend(r rune) {
	c.size++
	switch {
	case c.cased:
		c.word = utf8.AppendRune(c.word, r)
	case r == 'İ': // the one letter whose small form is two characters
		c.word = append(c.word, "i\u0307"...)
		c.size++
	default:
		c.word = utf8.AppendRune(c.word, unicode.ToLower(r))
	}
}

// finish appends the tokens of the word and begins another.
func (c *cut) finish() {
	switch {
	case c.size > maxWord:
		c.list = append(c.list, c.unknown)
	case c.size > 0:
		c.list = c.match(c.list, c.word)
	}
	c.word, c.size = c.word[:len(boundary)], 0
}

// match takes the longest token each time. A word is matched as a whole or not at all.
func (t *Tokenizer) match(list []int32, word []byte) []int32 {
	before, least := len(list), len(boundary) // the boundary alone begins no word
	for len(word) > 0 {
		n := min(len(word), t.longest[word[0]])
		for ; n > least; n-- {
			if id, ok := t.tokens.NumberOf(word[:n]); ok {
				list = append(list, int32(id))
				break
			}
		}
		if n <= least {
			return append(list[:before], t.unknown)
		}
		word, least = word[n:], 0
		if bytes.HasPrefix(word, []byte(boundary)) { // a character of the text, which begins no word here
			return append(list[:before], t.unknown)
		}
	}
	return list
}

// dropped characters beyond ASCII neither are part of a word nor end one: control characters, private ones, and U+FFFD,
// as which the bytes come that are not UTF-8.
func dropped(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isHangul reports whether a character is a Hangul syllable, whose letters Unicode computes.
func isHangul(r rune) bool { return 0xac00 <= r && r <= 0xd7a3 }

// isPunctuation reports whether a character is a word of its own.
func isPunctuation(r rune) bool {
	return unicode.IsPunct(r) || r < 0x7f && unicode.IsSymbol(r)
}

// ideograph has the blocks of Chinese characters that BERT cuts texts at. One begins at 2B920
// where Unicode has it begin at 2B820: the reference tokenizer does.
func ideograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, 0x4e00 <= r && r <= 0x9fff, 0xf900 <= r && r <= 0xfaff:
		return true
	case 0x20000 <= r && r <= 0x2a6df, 0x2a700 <= r && r <= 0x2b81f:
		return true
	default:
		return 0x2b920 <= r && r <= 0x2ceaf || 0x2f800 <= r && r <= 0x2fa1f
	}
}

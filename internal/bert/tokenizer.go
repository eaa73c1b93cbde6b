package bert

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"emberd/internal/gguf"
)

// boundary begins a token that begins a word. A token without it continues one.
const boundary = "\u2581"

// wordPiece cuts texts into the tokens of a model's vocabulary by WordPiece (Wu et al.,
// "Google's neural machine translation system", 2016), in the variant that llama.cpp calls
// WPM, so that every engine sees the same tokens of a text. It never changes and may be used
// by any number of goroutines.
type wordPiece struct {
	ids                 map[string]int32
	longest             [256]int // bytes of the longest token that begins with this one
	begin, end, unknown int32
	cased, accented     bool // capital letters and accents are kept
}

// newTokenizer makes the tokenizer of a file that was checked.
func newTokenizer(f *gguf.File, facts *gguf.Facts) *wordPiece {
	tokens, _ := f.Strings("tokenizer.ggml.tokens")
	t := &wordPiece{
		ids:   make(map[string]int32, len(tokens)),
		begin: facts.Begin, end: facts.End, unknown: facts.Unknown,
		cased: facts.Cased, accented: facts.Accented,
	}
	for id, token := range tokens {
		t.ids[token] = int32(id)
		t.longest[token[0]] = max(t.longest[token[0]], len(token))
	}
	return t
}

// tokens are those of a text between those of its beginning and its end, limit at most in
// all, or as many as there are if limit is 0. A word that the vocabulary has no tokens for is
// one unknown token. Text never becomes a special token, whatever it spells, and bytes that
// are not UTF-8 are passed over. It takes time in proportion to the text.
func (t *wordPiece) tokens(text string, limit int) []int32 {
	list := []int32{t.begin}
	word := []byte(boundary)
	for i, r := range text {
		if r >= utf8.RuneSelf && !t.accented {
			r = base(r, text[i:])
		}
		switch {
		case unicode.IsSpace(r):
			list, word = t.finish(list, word)
		case t.dropped(r):
		case alone(r):
			list, word = t.finish(list, word)
			list, word = t.finish(list, t.extend(word, r))
		default:
			word = t.extend(word, r)
		}
		if limit > 0 && len(list) >= limit {
			break
		}
	}
	list, _ = t.finish(list, word)
	if limit > 0 && len(list) >= limit {
		list = list[:max(limit-1, 0)]
	}
	return append(list, t.end)
}

// unknowns is how many of the tokens stand for words that the vocabulary does not have.
func (t *wordPiece) unknowns(tokens []int32) int {
	n := 0
	for _, id := range tokens {
		if id == t.unknown {
			n++
		}
	}
	return n
}

// finish appends the tokens of a word and empties it.
func (t *wordPiece) finish(list []int32, word []byte) ([]int32, []byte) {
	if len(word) > len(boundary) {
		list = t.match(list, word)
	}
	return list, word[:len(boundary)]
}

// match takes the longest token each time. A word is matched as a whole or not at all.
func (t *wordPiece) match(list []int32, word []byte) []int32 {
	before := len(list)
	for len(word) > 0 {
		n := min(len(word), t.longest[word[0]])
		for n > 0 {
			if id, ok := t.ids[string(word[:n])]; ok {
				list = append(list, id)
				break
			}
			n--
		}
		if n == 0 {
			return append(list[:before], t.unknown)
		}
		word = word[n:]
	}
	return list
}

func (t *wordPiece) extend(word []byte, r rune) []byte {
	if !t.cased {
		r = unicode.ToLower(r)
	}
	return utf8.AppendRune(word, r)
}

// dropped characters neither are part of a word nor end one: control characters but spaces,
// accents, and U+FFFD, as which the bytes come that are not UTF-8.
func (t *wordPiece) dropped(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) || !t.accented && unicode.IsMark(r)
}

// base is the first character of r's canonical decomposition: the letter under an accent. Of a
// Hangul syllable it is the first consonant alone, for llama.cpp takes no more of it. The text
// begins with r.
func base(r rune, text string) rune {
	const first, last, perConsonant, consonants = 0xac00, 0xd7a3, 588, 0x1100
	if first <= r && r <= last {
		return consonants + (r-first)/perConsonant
	}
	if decomposed := norm.NFD.PropertiesString(text).Decomposition(); decomposed != nil {
		r, _ = utf8.DecodeRune(decomposed)
	}
	return r
}

// alone characters are words of their own.
func alone(r rune) bool {
	return unicode.IsPunct(r) || r < 0x7f && unicode.IsSymbol(r) || ideograph(r)
}

// ideograph has the blocks of Chinese characters that BERT cuts texts at. One begins at 2B920
// where Unicode has it begin at 2B820: the reference tokenizer does, and llama.cpp after it.
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

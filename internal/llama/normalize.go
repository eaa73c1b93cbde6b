package llama

import (
	"slices"
	"strings"
	"unicode"

	"emberd/internal/gguf"
)

// wordPiece is what a file calls the tokenizer of BERT.
const wordPiece = "bert"

// A spelling is what of a text's letters a WordPiece model looks at. Releases of llama.cpp
// differ in it: for a long time they made all letters small whatever the file said, and took
// accents off letters but not away where they stand by themselves.
type spelling struct {
	cased    bool // capitals are letters of their own
	accented bool // letters with accents are
	bare     bool // accents are not looked at
}

func spellingOf(facts *gguf.Facts) spelling {
	if facts.Tokenizer != wordPiece {
		return spelling{}
	}
	return spelling{cased: facts.Cased, accented: facts.Accented, bare: !facts.Accented}
}

// normal is the text with what every release reads in the same way.
func (s spelling) normal(text string) string {
	text = strings.ToValidUTF8(text, "")
	if !s.bare {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return r
	}, text)
}

// honoured reports whether a tokenizer keeps what the model looks at: there is a letter that
// it cuts otherwise than the one that it would be made.
func (s spelling) honoured(tokens func(string) ([]int32, error)) bool {
	differ := func(letters, plain string) bool {
		others := []rune(plain)
		for i, r := range []rune(letters) {
			one, err := tokens(string(r))
			other, again := tokens(string(others[i]))
			if err != nil || again != nil || !slices.Equal(one, other) {
				return true
			}
		}
		return false
	}
	return (!s.cased || differ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")) &&
		(!s.accented || differ("áàâäåãçéèêëíìîïñóòôöõúùûüý", "aaaaaaceeeeiiiinooooouuuuy"))
}

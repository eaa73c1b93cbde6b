package embedding

import (
	"unicode"
	"unicode/utf8"
)

// Estimates of the tokens that a text takes, for servers whose tokenizer is unknown. They
// are rather too high: a WordPiece vocabulary of 30,000 has most English words whole, and
// others in pieces of some three letters.
const (
	marks         = 2 // set around every text
	lettersOfWord = 5 // ASCII letters that one token has, mostly
)

// estimate counts about how many tokens a text takes, with the marks around it.
func estimate(text string) int {
	n, _ := measure(text, 0)
	return n
}

// cut returns the beginning of a text that takes about so many tokens.
func cut(text string, limit int) string {
	_, end := measure(text, limit)
	return text[:end]
}

// measure counts tokens until there would be more than limit, which 0 leaves open, and
// reports where that is.
func measure(text string, limit int) (tokens, end int) {
	tokens = marks
	letters := 0 // of the word
	for at, r := range text {
		cost := 0
		switch {
		case unicode.IsSpace(r):
			letters = 0
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			if letters%lettersOfWord == 0 {
				cost = 1
			}
			letters++
		case unicode.IsLetter(r) && !unicode.Is(unicode.Han, r) && r < 0x3000:
			// Other alphabets are in pieces of two letters.
			if letters%2 == 0 {
				cost = 1
			}
			letters++
		case unicode.IsMark(r):
		default: // digits, signs, Chinese: each by itself
			cost, letters = 1, 0
		}
		if limit > 0 && tokens+cost > limit {
			return tokens, at
		}
		tokens += cost
	}
	return tokens, len(text)
}

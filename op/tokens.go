package op

import "unicode/utf8"

// Tokens estimates how many tokens a model reads a text as: four bytes of ASCII are
// one, and every other character is one. Tokenizers in use need fewer for prose of
// most languages, and more for base64 and the like.
func Tokens(text string) int {
	ascii, others := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			others++
		}
	}
	return (ascii+3)/4 + others
}

package op

// Tokens estimates how many tokens a model reads a text as: four bytes of ASCII are
// one, and every other character is one. Tokenizers in use need fewer for prose of
// most languages, and more for base64 and the like.
func Tokens(text string) int {
	ascii, others := 0, 0
	for i := range len(text) { // without a branch, since every answer is counted
		b := text[i]
		ascii += int(^b >> 7)
		others += int(b >> 7 & (b >> 6) & 1) // the first byte of a character
	}
	return (ascii+3)/4 + others
}

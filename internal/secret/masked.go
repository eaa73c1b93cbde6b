package secret

import (
	"strings"
	"unicode/utf8"
)

// Position returns where f starts in text, counted in characters from 1.
func Position(text string, f Finding) int {
	return utf8.RuneCountInString(text[:f.Start]) + 1
}

// Masked returns what may be shown of f: its first four characters, fewer when
// those would be more than a quarter of it, and stars whose number says nothing
// about its length.
func Masked(text string, f Finding) string {
	const shown, stars = 4, 16
	secret := text[f.Start:f.End]
	keep := min(shown, utf8.RuneCountInString(secret)/4)
	end := 0
	for range keep {
		_, size := utf8.DecodeRuneInString(secret[end:])
		end += size
	}
	return secret[:end] + strings.Repeat("*", stars)
}

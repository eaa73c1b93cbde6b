package text

import (
	"unicode"
	"unicode/utf8"
)

// IsWord reports whether r can be part of a word: a letter, a digit, or a mark on one.
func IsWord(r rune) bool {
	if r < utf8.RuneSelf { // which no mark is
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.Nd, unicode.M)
}

// IsApostrophe reports whether r is one of the marks that people type for an apostrophe.
func IsApostrophe(r rune) bool {
	switch r {
	case '\'', '’', '‘', 'ʼ', '`', '´':
		return true
	}
	return false
}

// WritesNoSpaces reports whether r belongs to a script without spaces between words.
func WritesNoSpaces(r rune) bool {
	return r >= 0x0e00 && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// IsWide reports whether r belongs to a script of wide letters without spaces, or is its
// punctuation: Chinese and Japanese.
func IsWide(r rune) bool {
	return r >= 0x2E80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		0x3000 <= r && r <= 0x30FF || 0xFF00 <= r && r <= 0xFFEF)
}

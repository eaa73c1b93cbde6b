package table

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// NormalizedText is what makes texts the same although they are spelled in different ways: two
// texts have one if they differ only in case, in white space and in how their characters
// are composed.
type NormalizedText string

// NormalizeText returns the wording of a text: in Unicode normal form C, folded to one case,
// with single spaces between words and none around.
func NormalizeText(text string) NormalizedText {
	if ascii(text) {
		return NormalizedText(strings.Join(strings.Fields(strings.ToLower(text)), " "))
	}
	folded := cases.Fold().String(norm.NFC.String(text))
	return NormalizedText(strings.Join(strings.Fields(norm.NFC.String(folded)), " "))
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Of reports whether a text has this wording. Most texts that have not are told by their
// first letters.
func (w NormalizedText) Of(text string) bool {
	rest, spaced, begun := string(w), false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			return NormalizeText(text) == w
		case c == ' ' || '\t' <= c && c <= '\r':
			spaced = begun
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		if spaced {
			if !strings.HasPrefix(rest, " ") {
				return false
			}
			rest, spaced = rest[1:], false
		}
		if rest == "" || rest[0] != c {
			composed := i+1 < len(text) && text[i+1] >= utf8.RuneSelf // maybe, with a mark
			return composed && NormalizeText(text) == w
		}
		rest, begun = rest[1:], true
	}
	return rest == ""
}

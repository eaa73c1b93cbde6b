package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentencesOf cuts a text behind its sentences, and behind lines that end in nothing. What
// it returns adds up to the text.
func sentencesOf(text string) []string {
	var out []string
	for text != "" {
		n := sentence(text)
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// sentence is how long the first sentence is, with the blanks behind it.
func sentence(text string) int {
	for at, r := range text {
		behind := at + utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
			continue
		case strings.ContainsRune("。！？；", r):
			return closing(text, behind)
		case strings.ContainsRune(".!?…", r):
			if end := closing(text, behind); end == len(text) || endsInBlank(text[:end]) {
				return end
			}
		}
	}
	return len(text)
}

// closing is where quotes, brackets and blanks behind the end of a sentence end.
func closing(text string, at int) int {
	rest := strings.TrimLeft(text[at:], `"')]}»”’」』）`)
	return len(text) - len(rest) + blanks(rest)
}

func blanks(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
}

func endsInBlank(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsSpace(r)
}

// wordsOf cuts a text behind the blanks that follow its words, and adds up to it.
func wordsOf(text string) []string {
	var out []string
	for text != "" {
		n := strings.IndexFunc(text, unicode.IsSpace)
		if n < 0 {
			n = len(text)
		}
		n += blanks(text[n:])
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

package table

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Part is a text to look for in memories letter by letter, in any case. It may be
// shared.
type Part struct {
	text string // in lower case
	word string // the longest of it that JSON writes as it is, one byte a character
}

// NewPart returns the part with a text; every memory holds the empty one.
func NewPart(text string) Part {
	p := Part{text: strings.ToLower(text)}
	for word := range strings.FieldsFuncSeq(p.text, escapes) {
		if len(word) > len(p.word) {
			p.word = word
		}
	}
	return p
}

// escapes reports a character that JSON may write in another way than as one byte.
func escapes(r rune) bool {
	return r < ' ' || r >= utf8.RuneSelf || strings.ContainsRune(`"\/<>&`+"\x7f", r)
}

// Holds reports whether the memory's content or type has the part in it. Most rows are
// judged by the bytes of their document, some twenty times as fast as by decoding them.
func (r *Row) Holds(p Part) bool {
	if p.text == "" {
		return true
	}
	if p.word != "" && !disguised(r.JSON(), p.word) {
		if indexFold(r.JSON(), p.word) < 0 {
			return false
		}
		value := r.Value("content")
		if at := indexFold(value, p.word); at > 0 && p.word == p.text && value[at-1] != '\\' {
			return true
		}
	}
	return strings.Contains(strings.ToLower(r.Content()), p.text) || strings.Contains(strings.ToLower(r.Type()), p.text)
}

// disguised reports a document that may have a word in it in other bytes than those of
// its letters: by escapes, or by one of the two characters beyond ASCII whose lower case
// is an ASCII letter, İ and the sign for kelvin.
func disguised(doc []byte, word string) bool {
	return bytes.Contains(doc, []byte(`\u`)) ||
		strings.Contains(word, "i") && bytes.Contains(doc, []byte("\u0130")) ||
		strings.Contains(word, "k") && bytes.Contains(doc, []byte("\u212a"))
}

// indexFold is where a word of lower-case ASCII begins in b, in any case, or -1.
func indexFold(b []byte, word string) int {
	first := word[0]
	for i := 0; i+len(word) <= len(b); i++ {
		if lower(b[i]) == first && foldsTo(b[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

func foldsTo(b []byte, word string) bool {
	for i, c := range b {
		if lower(c) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

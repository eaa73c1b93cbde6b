package search

import (
	"strings"

	"emberd/vault/lex"
)

// The marks of an HTML comment in a note.
const commentOpen, commentClose = "<!--", "-->"

// hideComments overwrites the marks of HTML comments in a note with spaces, and the comments between which emberd
// keeps its own lines. The offsets of all other bytes stay.
func hideComments(text string) string {
	if !strings.Contains(text, commentOpen) {
		return text
	}
	b := []byte(text)
	for at := 0; ; {
		open := strings.Index(text[at:], commentOpen)
		if open < 0 {
			return string(b)
		}
		open += at
		inner := open + len(commentOpen)
		lex.Blank(b[open:inner])
		size := strings.Index(text[inner:], commentClose)
		if size < 0 {
			return string(b)
		}
		at = inner + size + len(commentClose)
		if strings.HasPrefix(strings.TrimLeft(text[inner:], " /"), "emberd:") {
			lex.Blank(b[open:at])
		}
		lex.Blank(b[inner+size : at])
	}
}

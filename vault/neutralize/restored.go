package neutralize

import (
	"regexp"
	"strings"

	"emberd/internal/text"
	"emberd/vault/lex"
)

// Restored returns the text of a body that was edited after it was made of a text: its lines, and those that the
// body had from the text as the text has them.
func Restored(body, text string) string {
	bare := lex.Bare(text)
	own, made := strings.Split(bare, "\n"), strings.Split(neutralizeMarkup(bare), "\n")
	if len(own) != len(made) {
		return body
	}
	known := make(map[string][]string)
	for i, line := range made {
		known[line] = append(known[line], own[i])
	}
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		if from := known[line]; len(from) > 0 {
			lines[i], known[line] = from[0], from[1:]
		}
	}
	if restored := strings.Join(lines, "\n"); Matches(body, restored) {
		return restored
	}
	return body
}

// inserted are the insertions of Body, and what they were inserted into.
var inserted = []struct {
	form func() *regexp.Regexp
	text string
}{
	{text.Pattern(`<\\%`), `<%`},
	{text.Pattern(`%\\%`), `%%`},
	{text.Pattern(`\\(<[A-Za-z/!?]|!\[)`), `$1`},
	{text.Pattern("((?:`{3,}|~{3,})[ \t]*)text (\\w)"), `$1$2`},
	{text.Pattern("(`[ \t]*)\\\\(\\$?=|[A-Za-z])"), `$1$2`},
	{text.Pattern(`^\\---`), `---`},
	{text.Pattern(`(<!--\s*/?\s*emberd) :`), `$1:`},
}

// WithoutInsertions returns the text of a body that was edited after Body had inserted so many bytes into it, if it
// still has what looks like all of them; else the body.
func WithoutInsertions(body string, bytes int) string {
	text := body
	for _, in := range inserted {
		text = in.form().ReplaceAllString(text, in.text)
	}
	if len(body)-len(text) != bytes || neutralizeMarkup(text) != body {
		return body
	}
	return text
}

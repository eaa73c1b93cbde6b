package neutralize

import (
	"regexp"
	"slices"
	"strings"

	"emberd/internal/text"
	"emberd/vault/lex"
)

// Restored returns the text of a body that was edited after it was made of a text: its lines, and those that the
// body had from the text as the text has them. Edited lines are without what Body inserted into that text, unless the
// text has the like of its own.
func Restored(body, text string) string {
	bare := lex.Bare(text)
	made := neutralizeMarkup(bare)
	from, to := strings.Split(bare, "\n"), strings.Split(made, "\n")
	if len(from) != len(to) {
		return body
	}
	known := make(map[string][]string)
	for i, line := range to {
		known[line] = append(known[line], from[i])
	}
	own := insertedForms{bare: bare, made: made, is: make(map[string]bool)}
	lines := strings.Split(body, "\n")
	cleared := slices.Clone(lines)
	for i, line := range lines {
		if was := known[line]; len(was) > 0 {
			lines[i], cleared[i], known[line] = was[0], was[0], was[1:]
			continue
		}
		cleared[i] = own.without(line)
	}
	for _, all := range [][]string{cleared, lines} {
		if restored := strings.Join(all, "\n"); Matches(body, restored) {
			return restored
		}
	}
	return body
}

// insertedForms tells what Body inserted into a text from what the text has of its own.
type insertedForms struct {
	bare, made string
	is         map[string]bool // by form, so that each is looked for once
}

// without returns a line without the forms that only Body put into the text.
func (f *insertedForms) without(line string) string {
	for _, in := range inserted {
		line = in.form().ReplaceAllStringFunc(line, func(form string) string {
			if !f.inserted(form) {
				return form
			}
			return in.form().ReplaceAllString(form, in.text)
		})
	}
	return line
}

func (f *insertedForms) inserted(form string) bool {
	is, known := f.is[form]
	if !known {
		is = strings.Contains(f.made, form) && !strings.Contains(f.bare, form)
		f.is[form] = is
	}
	return is
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

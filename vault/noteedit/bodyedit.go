package noteedit

import (
	"bytes"
	"strings"

	"emberd/vault/frontmatter"
	"emberd/vault/lex"
	"emberd/vault/neutralize"
)

// BodyEdit replaces the text of a note. Frontmatter and regions stay as they are, and so do the
// empty lines around the text.
type BodyEdit struct {
	Was string // the text that is to go, as [OwnText] returns it; for another text the edit is [TextChanged]
	// Now replaces it, in the form that [neutralize.Body] gives it. What the note had already stays
	// as it is written there.
	Now string
}

// splice edits notes with a frontmatter, which all notes with an ID have.
func (b *BodyEdit) splice(src []byte) ([]byte, error) {
	was := ownText(src)
	now := neutralize.Changed(was, lex.Bare(b.Now))
	if was == now {
		return src, nil
	}
	if was != b.Was {
		return nil, &frontmatter.EditError{Reason: TextChanged}
	}
	text, body := bodyOf(src)
	regions := wholeRegions(text[body:])
	from, to, reason := textSpan(text[body:], regions)
	if reason != "" {
		return nil, &frontmatter.EditError{Reason: reason}
	}
	newline := lex.LineEnd(src)
	lines := strings.ReplaceAll(now, "\n", newline)
	if from == to && now != "" {
		lines += newline
		if len(regions) > 0 {
			lines += newline
		}
		if body > 0 && text[body-1] != '\n' {
			lines = newline + lines
		}
	}
	out := replacement{body + from, body + to, lines}.in(src)
	text, body = bodyOf(out)
	if ownText(out) != now || len(wholeRegions(text[body:])) != len(regions) {
		return nil, &frontmatter.EditError{Reason: OpenEnd} // a block that the text opens swallows a region
	}
	return out, nil
}

// ownText returns the text of a note, as [OwnText] does.
func ownText(src []byte) string {
	_, body := bodyOf(src)
	return OwnText(src[body:])
}

// textSpan finds the one stretch of text outside the regions, without the empty lines
// around it. Where there is no text it is empty.
func textSpan(body []byte, regions []region) (from, to int, reason string) {
	at, found := 0, false
	for _, r := range append(regions[:len(regions):len(regions)], region{start: len(body), end: len(body)}) {
		part := body[at:r.start]
		if len(bytes.Trim(part, " \t\n")) > 0 {
			if found {
				return 0, 0, SplitText
			}
			found = true
			from, to = at+leadingLines(part), at+len(bytes.TrimRight(part, " \t\n"))
		}
		at = r.end
	}
	return from, to, ""
}

// leadingLines returns where the first line begins that is not empty.
func leadingLines(text []byte) int {
	blank := len(text) - len(bytes.TrimLeft(text, " \t\n"))
	return bytes.LastIndexByte(text[:blank], '\n') + 1
}

package vault

import (
	"bytes"
	"strings"
)

// BodyEdit puts another text in the place of a note's own. Frontmatter and regions
// stay as they are, and so do the empty lines around the text.
type BodyEdit struct {
	Was string // the text that is to go, as [Carried] has it; where there is another one the edit is a [Conflict]
	// Now is in its place, in the form that [Body] gives it. What the note had already stays
	// as it is written there.
	Now string
}

// splice is for notes with a frontmatter, as all have that carry an id.
func (b *BodyEdit) splice(src []byte) ([]byte, error) {
	was := ownText(src)
	now := inertBut(was, Bare(b.Now))
	if was == now {
		return src, nil
	}
	if was != b.Was {
		return nil, &Unspliced{TextChanged}
	}
	text, body := bodyOf(src)
	regions := wholeRegions(text[body:])
	from, to, reason := textSpan(text[body:], regions)
	if reason != "" {
		return nil, &Unspliced{reason}
	}
	newline := newlineOf(src)
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
	out := apply(src, []patch{{body + from, body + to, lines}})
	text, body = bodyOf(out)
	if ownText(out) != now || len(wholeRegions(text[body:])) != len(regions) {
		return nil, &Unspliced{OpenEnd} // a block that the text opens swallows a region
	}
	return out, nil
}

// ownText is the text of a note in the form that [Body] gives, without regions.
func ownText(src []byte) string {
	_, body := bodyOf(src)
	return trimBody(string(withoutRegions(plain(src[body:]))))
}

// textSpan finds the one stretch of text outside the regions, without the empty lines
// around it. Where there is no text it is empty.
func textSpan(body []byte, regions []region) (from, to int, reason Reason) {
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

// leadingLines is where the first line begins that is not empty.
func leadingLines(text []byte) int {
	blank := len(text) - len(bytes.TrimLeft(text, " \t\n"))
	return bytes.LastIndexByte(text[:blank], '\n') + 1
}

package markdown

import (
	"bytes"

	"emberd/vault/lex"
)

// Markup may make a text this much longer, in bytes, and so may blank lines and code
// fences in lines.
const markupShare = 2

// maxExcerpt bounds in bytes what is read for one excerpt.
const maxExcerpt = 64 << 10

// SectionText returns the text of the section that begins at a line, at least most bytes of
// it below so many lines, unless it ends there or is beyond all bounds.
func SectionText(data []byte, line, above, most int) string {
	data = data[skipLines(data, line-1):]
	size := skipLines(data, markupShare*above) + markupShare*most
	src, _ := lex.Normalize(data[:min(len(data), size, maxExcerpt)])
	lex.MaskComments(src)
	o := NewBuilder(new(Outline), src, 0)
	r := &lineReader{Builder: o}
	for at := 0; at < len(src) && len(o.Sections) == 0 && (above > 0 || len(o.text) < most); {
		next := lex.LineAt(src, at)
		r.take(next, at)
		at += len(next)
	}
	r.flush()
	o.Finish()
	if len(o.Sections) == 0 {
		return ""
	}
	return o.Sections[0].Text
}

// skipLines returns the offset behind n lines, which end in LF, CRLF or CR.
func skipLines(data []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(data); n-- {
		end := bytes.IndexAny(data[at:], "\r\n")
		if end < 0 {
			return len(data)
		}
		if at += end + 1; bytes.HasPrefix(data[at-1:], []byte("\r\n")) {
			at++
		}
	}
	return at
}

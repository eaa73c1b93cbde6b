// Package lex reads the bytes of a note up to lines: line ends, code fences, the marks of quotes
// and lists, code spans and comments. Both readers of Markdown, the edits of notes and the
// neutralizer divide a text with it, so that they agree on what is code.
//
// All functions take any bytes, never fail, and take time linear in them. [Normalize] and
// [MaskComments] keep every byte's offset.
package lex

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// ByteOrderMark is U+FEFF in UTF-8.
const ByteOrderMark = "\xef\xbb\xbf"

// Normalize returns a copy of the same length, so that offsets stay true, in
// which lines end in LF and only spaces, tabs and letters are left. bad counts
// the bytes that are not UTF-8.
func Normalize(data []byte) (src []byte, bad int) {
	src = bytes.Clone(data)
	for i := 0; i < len(src); {
		if src[i] < utf8.RuneSelf {
			src[i] = plainByte(src, i)
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			src[i] = '?'
			bad++
		}
		i += n
	}
	return src, bad
}

func plainByte(src []byte, i int) byte {
	switch c := src[i]; {
	case c == '\n' || c == '\t':
		return c
	case c == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
		return '\n'
	case c < ' ' || c == 0x7f:
		return ' '
	default:
		return c
	}
}

// Blank overwrites a span with spaces and keeps its lines.
func Blank(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = ' '
		}
	}
}

// Bare returns a text as notes are read: lines end in LF, control characters are spaces, and there
// are no empty lines at either end.
func Bare(text string) string { return TrimBody(string(Plain([]byte(text)))) }

// Plain returns a text with the line ends and characters that notes are read with.
func Plain(text []byte) []byte {
	out, _ := Normalize(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	return out
}

// TrimBody drops the empty lines at both ends of a text, and the blanks at its end.
func TrimBody(s string) string {
	s = strings.TrimRight(s, " \t\n")
	for {
		line, rest, more := strings.Cut(s, "\n")
		if !more || strings.TrimLeft(line, " \t") != "" {
			return s
		}
		s = rest
	}
}

// LineEnd returns how the first line ends, LF if there is none.
func LineEnd(src []byte) string {
	at := bytes.IndexAny(src, "\r\n")
	switch {
	case at < 0 || src[at] == '\n':
		return "\n"
	case bytes.HasPrefix(src[at:], []byte("\r\n")):
		return "\r\n"
	}
	return "\r"
}

func IsBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// IsBlankLine reports whether a line has nothing but blanks.
func IsBlankLine(line []byte) bool { return len(bytes.Trim(line, " \t\n")) == 0 }

// PlainEnds returns a text whose lines end in LF; all other bytes stay.
func PlainEnds(text []byte) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))
}

// TextStart returns where a note's text begins, behind the byte-order mark.
func TextStart(src []byte) int {
	if bytes.HasPrefix(src, []byte(ByteOrderMark)) {
		return len(ByteOrderMark)
	}
	return 0
}

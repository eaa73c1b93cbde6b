package lex

import "bytes"

// Spans contains, for the offset of a run of backticks, the offset of the next run of the same
// length, which would close it. Searching for each run would be quadratic.
type Spans map[int]int

// CodeSpans returns the code spans of a paragraph.
func CodeSpans(p []byte) Spans {
	if bytes.IndexByte(p, '`') < 0 {
		return nil
	}
	s, last := Spans{}, map[int]int{}
	for end := len(p); end > 0; {
		if p[end-1] != '`' {
			end--
			continue
		}
		start := len(bytes.TrimRight(p[:end], "`"))
		if next, ok := last[end-start]; ok {
			s[start] = next
		}
		last[end-start] = start
		end = start
	}
	return s
}

// Skip returns the end of the code that begins at an offset, or that of its
// backticks if it is not closed.
func (s Spans) Skip(p []byte, at int) int {
	size := Backticks(p[at:])
	if next, ok := s[at]; ok {
		return next + size
	}
	return at + size
}

func Backticks(p []byte) int { return len(p) - len(bytes.TrimLeft(p, "`")) }

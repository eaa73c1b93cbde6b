package lex

import "bytes"

// LineAt returns the line that begins at an offset, with its end.
func LineAt(src []byte, at int) []byte {
	if n := bytes.IndexByte(src[at:], '\n'); n >= 0 {
		return src[at : at+n+1]
	}
	return src[at:]
}

// Containers returns the rest of a line behind the marks of quotes and lists, and how many of
// either there are.
func Containers(line []byte) (rest []byte, quotes, items int) {
	for {
		rest = bytes.TrimLeft(line, " \t")
		switch n := listMark(rest); {
		case len(rest) > 0 && rest[0] == '>':
			quotes++
			line = rest[1:]
		case n > 0:
			items++
			line = rest[n:]
		default:
			return rest, quotes, items
		}
	}
}

// listMark returns the length of "-", "*", "+", "1." or "1)" before a space or the
// end of the line.
func listMark(line []byte) int {
	n := 0
	for n < len(line) && n < 9 && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	switch {
	case n == len(line):
		return 0
	case n == 0 && line[0] != '-' && line[0] != '*' && line[0] != '+':
		return 0
	case n > 0 && line[n] != '.' && line[n] != ')':
		return 0
	}
	if n++; n == len(line) || IsBlank(rune(line[n])) {
		return n
	}
	return 0
}

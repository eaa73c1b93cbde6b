package lex

import "bytes"

// Fence is an open block of code. The zero value is none.
type Fence struct {
	Mark byte
	Size int
}

// Next reads a line without what quotes and lists put before it, and reports whether the line
// belongs to a block of code.
func (f *Fence) Next(line []byte) bool {
	mark, size, info := FenceMark(line)
	switch {
	case f.Size == 0 && size > 0 && (mark == '~' || bytes.IndexByte(info, '`') < 0):
		f.Mark, f.Size = mark, size
		return true
	case f.Size == 0:
		return false
	case size >= f.Size && mark == f.Mark && IsBlankLine(info):
		f.Size = 0
	}
	return true
}

// InCode reads a line of the note itself, neither in a quote nor in a list, and reports whether it
// belongs to a fenced block of code (https://spec.commonmark.org/0.31.2/#fenced-code-blocks).
func (f *Fence) InCode(line []byte) bool {
	if indent := len(line) - len(bytes.TrimLeft(line, " ")); indent > 3 || bytes.HasPrefix(line, []byte("\t")) {
		return f.Size > 0
	}
	return f.Next(line)
}

// FenceMark reads ``` or ~~~ at the start of a line.
func FenceMark(line []byte) (mark byte, size int, info []byte) {
	line = bytes.TrimLeft(line, " \t")
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return 0, 0, nil
	}
	info = bytes.TrimLeft(line, string(line[0]))
	if size = len(line) - len(info); size < 3 {
		return 0, 0, nil
	}
	return line[0], size, info
}

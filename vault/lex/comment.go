package lex

import "bytes"

// MaskComments overwrites Obsidian's %%comments%% with spaces. One that begins a
// line may hold anything up to the next %%; one within a line ends with its
// paragraph. Code is left alone, and so is a comment that is never closed.
func MaskComments(src []byte) {
	m := masker{src: src}
	for m.at < len(src) {
		m.paragraph()
	}
}

type masker struct {
	src  []byte
	at   int
	code Fence
	rest bool // at is within a line, behind a comment
}

// paragraph masks the lines up to the next blank one, a line of code or a comment that begins its
// line.
func (m *masker) paragraph() {
	start := m.at
	for m.at < len(m.src) {
		line := LineAt(m.src, m.at)
		rest, _, _ := Containers(line)
		begins := !m.rest
		m.rest = false
		if begins && bytes.HasPrefix(rest, []byte("%%")) && m.code.Size == 0 {
			m.inline(start, m.at)
			m.block(m.at + len(line) - len(rest))
			return
		}
		m.at += len(line)
		if begins && m.code.Next(rest) || IsBlankLine(rest) {
			m.inline(start, m.at-len(line))
			return
		}
	}
	m.inline(start, m.at)
}

// block masks a comment that begins its line, at an offset.
func (m *masker) block(open int) {
	size := bytes.Index(m.src[open+2:], []byte("%%"))
	if size < 0 {
		m.at = len(m.src) // nothing else can be closed either
		return
	}
	m.at, m.rest = open+size+4, true
	Blank(m.src[open:m.at])
}

// inline masks the comments within a paragraph.
func (m *masker) inline(start, end int) {
	p := m.src[start:end]
	if !bytes.Contains(p, []byte("%%")) {
		return
	}
	closers := CodeSpans(p)
	open := -1
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p) && open < 0:
			i++
		case p[i] == '`' && open < 0:
			i = closers.Skip(p, i) - 1
		case p[i] == '%' && i+1 < len(p) && p[i+1] == '%':
			if open < 0 {
				open = i
			} else {
				Blank(p[open : i+2])
				open = -1
			}
			i++
		}
	}
}

package vault

import "bytes"

// fence is an open block of code, or none.
type fence struct {
	mark byte
	size int
}

// next takes in a line without what quotes and lists put before it, and reports
// whether the line belongs to a block of code.
func (f *fence) next(line []byte) bool {
	mark, size, info := fenceMark(line)
	switch {
	case f.size == 0 && size > 0 && (mark == '~' || bytes.IndexByte(info, '`') < 0):
		f.mark, f.size = mark, size
		return true
	case f.size == 0:
		return false
	case size >= f.size && mark == f.mark && blankLine(info):
		f.size = 0
	}
	return true
}

// fenceMark reads ``` or ~~~ at the start of a line.
func fenceMark(line []byte) (mark byte, size int, info []byte) {
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

// containers returns what is left of a line behind the marks of quotes and lists,
// and how many there are.
func containers(line []byte) (rest []byte, quotes, items int) {
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
	if n++; n == len(line) || isBlank(rune(line[n])) {
		return n
	}
	return 0
}

// maskComments overwrites Obsidian's %%comments%% with spaces. One that begins a
// line may hold anything up to the next %%; one within a line ends with its
// paragraph. Code is left alone, and so is a comment that is never closed.
func maskComments(src []byte) {
	m := masker{src: src}
	for m.at < len(src) {
		m.paragraph()
	}
}

type masker struct {
	src  []byte
	at   int
	code fence
	rest bool // at is within a line, behind a comment
}

// paragraph goes over the lines up to the next blank one, a line of code or a
// comment that begins its line.
func (m *masker) paragraph() {
	start := m.at
	for m.at < len(m.src) {
		line := lineAt(m.src, m.at)
		rest, _, _ := containers(line)
		begins := !m.rest
		m.rest = false
		if begins && bytes.HasPrefix(rest, []byte("%%")) && m.code.size == 0 {
			m.inline(start, m.at)
			m.block(m.at + len(line) - len(rest))
			return
		}
		m.at += len(line)
		if begins && m.code.next(rest) || blankLine(rest) {
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
	blank(m.src[open:m.at])
}

// inline masks the comments within a paragraph.
func (m *masker) inline(start, end int) {
	p := m.src[start:end]
	if !bytes.Contains(p, []byte("%%")) {
		return
	}
	closers := codeSpans(p)
	open := -1
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p) && open < 0:
			i++
		case p[i] == '`' && open < 0:
			i = closers.skip(p, i) - 1
		case p[i] == '%' && i+1 < len(p) && p[i+1] == '%':
			if open < 0 {
				open = i
			} else {
				blank(p[open : i+2])
				open = -1
			}
			i++
		}
	}
}

// lineAt returns the line that begins at an offset, with its end.
func lineAt(src []byte, at int) []byte {
	if n := bytes.IndexByte(src[at:], '\n'); n >= 0 {
		return src[at : at+n+1]
	}
	return src[at:]
}

// spans gives for the offset of a run of backticks that of the next run as long,
// which would close it. Looking for each run would be quadratic.
type spans map[int]int

func codeSpans(p []byte) spans {
	if bytes.IndexByte(p, '`') < 0 {
		return nil
	}
	s, last := spans{}, map[int]int{}
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

// skip returns the end of the code that begins at an offset, or that of its
// backticks if it is not closed.
func (s spans) skip(p []byte, at int) int {
	size := backticks(p[at:])
	if next, ok := s[at]; ok {
		return next + size
	}
	return at + size
}

func backticks(p []byte) int { return len(p) - len(bytes.TrimLeft(p, "`")) }

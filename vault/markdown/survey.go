package markdown

import (
	"bytes"
	"fmt"

	"emberd/vault/lex"
)

// Above these the line reader reads a note. goldmark compares each bracket and each
// emphasis mark of a paragraph with each other, looks from each backtick and "<"
// to the end of the paragraph, and visits each line once for every quote and list
// it is in. All that lies between two blank lines is taken as one paragraph. At
// each limit a note takes about 100 ms.
const (
	maxNesting  = 32          // quotes and lists within each other on a line: the parser is recursive
	maxIndent   = 128         // columns before a list item, as deeper nesting has
	maxVisits   = 50_000      // lines that are not blank, times the quotes and lists they are in
	maxCells    = 20_000      // cells of tables: each row is filled up to the width of the first
	maxBrackets = 6_000_000   // pairs of "[" that share a paragraph
	maxEmphasis = 32_000_000  // pairs of runs of *, _ and ~
	maxTicks    = 200_000_000 // runs of backticks times bytes of their paragraph
	maxAngles   = 20_000_000  // "<" times bytes of their paragraph
	maxTags     = 200_000     // bytes that may belong to HTML tags, for which there is a slow pattern
)

// survey counts, in one pass, what makes the parser slow.
type survey struct {
	nesting, indent int // the most on a line
	visits          int
	cells, columns  int // of all tables; of the table that this paragraph holds
	paragraph       marks
	work            marks // of all paragraphs: pairs, or marks times bytes
}

type marks struct {
	bytes, brackets, emphasis, ticks, angles int
	tags                                     int // bytes in tags
	tag                                      tag // that may be open
}

// tag is a "<" with a letter behind it. It ends with the next "<" or ">" that is not in
// quotes.
type tag struct {
	begun, open bool
	quote       byte
}

func surveyOf(src []byte) survey {
	var s survey
	for line := range bytes.Lines(src) {
		rest, quotes, items := lex.Containers(line)
		s.nesting = max(s.nesting, quotes+items)
		if items > 0 {
			s.indent = max(s.indent, columns(line))
		}
		if lex.IsBlankLine(rest) {
			s.closeParagraph()
			continue
		}
		s.visits += 1 + quotes + items
		s.paragraph.count(rest)
		s.table(rest)
	}
	s.closeParagraph()
	return s
}

func (s *survey) closeParagraph() {
	p := s.paragraph
	s.work.brackets += p.brackets * p.brackets
	s.work.emphasis += p.emphasis * p.emphasis
	s.work.ticks += p.ticks * p.bytes
	s.work.angles += p.angles * p.bytes
	s.work.tags += p.tags
	s.paragraph, s.columns = marks{}, 0
}

// columns returns the width of the blank start of a line.
func columns(line []byte) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

func (m *marks) count(line []byte) {
	m.bytes += len(line)
	var before byte
	for _, c := range line {
		if m.tag.next(c) {
			m.tags++
		}
		switch c {
		case '[':
			m.brackets++
		case '<':
			m.angles++
		case '`':
			if before != c {
				m.ticks++
			}
		case '*', '_', '~':
			if before != c {
				m.emphasis++
			}
		}
		before = c
	}
}

// next reads a byte and reports whether it may be in a tag.
func (t *tag) next(c byte) bool {
	begun := t.begun && ('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '/')
	t.begun = c == '<'
	switch {
	case !t.open:
		t.open = begun
	case t.quote != 0:
		if c == t.quote {
			t.quote = 0
		}
	case c == '"' || c == '\'':
		t.quote = c
	case c == '<' || c == '>':
		t.open = false
	}
	return t.open
}

// table counts the cells that a row will have.
func (s *survey) table(line []byte) {
	if width, ok := delimiterRow(line); ok {
		s.columns = max(s.columns, width)
		s.cells += width // of the header
	}
	s.cells += s.columns
}

// delimiterRow recognizes the line below a table's header and counts its columns.
func delimiterRow(line []byte) (columns int, ok bool) {
	line = bytes.Trim(line, " \t\n")
	if len(line) == 0 || line[0] != '|' && line[0] != ':' && line[0] != '-' || len(bytes.Trim(line, "|:- \t")) > 0 ||
		bytes.IndexByte(line, '-') < 0 || !bytes.ContainsAny(line, "|:") {
		return 0, false
	}
	return bytes.Count(bytes.Trim(line, "|"), []byte("|")) + 1, true
}

// excess returns which limit is exceeded, "" if none is.
func (s *survey) excess() string {
	for _, limit := range []struct {
		have, most int
		what       string
	}{
		{s.nesting, maxNesting, "levels of nested quotes or lists"},
		{s.indent, maxIndent, "columns of indentation before a list item"},
		{s.visits, maxVisits, "lines, counted once for each enclosing quote and list"},
		{s.cells, maxCells, "cells in tables"},
		{s.work.brackets, maxBrackets, "pairs of brackets in the same paragraph"},
		{s.work.emphasis, maxEmphasis, "pairs of emphasis marks in the same paragraph"},
		{s.work.ticks, maxTicks, "bytes to search for closing code marks"},
		{s.work.angles, maxAngles, "bytes to search for closing angle brackets"},
		{s.work.tags, maxTags, "bytes in HTML tags"},
	} {
		if limit.have > limit.most {
			return fmt.Sprintf("%d %s (limit %d)", limit.have, limit.what, limit.most)
		}
	}
	return ""
}

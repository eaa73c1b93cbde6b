package importer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"emberd/memory"
	"emberd/vault/lex"
	"emberd/vault/markdown"
)

// A part is a piece of a note that is too long for one memory.
type part struct {
	path []string // the headings that it stands under; its own too if the piece before cut that section
	text string
	line int // of the text of the note, from 0
}

// maxHeader bounds the line of headings above a part, in characters, and maxPart the part itself, so that both
// together are at most [memory.MaxContent] characters and, at four bytes a character, [memory.MaxContentBytes].
const (
	maxHeader = 500
	maxPart   = memory.MaxContent - 600
)

// splitter splits the text of a note.
type splitter struct {
	lines []string // of the text, with their ends
	out   []part
}

// splitNote splits the text of a note at its headings: where it is too long, at those of the highest level that it
// has, and each section that is too long again. A section without headings is split between paragraphs, else lines,
// else words. The parts together have every line of the text, except a heading with only headings below it, which is in
// the paths of the parts that follow. Lines of sections count from the frontmatter, which has head lines.
func splitNote(text string, sections []markdown.Section, head int) []part {
	s := &splitter{lines: slices.Collect(strings.Lines(text))}
	var all []section
	for _, one := range sections {
		if at := one.Line - head - 1; at >= 0 && at < len(s.lines) {
			all = append(all, section{at, len(s.lines), one.Level, one.Path})
		}
	}
	if len(all) == 0 || all[0].line > 0 {
		all = slices.Insert(all, 0, section{0, len(s.lines), 0, nil})
	}
	for i := range len(all) - 1 {
		all[i].end = all[i+1].line
	}
	s.split(all)
	return s.out
}

// section is a heading and the lines down to the next one.
type section struct {
	line, end int
	level     int
	path      []string
}

// split adds the parts of sections that follow one another.
func (s *splitter) split(all []section) {
	first, text := all[0], s.text(all)
	switch {
	case utf8.RuneCountInString(text) <= maxPart:
		s.add(part{first.above(), text, first.line})
		return
	case len(all) == 1:
		s.cut(first, text)
		return
	}
	top := slices.MinFunc(all[1:], func(a, b section) int { return a.level - b.level }).level
	begin := 0
	for i := 1; i <= len(all); i++ {
		if i == len(all) || all[i].level == top {
			if i > 1 || first.level >= top || !s.bare(first) {
				s.split(all[begin:i])
			}
			begin = i
		}
	}
}

func (s *splitter) text(all []section) string {
	return strings.Join(s.lines[all[0].line:all[len(all)-1].end], "")
}

// above returns the headings above a section.
func (s section) above() []string {
	if s.level == 0 {
		return s.path
	}
	return s.path[:len(s.path)-1]
}

// bare reports whether a section is a heading with nothing below it, which is in the paths of those that follow.
func (s *splitter) bare(one section) bool {
	return one.level > 0 && !strings.Contains(strings.TrimSpace(s.text([]section{one})), "\n")
}

// add adds a part, unless it is empty.
func (s *splitter) add(p part) {
	if strings.TrimSpace(p.text) != "" {
		s.out = append(s.out, p)
	}
}

// cut adds the parts of a section that is too long.
func (s *splitter) cut(of section, text string) {
	path, line := of.above(), of.line
	for text != "" {
		size := cutAt(text)
		s.add(part{path, text[:size], line})
		path, line, text = of.path, line+strings.Count(text[:size], "\n"), text[size:]
	}
}

// cutAt returns how many bytes of a text make a part: all, or up to the last end of a paragraph, line or word in the
// second half of what a part can have.
func cutAt(text string) int {
	end, n := 0, 0
	for end = range text {
		if n++; n > maxPart {
			break
		}
	}
	if n <= maxPart {
		return len(text)
	}
	for _, between := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(text[:end], between); at > end/2 {
			return at + len(between)
		}
	}
	return end
}

// header returns the line above a part: the title of the note and the headings that the part stands under.
func (p *part) header(title string) string {
	names := p.path
	first, _, _ := strings.Cut(strings.TrimSpace(p.text), "\n")
	if name, _ := headingOf(first); len(names) == 0 && strings.EqualFold(name, title) {
		return ""
	}
	if len(names) == 0 || !strings.EqualFold(names[0], title) {
		names = append([]string{title}, names...)
	}
	return clip(strings.Join(names, " > "), maxHeader)
}

func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// content returns the text of the memory of a part.
func (p *part) content(title string) string {
	return strings.TrimSpace(p.header(title) + "\n\n" + lex.Bare(p.text))
}

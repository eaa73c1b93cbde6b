package importer

import (
	"cmp"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/memory"
)

// A block is a piece of a text that can be a memory: an item of a list, or a paragraph.
type block struct {
	heading string // the one above, "" for none
	text    string
	line    int // of its beginning
}

var (
	atxHeading  = text.Pattern(`^#{1,6}\s+(.*?)\s*#*$`)
	boldHeading = text.Pattern(`^(?:\*\*|__)([^*_]{1,200}?):?(?:\*\*|__):?$`)
	listItem    = text.Pattern(`^\s{0,3}(?:[-*+•]|\d{1,4}[.)])\s+(.*)$`)
	ruler       = text.Pattern(`^\s*(?:-\s*){3,}$|^\s*(?:\*\s*){3,}$|^\s*(?:_\s*){3,}$`)
	fence       = text.Pattern("^\\s{0,3}(?:```|~~~)")
)

// readText reads a whole text, without a byte-order mark and with plain line ends.
func readText(r io.Reader) (string, error) {
	raw, err := io.ReadAll(withoutMark(newBounded(r)))
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(raw)), nil
}

// blocks splits a text into blocks: with byLine every plain line is one, else every paragraph.
// It skips closed comments, rulers and the marks of code blocks. It also returns all headings,
// including those with nothing below them.
func blocks(text string, byLine bool) (all []block, headings []string) {
	p := &prose{byLine: byLine}
	if at := strings.LastIndex(text, "-->"); at >= 0 {
		p.lastEnd = 1 + strings.Count(text[:at], "\n")
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		p.line(strings.TrimRight(line, " \t\n"), number)
	}
	p.end()
	return p.out, p.headings
}

// prose is a text that is being taken apart.
type prose struct {
	byLine   bool
	out      []block
	open     block
	lines    []string
	item     bool // what is open is an item of a list
	gap      bool // an empty line came after it
	comment  bool
	lastEnd  int // line of the last end of a comment, 0 if none ends
	headings []string
}

func (p *prose) line(line string, number int) {
	line, hidden := p.uncommented(line, number)
	if hidden || ruler().MatchString(line) || fence().MatchString(line) {
		return
	}
	if line == "" {
		p.gap = true
		if !p.item {
			p.end()
		}
		return
	}
	if name, ok := headingOf(line); ok {
		p.end()
		p.headings = append(p.headings, name)
		return
	}
	if m := listItem().FindStringSubmatch(line); m != nil {
		p.begin(m[1], number, true)
		return
	}
	indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
	switch {
	case p.item && (indented || !p.gap && !p.byLine):
		p.more(line)
	case p.item || p.byLine || len(p.lines) == 0 || dated().MatchString(line):
		p.begin(line, number, false)
	default:
		p.more(line)
	}
}

// uncommented returns a line without the comments that it begins with or lies in; it is hidden if
// nothing else is in it. A comment without an end is none, and its text is not lost.
func (p *prose) uncommented(line string, number int) (rest string, hidden bool) {
	for {
		if !p.comment {
			inner, begins := strings.CutPrefix(strings.TrimSpace(line), "<!--")
			if !begins || number > p.lastEnd || number == p.lastEnd && !strings.Contains(inner, "-->") {
				return line, hidden && line == ""
			}
			p.comment, line = true, inner
		}
		hidden = true
		_, after, ended := strings.Cut(line, "-->")
		if !ended {
			return "", true
		}
		p.comment, line = false, strings.TrimSpace(after)
	}
}

func headingOf(line string) (string, bool) {
	if m := atxHeading().FindStringSubmatch(line); m != nil {
		return m[1], true
	}
	if m := boldHeading().FindStringSubmatch(line); m != nil {
		return strings.TrimSpace(m[1]), true
	}
	return "", false
}

func (p *prose) begin(text string, number int, item bool) {
	p.end()
	p.open, p.item = block{line: number}, item
	if n := len(p.headings); n > 0 {
		p.open.heading = p.headings[n-1]
	}
	p.lines = append(p.lines, strings.TrimSpace(text))
}

// more adds a line to what is open, less the indent that belongs to the list.
func (p *prose) more(line string) {
	if p.gap {
		p.lines = append(p.lines, "")
	}
	if p.item {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "\t"), "  ")
	}
	p.lines, p.gap = append(p.lines, line), false
}

func (p *prose) end() {
	p.open.text = strings.TrimSpace(strings.Join(p.lines, "\n"))
	if p.open.text != "" {
		p.out = append(p.out, p.open)
	}
	p.open, p.lines, p.item, p.gap = block{}, nil, false, false
}

// dated is a text after a date in brackets, as lists of memories have it that an assistant
// was asked for, and the date. Without a dash or colon between them only a date in full tells
// it from a footnote or a task.
var dated = text.Pattern(`(?s)^\[(?:([^\]\n]{1,40})\]\s*[-–—:]|(\d{4}-\d\d-\d\d[^\]\n]{0,30})\][ \t])\s*(.+)$`)

// undated matches the words for an unknown date.
var undated = text.Pattern(`(?i)^(?:unknown|no date|undated|date unknown|unknown date|date not available|not available|n/a)$`)

// saved takes a date off the beginning of a text. Of one that is none nothing is taken.
func saved(text string, now time.Time) (string, time.Time) {
	m := dated().FindStringSubmatch(text)
	if m == nil {
		return text, time.Time{}
	}
	when, rest := cmp.Or(m[1], m[2]), m[3]
	if t, ok := moment(when, now); ok {
		return rest, t
	}
	if undated().MatchString(when) {
		return rest, time.Time{}
	}
	return text, time.Time{}
}

// memoryOf returns the memory of a block. It returns false, and reports why, if there is none.
func (h *builder) memoryOf(b block, file string) (memory.Memory, bool) {
	h.Met++
	m := h.blank()
	if !utf8.ValidString(b.text) {
		h.fail(Place{File: file, Line: b.line},
			memory.Errorf(memory.Invalid, "this text is not valid UTF-8; convert the file to UTF-8"))
		return m, false
	}
	m.Content, m.CreatedAt = saved(b.text, h.o.Now)
	if memory.CheckText("category", b.heading, memory.MaxName) == nil {
		m.Category = b.heading
	} else {
		h.note(Place{File: file, Line: b.line}, "ignored the heading above, because it is too long or not UTF-8")
	}
	return m, true
}

package chunk

import (
	"emberd/internal/text"
	"slices"
	"strings"
)

// kind is what a block is cut between when it is too long.
type kind int

const (
	prose kind = iota // sentences
	lines             // lines: of code, rows of a table
	items             // items of a list
)

// block is a paragraph, list, table or block of code.
type block struct {
	kind   kind
	text   string // plain, with a line for each line of the note
	line   int
	tokens int
	starts []int // lines of the text at which the items of a list begin
}

var (
	quoteMark = text.Pattern(`^ {0,3}(?:> ?)+`)
	fenceMark = text.Pattern("^[ \t]*(`{3,}|~{3,})")
	itemMark  = text.Pattern(`^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)`)
	tableRule = text.Pattern(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$`)
	underline = text.Pattern(`^ {0,3}(?:=+|-+)[ \t]*$`)
)

// reader takes the lines of a section in.
type reader struct {
	rest    []string // lines that were not taken in
	out     []block
	open    block
	text    []string        // of the open block, a line for each line of the note
	indent  int             // of the open list
	gap     bool            // an empty line came last, in a list
	fence   string          // what ends the open block of code
	comment string          // what ends the open comment
	endless map[string]bool // ends of comments that do not come any more
}

// blocksOf reads a section without its heading.
func blocksOf(s Section) []block {
	r := reader{rest: strings.Split(strings.ReplaceAll(s.Markdown, "\r\n", "\n"), "\n"), endless: make(map[string]bool)}
	line := s.Line
	if len(s.Path) > 0 {
		skip := headingLines(r.rest)
		r.rest, line = r.rest[skip:], line+skip
	}
	for ; len(r.rest) > 0; line++ {
		next := r.rest[0]
		r.rest = r.rest[1:]
		r.take(next, line)
	}
	r.close()
	return r.out
}

// headingLines is how many of the lines are the heading, which is the first.
func headingLines(all []string) int {
	if strings.HasPrefix(strings.TrimLeft(all[0], " "), "#") {
		return 1
	}
	for i, line := range all {
		switch {
		case i > 0 && underline().MatchString(line):
			return i + 1
		case strings.TrimSpace(line) == "":
			return 0
		}
	}
	return 0
}

// take takes one line in.
func (r *reader) take(line string, at int) {
	line = quoteMark().ReplaceAllString(line, "")
	if r.inCode(line) {
		return
	}
	line = r.uncommented(line)
	if mark := fenceMark().FindStringSubmatch(line); mark != nil {
		r.begin(lines, at+1)
		r.fence = mark[1]
		return
	}
	indent, item := len(line)-len(strings.TrimLeft(line, " \t")), itemMark().MatchString(line)
	switch {
	case strings.TrimSpace(line) == "":
		r.blank()
		return
	case r.goesOn(line, indent, item):
	case r.open.kind == prose && len(r.text) == 1 && strings.Contains(r.text[0], "|") && tableRule().MatchString(line):
		r.open.kind, line = lines, ""
	case item:
		r.begin(items, at)
		r.indent = indent
	case len(r.text) == 0 || r.open.kind != prose:
		r.begin(prose, at)
	}
	if item && indent <= r.indent && r.open.kind == items {
		r.open.starts = append(r.open.starts, len(r.text))
	}
	r.gap = false
	r.text = append(r.text, plain(line))
}

// inCode takes a line in that is one of code.
func (r *reader) inCode(line string) bool {
	if r.fence == "" {
		return false
	}
	mark := fenceMark().FindStringSubmatch(line)
	if mark != nil && strings.HasPrefix(mark[1], r.fence) && strings.TrimSpace(line) == mark[1] {
		r.close()
		return true
	}
	r.text = append(r.text, line)
	return true
}

// goesOn reports whether a line belongs to the open list or table.
func (r *reader) goesOn(line string, indent int, item bool) bool {
	switch {
	case len(r.text) == 0:
		return false
	case r.open.kind == items:
		return item || !r.gap || indent > r.indent
	}
	return r.open.kind == lines && strings.Contains(line, "|")
}

// blank ends a block but a list, which may go on below.
func (r *reader) blank() {
	if r.open.kind != items {
		r.close()
		return
	}
	r.gap = true
	r.text = append(r.text, "")
}

// uncommented takes comments out of a line. One that nothing ends is none.
func (r *reader) uncommented(line string) string {
	var out strings.Builder
	for {
		if r.comment != "" {
			_, after, ends := strings.Cut(line, r.comment)
			if !ends {
				return out.String()
			}
			r.comment, line = "", after
		}
		at, mark, end := commentIn(line)
		if at < 0 {
			return out.String() + line
		}
		out.WriteString(line[:at])
		line = line[at+len(mark):]
		if r.comment = end; r.endless[end] || !strings.Contains(line, end) && !r.ends(end) {
			r.comment = ""
			out.WriteString(mark)
		}
	}
}

// commentIn finds the first comment that a line begins, at -1 for none.
func commentIn(line string) (at int, mark, end string) {
	for ; ; at++ {
		next := strings.IndexAny(line[at:], "%<")
		if next < 0 {
			return -1, "", ""
		}
		at += next
		switch {
		case strings.HasPrefix(line[at:], "%%"):
			return at, "%%", "%%"
		case strings.HasPrefix(line[at:], "<!--"):
			return at, "<!--", "-->"
		}
	}
}

// ends reports whether a mark is in what follows.
func (r *reader) ends(mark string) bool {
	if slices.ContainsFunc(r.rest, func(line string) bool { return strings.Contains(line, mark) }) {
		return true
	}
	r.endless[mark] = true
	return false
}

// begin opens a block in place of the one that is open.
func (r *reader) begin(k kind, at int) {
	r.close()
	r.open = block{kind: k, line: at}
}

// close ends the open block.
func (r *reader) close() {
	r.open.text = strings.TrimRight(strings.Join(r.text, "\n"), " \t\n")
	last := strings.Count(r.open.text, "\n")
	for n := len(r.open.starts); n > 0 && r.open.starts[n-1] > last; n-- { // an empty item at the end
		r.open.starts = r.open.starts[:n-1]
	}
	if strings.TrimSpace(r.open.text) != "" {
		r.out = append(r.out, r.open)
	}
	r.text, r.open, r.fence, r.gap, r.indent = nil, block{}, "", false, 0
}

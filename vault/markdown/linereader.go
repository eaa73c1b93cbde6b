package markdown

import (
	"bytes"
	"strings"

	"emberd/vault/lex"
)

// lineReader reads Markdown line by line, in time linear in the text whatever it
// holds. It knows less of the layout than the parser but finds the same
// headings, links, tags and block ids in ordinary notes.
type lineReader struct {
	*Builder
	para      []byte // the lines of the open paragraph, without the marks of quotes and lists
	starts    []int  // where each of them is in the source
	top       bool   // the paragraph is in no quote or list
	list      bool   // the last block that began at the margin is a list
	code      lex.Fence
	codeDepth int    // quotes around the open code
	codeList  bool   // the open code is in a list item
	raw       string // what ends the open block of HTML or math; "\n" is a blank line
}

// ReadLines fills the outline like [engine.read], without the parser.
func ReadLines(o *Builder) {
	r := &lineReader{Builder: o}
	for at := 0; at < len(o.src); {
		line := lex.LineAt(o.src, at)
		r.take(line, at)
		at += len(line)
	}
	r.flush()
}

// take reads one line.
func (r *lineReader) take(line []byte, at int) {
	rest, quotes, items := lex.Containers(line)
	indent := columns(line)
	switch {
	case r.inCode(line, quotes, indent, at), r.inRaw(rest, at):
		return
	case lex.IsBlankLine(rest):
		r.flush()
		return
	}
	if quotes+items > 0 || r.top && len(r.para) > 0 && indent < 4 {
		r.list = items > 0
	} else if indent == 0 && len(r.para) == 0 {
		r.list = false
	}
	margin := quotes+items == 0
	start := at + len(line) - len(rest)
	switch {
	case margin && indent >= 4 && len(r.para) == 0 && !r.list:
		r.write(string(rest), at)
	case r.opensCode(rest, quotes, items, indent, start), r.opensRaw(rest, start):
	case r.headingLine(rest, margin && indent < 4, start):
	case thematicBreak(rest):
		r.flush()
	default:
		r.gather(rest, quotes, items, start)
	}
}

// inCode reads a line of the open block of code. The block also ends with the quote or list item
// that contains it.
func (r *lineReader) inCode(line []byte, quotes, indent, at int) bool {
	if r.code.Size == 0 {
		return false
	}
	if quotes < r.codeDepth || r.codeList && indent == 0 && r.codeDepth == 0 && !lex.IsBlankLine(line) {
		r.code.Size = 0
		return false
	}
	inner := line
	for range r.codeDepth {
		_, inner, _ = bytes.Cut(inner, []byte(">"))
	}
	r.code.Next(inner)
	if r.code.Size > 0 {
		r.write(string(inner), at)
	}
	return true
}

func (r *lineReader) opensCode(rest []byte, quotes, items, indent, at int) bool {
	if !r.code.Next(rest) {
		return false
	}
	r.flush()
	r.codeDepth, r.codeList = quotes, items > 0 || r.list && indent > 0
	return true
}

// opensRaw begins a block of HTML or math.
func (r *lineReader) opensRaw(rest []byte, at int) bool {
	end := ""
	if opensMath(rest) {
		end = "$$"
	} else if end = htmlBlock(rest, len(r.para) > 0); end == "" {
		return false
	}
	r.flush()
	r.raw = end
	r.rawLine(rest, at, min(len(rest), 2))
	return true
}

// inRaw reads a line of the open block of HTML or math.
func (r *lineReader) inRaw(rest []byte, at int) bool {
	if r.raw == "" {
		return false
	}
	r.rawLine(rest, at, 0)
	return true
}

// rawLine writes a line of HTML or math; what ends the block is looked for from an
// offset.
func (r *lineReader) rawLine(rest []byte, at, from int) {
	ends := bytes.Contains(bytes.ToLower(rest[from:]), []byte(r.raw))
	if r.raw == "\n" {
		ends = lex.IsBlankLine(rest)
	}
	if r.raw == "$$" {
		r.write(string(rest), at)
	} else {
		r.write(stripTags(rest)+"\n", at)
	}
	if ends {
		r.raw = ""
	}
}

// headingLine reads "# heading", and the underline of a heading.
func (r *lineReader) headingLine(rest []byte, margin bool, at int) bool {
	if level, title := atxHeading(rest); level > 0 {
		r.flush()
		r.para, r.starts = append(r.para, title...), append(r.starts, at)
		text := r.spoken(margin)
		if margin {
			r.heading(level, text, at)
		} else {
			r.write(text+"\n", at)
		}
		return true
	}
	level := underline(rest)
	if level == 0 || !margin || !r.top || len(r.para) == 0 {
		return false
	}
	at = r.starts[0]
	r.heading(level, r.spoken(true), at)
	return true
}

func atxHeading(line []byte) (level int, title []byte) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(line) && !lex.IsBlank(rune(line[level])) {
		return 0, nil
	}
	title = bytes.Trim(line[level:], " \t\n")
	if open := bytes.TrimRight(title, "#"); len(open) == 0 || lex.IsBlank(rune(open[len(open)-1])) {
		title = bytes.TrimRight(open, " \t")
	}
	return level, title
}

// underline returns the level of a heading that a line of = or - makes of the
// paragraph above.
func underline(line []byte) int {
	line = bytes.TrimRight(line, " \t\n")
	switch {
	case len(line) == 0:
		return 0
	case len(bytes.Trim(line, "=")) == 0:
		return 1
	case len(bytes.Trim(line, "-")) == 0:
		return 2
	}
	return 0
}

func thematicBreak(line []byte) bool {
	if strings.IndexByte("*-_", line[0]) < 0 {
		return false
	}
	return len(bytes.Trim(line, string(line[0])+" \t\n")) == 0 && bytes.Count(line, line[:1]) >= 3
}

// gather adds a line to the paragraph, or begins a paragraph.
func (r *lineReader) gather(rest []byte, quotes, items, at int) {
	if _, table := delimiterRow(rest); table && bytes.IndexByte(rest, '|') >= 0 {
		return
	}
	if items > 0 || len(r.para) == 0 || r.top && quotes > 0 {
		r.flush()
		r.top = quotes+items == 0 && !r.list
		n := calloutMark(rest)
		if n == 0 {
			n = taskMark(rest)
		}
		if quotes+items > 0 {
			rest = rest[n:]
		}
	}
	r.para = append(r.para, rest...)
	r.starts = append(r.starts, at)
}

// flush ends the paragraph.
func (r *lineReader) flush() {
	if len(r.para) == 0 {
		return
	}
	at := r.starts[0]
	text := r.spoken(false)
	r.write(text+"\n", at)
	r.fields(text, at)
}

// htmlBlock returns what ends the block of HTML that begins with the line, "" if
// none does. See "HTML blocks" of the CommonMark specification.
func htmlBlock(line []byte, interrupts bool) string {
	if len(line) < 2 || line[0] != '<' {
		return ""
	}
	for _, b := range [][2]string{{"<!--", "-->"}, {"<![cdata[", "]]>"}, {"<?", "?>"}, {"<!", ">"}} {
		if bytes.HasPrefix(bytes.ToLower(line[:min(len(line), 9)]), []byte(b[0])) {
			return b[1]
		}
	}
	name := bytes.TrimPrefix(line[1:], []byte("/"))
	end := 0
	for end < len(name) &&
		('0' <= name[end] && name[end] <= '9' || name[end] == '-' || 'a' <= name[end]|0x20 && name[end]|0x20 <= 'z') {
		end++
	}
	tag := strings.ToLower(string(name[:end]))
	switch {
	case end == 0 || end < len(name) && !bytes.ContainsRune([]byte(" \t\n/>"), rune(name[end])):
		return ""
	case strings.Contains(" script pre style textarea ", " "+tag+" "):
		return "</" + tag + ">"
	case strings.Contains(htmlBlocks, " "+tag+" "), !interrupts && loneTag(line):
		return "\n"
	}
	return ""
}

// loneTag reports whether a line is one tag and nothing else.
func loneTag(line []byte) bool {
	line = bytes.TrimRight(line, " \t\n")
	return bytes.IndexByte(line, '>') == len(line)-1 && bytes.LastIndexByte(line, '<') == 0
}

// htmlBlocks are the elements that begin a block of HTML anywhere.
const htmlBlocks = ` address article aside base basefont blockquote body caption center col colgroup dd details ` +
	`dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr ` +
	`html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary ` +
	`table tbody td tfoot th thead title tr track ul `

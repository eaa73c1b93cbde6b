package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/vault/lex"
)

// maxDestination bounds the destination of a Markdown link, in bytes, for the line
// reader: looking for its end from each link must stay cheap.
const maxDestination = 1024

// lineText reads the text of one paragraph for the line reader.
type lineText struct {
	*lineReader
	p       []byte
	at      int // in p
	row     int // line of the paragraph
	plain   bool
	code    lex.Spans
	open    []opened // "[" and "![" that may begin a Markdown link
	shown   []byte
	comment bool // an HTML comment may still be closed
}

type opened struct {
	shown int // length of the text before it
	image bool
}

// spoken returns the text of the paragraph, takes in the markup in it, and forgets
// it. It is [walker.spoken] for the line reader.
func (r *lineReader) spoken(plain bool) string {
	t := lineText{lineReader: r, p: r.para, plain: plain, code: lex.CodeSpans(r.para), comment: true}
	for t.at < len(t.p) {
		if n := t.step(); n > 0 {
			t.row += bytes.Count(t.p[t.at:t.at+n], []byte("\n"))
			t.at += n
			continue
		}
		if t.p[t.at] == '\n' {
			t.row++
		}
		t.shown = append(t.shown, t.p[t.at])
		t.at++
	}
	r.para, r.starts = r.para[:0], r.starts[:0]
	return entities(t.shown)
}

// source returns the offset of the line that is being read.
func (t *lineText) source() int { return t.starts[min(t.row, len(t.starts)-1)] }

// before returns the letter in front.
func (t *lineText) before() rune {
	if t.at == 0 {
		return '\n'
	}
	r, _ := utf8.DecodeLastRune(t.p[:t.at])
	return r
}

// step reads what is not plain text and returns its length, or 0.
func (t *lineText) step() int {
	switch c := t.p[t.at]; c {
	case '\\':
		return t.escape()
	case '`':
		end := t.code.Skip(t.p, t.at)
		if _, closed := t.code[t.at]; closed {
			size := lex.Backticks(t.p[t.at:])
			t.shown = append(t.shown, t.p[t.at+size:end-size]...)
		} else {
			t.shown = append(t.shown, t.p[t.at:end]...)
		}
		return end - t.at
	case '[', '!', '#', '^', '$':
		return t.mark(c)
	case ']':
		return t.close()
	case '<':
		return t.angle()
	case '*', '_':
		return t.emphasis(c)
	case '~':
		if bytes.HasPrefix(t.p[t.at:], []byte("~~")) {
			return 2
		}
	}
	return 0
}

func (t *lineText) escape() int {
	if t.at+1 == len(t.p) || !isPunctuation(t.p[t.at+1]) {
		return 0
	}
	t.shown = append(t.shown, t.p[t.at+1])
	return 2
}

func isPunctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// mark reads Obsidian's markup, and the beginning of a Markdown link.
func (t *lineText) mark(c byte) int {
	if m, n := scanMarkup(t.before(), t.p[t.at:]); n > 0 {
		t.add(m, t.source())
		if t.plain {
			t.shown = append(t.shown, m.plain...)
		} else {
			t.shown = append(t.shown, m.text...)
		}
		return n
	}
	image := bytes.HasPrefix(t.p[t.at:], []byte("!["))
	if c != '[' && !image {
		return 0
	}
	t.open = append(t.open, opened{shown: len(t.shown), image: image})
	if image {
		t.shown = append(t.shown, '!')
		t.shown = append(t.shown, '[')
		return 2
	}
	return 0
}

// close reads "](destination)" and replaces the text since its "[". A link holds
// no links and at most one picture, so that no text is moved more than twice.
func (t *lineText) close() int {
	if len(t.open) == 0 {
		return 0
	}
	depth := len(t.open)
	from := t.open[depth-1]
	t.open = t.open[:depth-1]
	destination, n := scanDestination(t.p[t.at+1:])
	if n == 0 {
		return 0
	}
	mark := 1
	if from.image {
		mark = 2
	}
	if t.open = t.open[:0]; from.image && depth > 1 {
		t.open = append(t.open, t.open[:depth-1][depth-2])
	}
	text := string(t.shown[from.shown+mark:])
	t.shown = t.shown[:from.shown]
	if l, ok := markdownLink(destination, text, from.image); ok {
		t.add(markup{link: &l}, t.source())
		if named, _ := l.display(); !t.plain {
			text = named
		}
	}
	t.shown = append(t.shown, text...)
	return n + 1
}

// scanDestination reads "(destination)" or "(destination "title")".
func scanDestination(p []byte) (destination string, n int) {
	p = p[:min(len(p), maxDestination)]
	p, _, _ = bytes.Cut(p, []byte("\n"))
	if len(p) < 2 || p[0] != '(' {
		return "", 0
	}
	depth, blank := 0, -1
	if p[1] == '<' {
		end := bytes.IndexByte(p, '>')
		if end < 0 || end+1 == len(p) || p[end+1] != ')' {
			return "", 0
		}
		return string(p[2:end]), end + 2
	}
	for i := 1; i < len(p); i++ {
		switch {
		case p[i] == '\\':
			i++
		case p[i] == '(':
			depth++
		case p[i] == ')' && depth == 0:
			if blank < 0 {
				blank = i
			}
			return strings.TrimSpace(string(p[1:blank])), i + 1
		case p[i] == ')':
			depth--
		case lex.IsBlank(rune(p[i])) && blank < 0 && i > 1:
			if blank = i; i+1 < len(p) && !strings.ContainsRune("\"'( )", rune(p[i+1])) {
				return "", 0
			}
		}
	}
	return "", 0
}

// emphasis leaves out marks that stand beside a word, as opposed to a product of two
// numbers or the parts of a snake_case name.
func (t *lineText) emphasis(c byte) int {
	after, _ := utf8.DecodeRune(t.p[t.at+1:])
	if t.at+1 == len(t.p) {
		after = '\n'
	}
	before := t.before()
	if lex.IsBlank(before) && lex.IsBlank(after) || c == '_' && wordRune(before) && wordRune(after) {
		return 0
	}
	return 1
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// angle reads an autolink, a tag of HTML or a comment.
func (t *lineText) angle() int {
	p := t.p[t.at:]
	if bytes.HasPrefix(p, []byte("<!--")) && t.comment {
		if end := bytes.Index(p, []byte("-->")); end >= 0 {
			return end + 3
		}
		t.comment = false
	}
	end := bytes.IndexAny(p[1:], "<>\n") + 1
	if end < 2 || p[end] != '>' {
		return 0
	}
	inner := string(p[1:end])
	switch {
	case strings.Contains(inner, ":") && !strings.ContainsAny(inner, " \""), strings.Contains(inner, "@") &&
		!strings.Contains(inner, " "):
		t.shown = append(t.shown, inner...)
	case strings.HasPrefix(inner, "br"):
		t.shown = append(t.shown, ' ')
	case inner[0] != '/' && (inner[0]|0x20 < 'a' || inner[0]|0x20 > 'z'):
		return 0
	}
	return end + 1
}

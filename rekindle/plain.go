package rekindle

import (
	"html"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
)

// A kind is what a block is to its reader.
type kind uint8

const (
	prose kind = iota
	heading
	code
)

// A block is a paragraph, list item, heading, row of a table or line of code, in
// one line and without markup.
type block struct {
	text string
	kind kind
}

// The markup of lines: Markdown's, and Obsidian's where it differs.
var (
	frontmatter = text.Pattern(`(?s)\A\x{feff}?---[ \t]*\r?\n.*?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\z)`)
	comment     = text.Pattern(`(?s)<!--.*?-->|%%.*?%%`)
	fence       = text.Pattern("^\\s*(?:>\\s*)*(```+|~~~+)")
	quoteMark   = text.Pattern(`^\s*(?:>\s?)+`)
	callout     = text.Pattern(`^\[![\pL\pN_ -]+\][+-]?\s*`)
	headingMark = text.Pattern(`^\s{0,3}#{1,6}(?:\s+|$)`)
	headingEnd  = text.Pattern(`\s+#+\s*$`)
	itemMark    = text.Pattern(`^\s*(?:[-*+•]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?`)
	rule        = text.Pattern(`^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+|-{2,})\s*$`)
	tableRule   = text.Pattern(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$`)
)

// blocks takes a text apart into its blocks.
func blocks(content string) []block {
	r := reader{}
	if body := frontmatter().ReplaceAllString(content, ""); strings.TrimSpace(body) != "" {
		content = body
	}
	if strings.Contains(content, "<!--") || strings.Contains(content, "%%") {
		content = comment().ReplaceAllString(content, " ")
	}
	for line := range strings.Lines(content) {
		r.line(strings.TrimRight(line, "\r\n"))
	}
	r.flush()
	return r.blocks
}

// A reader collects blocks line by line.
type reader struct {
	blocks []block
	open   string // the paragraph or item so far
	fence  string // what the code block began with, "" outside of one
}

func (r *reader) line(line string) {
	if !marked(line) {
		r.plain(line)
		return
	}
	if m := fence().FindStringSubmatch(line); m != nil && (r.fence == "" || strings.HasPrefix(m[1], r.fence)) {
		r.flush()
		if r.fence == "" {
			r.fence = m[1]
		} else {
			r.fence = ""
		}
		return
	}
	if r.fence != "" {
		r.add(code, clean(line))
		return
	}
	line = quoteMark().ReplaceAllString(line, "")
	line = callout().ReplaceAllString(line, "")
	switch {
	case strings.TrimSpace(line) == "", tableRule().MatchString(line), rule().MatchString(line):
		r.flush()
	case headingMark().MatchString(line):
		r.flush()
		r.add(heading, inline(headingEnd().ReplaceAllString(headingMark().ReplaceAllString(line, ""), "")))
	case strings.HasPrefix(strings.TrimSpace(line), "|"):
		r.flush()
		r.add(prose, cells(line))
	case itemMark().MatchString(line):
		r.flush()
		r.open = itemMark().ReplaceAllString(line, "")
	default:
		r.join(strings.TrimSpace(line))
	}
}

// marked reports lines that begin as markup of lines does. Most begin with a letter,
// and need not be tried with one expression after the other.
func marked(line string) bool {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	return line != "" && (strings.IndexByte("`~>[|:-*+_=#0123456789", line[0]) >= 0 || strings.HasPrefix(line, "•"))
}

// plain takes a line without markup.
func (r *reader) plain(line string) {
	switch {
	case r.fence != "":
		r.add(code, clean(line))
	case strings.TrimSpace(line) == "":
		r.flush()
	default:
		r.join(strings.TrimSpace(line))
	}
}

// shortLine is the length in bytes below which a line that ends without a mark was
// ended on purpose, and not wrapped.
const shortLine = 50

// join continues the open paragraph with a line, or begins another with it.
func (r *reader) join(line string) {
	switch {
	case r.open == "":
		r.open = line
	case len(r.open) < shortLine && !unicode.IsLower(firstRune(line)) || text.EndsSentence(r.open):
		r.flush()
		r.open = line
	case text.IsWide(lastRune(r.open)) && text.IsWide(firstRune(line)):
		r.open += line
	default:
		r.open += " " + line
	}
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// flush ends the open paragraph.
func (r *reader) flush() {
	r.add(prose, inline(r.open))
	r.open = ""
}

func (r *reader) add(k kind, text string) {
	if text != "" {
		r.blocks = append(r.blocks, block{text, k})
	}
}

// cells makes a line of a row of a table.
func cells(row string) string {
	var out []string
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(row), "|"), "|") {
		if cell = inline(cell); cell != "" {
			out = append(out, cell)
		}
	}
	return strings.Join(out, ", ")
}

// A span is markup within lines, with the sign that it is not without and what stays of it.
type span struct {
	sign   string
	markup *regexp.Regexp
	stays  string
}

// Compiled when first needed: most commands need none of them, and start sooner without.
var spans = sync.OnceValue(func() []span {
	return []span{
		{"[[", regexp.MustCompile(`!?\[\[[^\]|\n]*\|([^\]\n]*)\]\]`), "$1"}, // [[note|shown]]
		{"[[", regexp.MustCompile(`!?\[\[([^\]|#^\n]*)[^\]\n]*\]\]`), "$1"},
		{"](", regexp.MustCompile(`!?\[([^\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)`), "$1"},
		{"[^", regexp.MustCompile(`\[\^[^\]\n]+\]:?`), ""},
		{"][", regexp.MustCompile(`\[([^\]\n]+)\]\[[^\]\n]*\]`), "$1"},
		{"<", regexp.MustCompile(`<((?:https?|mailto):[^>\s]+)>`), "$1"},
		{"<", regexp.MustCompile(`(?i)</?(?:p|br|hr|div|li|ul|ol|t[rdh]|table|thead|tbody|h[1-6]|blockquote|pre|details|summary|section|article)(?:\s[^<>]*)?/?>`), " "},
		{"<", regexp.MustCompile(`(?i)</?(?:a|b|i|u|s|em|strong|span|code|sup|sub|small|img|mark|kbd|del|ins|font|center|video|audio|iframe|figure|figcaption)(?:\s[^<>]*)?/?>`), ""},
		{"**", regexp.MustCompile(`\*\*\*?(\S|\S[^*\n]*[^\s*])\*\*\*?`), "$1"},
		{"*", regexp.MustCompile(`(^|[^A-Za-z0-9*])\*([^\s*]|[^\s*][^*\n]*[^\s*])\*($|[^A-Za-z0-9*])`), "$1$2$3"},
		{"__", regexp.MustCompile(`(^|[^\pL\pN_])__([^\s_][^\n]* [^\n]*[^\s_])__($|[^\pL\pN_])`), "$1$2$3"}, // but not __init__
		{"_", regexp.MustCompile(`(^|[^\pL\pN_])_([^\s_]|[^\s_][^_\n]*[^\s_])_($|[^\pL\pN_])`), "$1$2$3"},
		{"~~", regexp.MustCompile(`~~(\S|\S[^~\n]*[^\s~])~~`), "$1"},
		{"==", regexp.MustCompile(`==([^\s=]|[^\s=][^=\n]*[^\s=])==`), "$1"},
		{"#", regexp.MustCompile(`(^|\s)#(\pL[\pL\pN_/-]*)`), "$1$2"}, // a tag
		{"^", regexp.MustCompile(`\s\^[A-Za-z0-9-]+\s*$`), ""},        // the id of a block
		{"\\", regexp.MustCompile(`\\([*_#\[\]~|<>` + "`" + `])`), "$1"},
	}
})

// The runes that stand for code spans while markup is taken out around them, of
// Unicode's private use. A text's own ones are dropped.
const firstSpan, lastSpan = '\ue000', '\uf8ff'

// inline takes the markup out of a line. What is in code spans is not markup.
func inline(s string) string {
	s = strings.Map(func(r rune) rune {
		if firstSpan <= r && r <= lastSpan {
			return -1
		}
		return r
	}, s)
	if !strings.Contains(s, "`") {
		return clean(html.UnescapeString(unmarked(s)))
	}
	s, codes := withoutCode(s)
	var out strings.Builder
	for _, r := range unmarked(s) {
		if firstSpan <= r && r <= lastSpan {
			out.WriteString(codes[r-firstSpan])
		} else {
			out.WriteRune(r)
		}
	}
	return clean(html.UnescapeString(out.String()))
}

// withoutCode puts runes of their own in the place of code spans.
func withoutCode(s string) (rest string, codes []string) {
	var b strings.Builder
	for {
		before, after, _ := strings.Cut(s, "`")
		inner := strings.TrimLeft(after, "`")
		span, rest, closed := strings.Cut(inner, strings.Repeat("`", 1+len(after)-len(inner)))
		if !closed || len(codes) == lastSpan-firstSpan {
			b.WriteString(strings.ReplaceAll(s, "`", ""))
			return b.String(), codes
		}
		b.WriteString(before)
		b.WriteRune(firstSpan + rune(len(codes)))
		codes = append(codes, span)
		s = rest
	}
}

// unmarked goes over the line twice, since of two marks next to each other the first takes
// the space between them.
func unmarked(s string) string {
	if !strings.ContainsAny(s, "*_[<~=#^\\") {
		return s
	}
	for range 2 {
		for _, m := range spans() {
			if !strings.Contains(s, m.sign) {
				continue
			}
			s = m.markup.ReplaceAllString(s, m.stays)
		}
	}
	return s
}

// clean makes one line of valid text: no control characters, no formats that
// cannot be seen but for those that shape letters, one space between words.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	return strings.Join(strings.FieldsFunc(strings.Map(visible, strings.ToValidUTF8(s, "\ufffd")), unicode.IsSpace),
		" ")
}

// isClean reports ASCII text that is clean already, as most is.
func isClean(s string) bool {
	space := true // at the beginning, or behind one
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || space && s[i] == ' ' {
			return false
		}
		space = s[i] == ' '
	}
	return !space || s == ""
}

func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return ' '
	case r == '\u200c', r == '\u200d': // they shape letters and pictographs
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf):
		return -1
	}
	return r
}

package neutralize

import (
	"strings"

	"emberd/internal/text"
	"emberd/vault/lex"
)

var (
	// runsInline is how a code span begins that a plugin evaluates.
	runsInline = text.Pattern(`^[\s\p{Z}\x{feff}]*(?:\$?=|(?i:input|view|button|embed)\[|(?i:button-|jsx[:-]|dice(?:-[a-z]+)?:))`)
	// ownImage is a picture of the vault by its path, whatever else the note defines.
	ownImage = text.Pattern(`^!\[[^\[\]!\\<>` + "`" + `$%]*\]\([\w.-][\w./-]*\)`)
	// ownEmbed is a note or file of the vault.
	ownEmbed = text.Pattern(`^!\[\[[^\[\]|<>\\:` + "`" + `$%!]+(?:\|[^\[\]<>\\:` + "`" + `$%!]*)?\]\]`)
	// loads is what in a formula sets a style, which may load a picture, or makes a link:
	// https://docs.mathjax.org/en/v3.2/input/tex/extensions/html.html, bbox.html, mathtools.
	loads = text.Pattern(`^\\(?:style|href|class|cssId|data|bbox|mmlToken|require|includegraphics)(?:[^A-Za-z]|$)`)
	// atStart are the marks of lists and quotes before a line's text, or of a footnote.
	atStart = text.Pattern(`^(?:[ \t>*+:-]|\d{1,9}[.)]|\[\^[^\]]*\]:)*`)
)

// lineEscaper neutralizes a line that is not certainly code, though it may contain some.
type lineEscaper struct {
	*escaper
	line  string
	at    int
	spans lex.Spans
	out   strings.Builder
	// doubt says that what stands before in the line may swallow a backtick.
	doubt bool
	// Up to looked, the word that goes on there is known to be the beginning of an address
	// or not. closes and ticks are where the next ]] and ` stand that were looked for. So
	// nothing is looked at again for each mark of a long line.
	looked  int
	address bool
	closes  int
	ticks   int
}

// line neutralizes one line.
func (e *escaper) line(text string) string {
	lead := len(atStart().FindString(text))
	if mark, _, _ := lex.FenceMark([]byte(text[lead:])); mark != 0 {
		text = text[:lead] + language(text[lead:])
	}
	text = knownToRun().ReplaceAllString(text, "${1}text $2")
	l := lineEscaper{escaper: e, line: text, spans: lex.CodeSpans([]byte(text))}
	if e.loose && runsInline().MatchString(text[lead:]) { // the code began in the line before
		l.out.WriteString(text[:lead] + `\`)
		l.at = lead
	}
	for l.at < len(text) {
		l.one()
	}
	return l.out.String()
}

// one neutralizes one character, a pair with a backslash or a code span.
func (l *lineEscaper) one() {
	c, next := l.line[l.at], l.ahead(1)
	switch {
	case c == '\\' && next != 0:
		l.backslash(next)
	case c == '`':
		l.backticks()
	case c == '<':
		l.less(next)
	case c == '!' && next == '[':
		l.image()
	case c == '%' && next == '%':
		l.put("%\\", 1)
	case c == '$':
		l.doubt = true
		l.lost = l.lost || next == '$'
		l.put("$", 1)
	case c == '[' && next == '[':
		l.doubt = l.doubt || !l.linked()
		l.put("[[", 2)
	default:
		l.put(l.line[l.at:l.at+1], 1)
	}
}

// ahead returns a later character of the line, 0 behind its end.
func (l *lineEscaper) ahead(by int) byte {
	if l.at+by < len(l.line) {
		return l.line[l.at+by]
	}
	return 0
}

// put writes a text in place of so many bytes.
func (l *lineEscaper) put(text string, instead int) {
	l.out.WriteString(text)
	l.at += instead
}

// backslash writes a backslash and the character that it escapes. To some plugins it escapes
// nothing.
func (l *lineEscaper) backslash(next byte) {
	pair, after := l.line[l.at:l.at+2], l.ahead(2)
	switch {
	case next >= 0x80:
		pair = `\`
	case next == '`':
		l.doubt, l.loose = true, true
	case next == '<' && after == '%', next == '%' && after == '%':
		l.put(pair+`\`, 2)
		return
	case l.formulas && loads().MatchString(l.line[l.at:]): // a line's end, and the word
		l.put(`\\`, 1)
		return
	}
	l.put(pair, len(pair))
}

// less neutralizes the beginning of a tag, a comment or a command.
func (l *lineEscaper) less(next byte) {
	switch {
	case next == '%':
		l.put(`<\`, 1)
	case next >= 'a' && next <= 'z', next >= 'A' && next <= 'Z', next == '/', next == '!', next == '?':
		l.put(`\<`, 1)
	default:
		l.put("<", 1)
	}
}

// image neutralizes the beginning of an image or an embedded note.
func (l *lineEscaper) image() {
	rest := l.line[l.at:]
	own := ownImage().FindString(rest)
	if own == "" {
		own = ownEmbed().FindString(rest)
		if own != "" && len(rest) > len(own) && strings.IndexByte("([:", rest[len(own)]) >= 0 {
			own = ""
		}
	}
	if own == "" || strings.Contains(own, "..") || strings.Contains(own, "//") { // which may lead out of the vault
		l.put(`\!`, 1)
		return
	}
	l.put(own, len(own))
}

// backticks writes a code span as it is if it certainly is one, and otherwise only the run of
// backticks.
func (l *lineEscaper) backticks() {
	size := lex.Backticks([]byte(l.line[l.at:]))
	run := l.line[l.at : l.at+size]
	end, closed := l.spans[l.at]
	code := ""
	if closed {
		code = l.line[l.at+size : end]
	}
	if !closed || l.lost || l.loose || l.doubt || l.inAddress() || strings.Contains(code, "|") {
		l.doubt, l.loose = true, true
		l.put(run, size)
		code = l.line[l.at:]
		l.guard(code)
		return
	}
	l.put(run, size)
	l.guard(code)
	l.put(strings.ReplaceAll(l.line[l.at:end], "<%", `<\%`)+run, end+size-l.at)
}

// guard disables code that a plugin evaluates.
func (l *lineEscaper) guard(code string) {
	if runsInline().MatchString(code) {
		blank := len(code) - len(strings.TrimLeft(code, " \t"))
		l.put(code[:blank]+`\`, blank)
	}
}

// inAddress reports whether a backtick may be part of an address that is a link without markup.
func (l *lineEscaper) inAddress() bool {
	for ; l.looked < l.at; l.looked++ {
		switch to := l.line[:l.looked+1]; l.line[l.looked] {
		case ' ', '\t':
			l.address = false
		case '@':
			l.address = true
		case '/', '.':
			l.address = l.address || strings.HasSuffix(to, "://") || strings.HasSuffix(to, "www.")
		}
	}
	return l.address
}

// linked reports whether the link that begins here ends in this line, without a backtick.
func (l *lineEscaper) linked() bool {
	l.closes = l.next(l.closes, "]]")
	l.ticks = l.next(l.ticks, "`")
	return l.closes < len(l.line) && l.closes < l.ticks
}

// next returns where a mark is from here on, the line's length if nowhere. found is where it was
// found before, or anything behind.
func (l *lineEscaper) next(found int, mark string) int {
	if found >= l.at && found > 0 {
		return found
	}
	if i := strings.Index(l.line[l.at:], mark); i >= 0 {
		return l.at + i
	}
	return len(l.line)
}

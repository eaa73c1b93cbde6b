package query

import (
	"strings"
	"unicode/utf8"

	"emberd/internal/text"
)

// quotes are all the signs that open or close a quotation.
const quotes = "\"＂“”„«»"

// closers returns the signs that close a quotation opened by r, "" when r opens
// none. The quotes on keyboards mix with those that programs make of them.
func closers(r rune) string {
	switch r {
	case '"', '＂':
		return "\"＂"
	case '“', '„':
		return "”“\"＂"
	case '”': // as in Swedish
		return "”\"＂"
	case '«':
		return "»"
	case '»': // as in Danish
		return "«»"
	}
	return ""
}

// opens returns the signs that close the quotation opened at at, "" when none is.
// A sign that elsewhere closes opens only right before text: "A » B" is a path.
func (p *parser) opens(at int) string {
	r, n := utf8.DecodeRuneInString(p.text[at:])
	if (r == '”' || r == '»') && p.ends(at+n) {
		return ""
	}
	return closers(r)
}

// quoted reads a text in quotes, trimmed and without its escapes. Nothing is read
// when no quote opens at at or nothing closes it.
func (p *parser) quoted(at int) (value string, end int, ok bool) {
	signs := p.opens(at)
	if signs == "" {
		return "", at, false
	}
	open, n := utf8.DecodeRuneInString(p.text[at:])
	closed := p.close(open, at+n, func(s string) int { return indexUnescaped(s, signs) })
	if closed < 0 {
		return "", at, false
	}
	_, size := utf8.DecodeRuneInString(p.text[closed:])
	return strings.TrimSpace(unescape(p.text[at+n : closed])), closed + size, true
}

// bracket returns the offset of the first closing bracket from at on, -1 without.
func (p *parser) bracket(at int) int {
	return p.close('[', at, func(s string) int { return strings.IndexByte(s, ']') })
}

// reach is what a search for a closing sign has found: none in text[from:at].
type reach struct{ from, at int }

// close returns the offset of the first sign from at on that closes open, as find
// finds it, or -1. It remembers the last one, so that a text full of opening
// signs is not searched from each of them.
func (p *parser) close(open rune, at int, find func(string) int) int {
	seen, ok := p.closing[open]
	if !ok || at < seen.from || at > seen.at {
		seen = reach{from: at, at: len(p.text)}
		if n := find(p.text[at:]); n >= 0 {
			seen.at = at + n
		}
		p.closing[open] = seen
	}
	if seen.at == len(p.text) {
		return -1
	}
	return seen.at
}

// indexUnescaped returns the index of the first of signs in s that no backslash
// is before, itself not escaped, or -1.
func indexUnescaped(s, signs string) int {
	escaped := false
	return strings.IndexFunc(s, func(r rune) bool {
		if escaped {
			escaped = false
			return false
		}
		escaped = r == '\\'
		return strings.ContainsRune(signs, r)
	})
}

// quote writes a text as a phrase.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `＂`, `\＂`).Replace(s) + `"`
}

// unescape undoes quote. A backslash before anything but a quote or a backslash
// is kept.
func unescape(s string) string {
	var b strings.Builder
	for {
		head, tail, ok := strings.Cut(s, `\`)
		b.WriteString(head)
		if !ok {
			return b.String()
		}
		r, n := utf8.DecodeRuneInString(tail)
		if !strings.ContainsRune(quotes+`\`, r) {
			b.WriteByte('\\')
		}
		b.WriteString(tail[:n])
		s = tail[n:]
	}
}

// clip returns the beginning of quoted input in one line, for messages.
func clip(s string) string { return text.Truncate(text.OneLine(s), 40) }

package markdown

import (
	"bytes"
	"strings"

	"emberd/vault/lex"
)

// Span is a link, and where its target is written without the anchor: src[Start:End].
type Span struct {
	Link
	Start, End int
	// Close is where a wikilink without a text of its own can get one, 0 for other links.
	Close int

	form       form
	definition bool // of a reference, whose links are elsewhere
}

// form is how a target is written.
type form int

const (
	wiki  form = iota
	plain      // [text](target), with %20 for a space
	angle      // [text](<target>)
)

// Write returns a target in the form of the link.
func (s *Span) Write(target string) string {
	if s.form == wiki {
		return target
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$'+,;=@"
	var b strings.Builder
	for _, c := range []byte(target) {
		if c >= 0x80 || strings.IndexByte(letters, c) >= 0 || c == ' ' && s.form == angle {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15]))
	}
	return b.String()
}

// Spans returns the links of an outline in the order of the source, each with where its target is written. The
// source is normalized, its comments are blank, and its frontmatter ends at body. What only looks like a link is
// left out, and so are links on a line with more of what looks like them.
func Spans(o *Outline, src []byte, body int) []Span {
	s := spanner{src: src}
	s.properties(body)
	s.text(body)
	return s.real(o)
}

type spanner struct {
	src   []byte
	found []Span
}

// properties finds the wikilinks in the frontmatter.
func (s *spanner) properties(body int) {
	for i := 0; i < body; i++ {
		if s.src[i] == '[' {
			i += max(0, s.wikilink(i, body)-1)
		}
	}
}

// text finds the links outside of blocks of code, a paragraph at a time.
func (s *spanner) text(at int) {
	var code lex.Fence
	start := at
	for at < len(s.src) {
		line := lex.LineAt(s.src, at)
		rest, _, _ := lex.Containers(line)
		inCode := code.Next(rest)
		if inCode || lex.IsBlankLine(rest) {
			s.paragraph(start, at)
			start = at + len(line)
		} else {
			s.reference(at+len(line)-len(rest), rest)
		}
		at += len(line)
	}
	s.paragraph(start, at)
}

func (s *spanner) paragraph(start, end int) {
	p := s.src[start:end]
	code := lex.CodeSpans(p)
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\':
			i++
		case p[i] == '`':
			i = code.Skip(p, i) - 1
		case p[i] == '[':
			i += max(0, s.wikilink(start+i, end)-1)
		case p[i] == ']' && i+1 < len(p) && p[i+1] == '(':
			s.inline(start, start+i, end)
		}
	}
}

// wikilink takes in the wikilink that begins at an offset, and returns its length, 0 if there is none.
func (s *spanner) wikilink(at, end int) int {
	m, n := scanWikilink(s.src[at:end])
	if n == 0 {
		return 0
	}
	inner := string(s.src[at+2 : at+n-2])
	target, _, named := strings.Cut(inner, "|")
	if target = strings.TrimSuffix(target, `\`); strings.Contains(target, "#") {
		target, _, _ = strings.Cut(target, "#")
	} else {
		target, _, _ = strings.Cut(target, "^")
	}
	span := Span{Link: *m.link, Start: at + 2, form: wiki}
	span.Start += len(target) - len(strings.TrimLeft(target, " \t"))
	span.End = span.Start + len(strings.TrimSpace(target))
	span.Embed = at > 0 && s.src[at-1] == '!'
	if !named {
		span.Close = at + n - 2
	}
	s.add(span, at)
	return n
}

// inline takes in a link whose text ends at an offset.
func (s *spanner) inline(start, at, end int) {
	open := s.opening(start, at)
	if open < 0 {
		return
	}
	s.destination(open, at+2, end, open > start && s.src[open-1] == '!')
}

// opening returns where the bracket of a link's text is, -1 if nowhere.
func (s *spanner) opening(start, at int) int {
	depth := 0
	for i := at - 1; i >= start; i-- {
		if i > start && s.src[i-1] == '\\' {
			continue
		}
		switch s.src[i] {
		case ']':
			depth++
		case '[':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// reference takes in the definition [label]: destination.
func (s *spanner) reference(at int, line []byte) {
	end := bytes.Index(line, []byte("]:"))
	if end < 2 || line[0] != '[' || line[1] == '^' || line[1] == '[' {
		return
	}
	before := len(s.found)
	s.destination(at, at+end+2, at+len(line), false)
	for i := range s.found[before:] {
		s.found[before+i].definition = true
	}
}

// destination takes in the destination that follows an offset, of a link that begins at another.
func (s *spanner) destination(link, at, end int, embed bool) {
	for at < end && lex.IsBlank(rune(s.src[at])) {
		at++
	}
	span := Span{form: plain, Start: at}
	if at < end && s.src[at] == '<' {
		span.form, span.Start = angle, at+1
	}
	span.End = s.destinationEnd(&span, end)
	raw := s.src[span.Start:span.End]
	found, ok := markdownLink(string(raw), "", embed)
	if !ok {
		return
	}
	if hash := bytes.IndexAny(raw, "#^"); hash >= 0 {
		span.End = span.Start + hash
	}
	span.Link = found
	s.add(span, link)
}

func (s *spanner) destinationEnd(span *Span, end int) int {
	depth := 0
	for i := span.Start; i < end; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case span.form == angle && (c == '>' || c == '\n'):
			return i
		case span.form == angle:
		case lex.IsBlank(rune(c)), c == ')' && depth == 0:
			return i
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
	}
	return end
}

func (s *spanner) add(span Span, at int) {
	span.Line = 1 + bytes.Count(s.src[:at], []byte("\n"))
	s.found = append(s.found, span)
}

// linkKey is what both readers find of a link.
type linkKey struct {
	target, heading, block string
	embed                  bool
	line                   int
}

func keyOf(l *Link) linkKey { return linkKey{l.Target, l.Heading, l.Block, l.Embed, l.Line} }

// real returns those that the outline has, too.
func (s *spanner) real(o *Outline) (all []Span) {
	links, named := make(map[linkKey]int), make(map[linkKey]bool)
	for i := range o.Links {
		key := keyOf(&o.Links[i])
		links[key]++
		key.line, key.embed = 0, false
		named[key] = true
	}
	seen := make(map[linkKey]int)
	for i := range s.found {
		if !s.found[i].definition {
			seen[keyOf(&s.found[i].Link)]++
		}
	}
	for _, span := range s.found {
		key := keyOf(&span.Link)
		is := links[key] >= seen[key]
		if span.definition {
			key.line, key.embed = 0, false
			is = named[key]
		}
		if is {
			all = append(all, span)
		}
	}
	return all
}

package vault

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxSections bounds the sections of a note; what follows belongs to the last.
const maxSections = 10_000

// outline collects what the two readers of Markdown find, in the order of the
// text. Offsets are those of the normalised source.
type outline struct {
	note  *Note
	src   []byte
	lines []int // offset of each line
	base  int   // bytes of the file before the source

	open   *Section // being filled, nil before the first text
	text   []byte
	path   []Section // the headings that open lies under
	tags   map[string]bool
	blocks map[string]bool
}

func newOutline(n *Note, src []byte, base int) *outline {
	o := &outline{note: n, src: src, base: base, tags: map[string]bool{}, blocks: map[string]bool{}}
	o.lines = append(o.lines, 0)
	for i, c := range src {
		if c == '\n' {
			o.lines = append(o.lines, i+1)
		}
	}
	return o
}

// line returns the number of the line that holds an offset, from 1.
func (o *outline) line(at int) int {
	return sort.Search(len(o.lines), func(i int) bool { return o.lines[i] > at })
}

// heading begins a section.
func (o *outline) heading(level int, text string, at int) {
	text = squeeze(text)
	if len(o.note.Sections) == maxSections-1 {
		o.note.problem(o.line(at), "the note has more than %d headings and the rest is read as one section; split it", maxSections-1)
	}
	if len(o.note.Sections) >= maxSections-1 && o.open != nil {
		o.write(text, at)
		o.write("\n", at)
		return
	}
	line := o.line(at)
	start := o.lines[line-1]
	if o.open != nil && start+o.base < o.open.Start {
		// The parser gave lines above to text of their own, as below a table that
		// is none.
		start = o.open.Start - o.base
		line = o.line(start)
	}
	o.end(start)
	for len(o.path) > 0 && o.path[len(o.path)-1].Level >= level {
		o.path = o.path[:len(o.path)-1]
	}
	s := Section{Heading: text, Level: level, Line: line, Start: start + o.base}
	o.path = append(o.path, s)
	for _, above := range o.path {
		s.Path = append(s.Path, above.Heading)
	}
	o.open = &s
}

// write adds plain text to the section, which begins with it if there is none.
func (o *outline) write(text string, at int) {
	if o.open == nil {
		if strings.TrimSpace(text) == "" {
			return
		}
		line := o.line(at)
		o.open = &Section{Line: line, Start: o.lines[line-1] + o.base}
	}
	o.text = append(o.text, text...)
}

// end closes the section at an offset.
func (o *outline) end(at int) {
	if o.open != nil {
		o.open.End = at + o.base
		o.open.Text = squeeze(string(o.text))
		o.note.Sections = append(o.note.Sections, *o.open)
		o.text = o.text[:0]
	}
	o.open = nil
}

// reset forgets all that was found in the text, so that it can be read again.
func (o *outline) reset(before Note) {
	*o.note = before
	o.open, o.path = nil, nil
	o.text = o.text[:0]
	clear(o.tags)
	clear(o.blocks)
	for _, t := range before.Tags {
		o.tags[t.Key] = true
	}
}

// finish closes the last section.
func (o *outline) finish() { o.end(len(o.src)) }

// add takes in a link, tag or block id found in the text.
func (o *outline) add(m markup, at int) {
	switch {
	case m.link != nil:
		m.link.Line = o.line(at)
		o.note.Links = append(o.note.Links, *m.link)
	case m.tag != "":
		o.tag(m.tag)
	case m.block != "" && !o.blocks[m.block]:
		o.blocks[m.block] = true
		o.note.Blocks = append(o.note.Blocks, Block{ID: m.block, Line: o.line(at)})
	}
}

func (o *outline) tag(name string) {
	if o.tags[name] {
		return
	}
	key := tagKey(name)
	if o.tags[name] = true; key == name || !o.tags[key] {
		o.tags[key] = true
		o.note.Tags = append(o.note.Tags, Tag{Name: name, Key: key})
	}
}

func tagKey(name string) string { return strings.Trim(fold(name), "/") }

// fold makes what Obsidian treats as the same name the same string: NFC and
// case-folded.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// squeeze leaves one space between words and drops empty lines.
func squeeze(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		before := b.Len()
		for word := range strings.FieldsFuncSeq(line, isBlank) {
			if b.Len() > before {
				b.WriteByte(' ')
			} else if before > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(word)
		}
	}
	return b.String()
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// fields takes in Dataview's inline fields, which are found in plain text: a line
// "key:: value", and "[key:: value]" or "(key:: value)" anywhere.
func (o *outline) fields(text string, at int) {
	if !strings.Contains(text, "::") {
		return
	}
	first := o.line(at)
	lines := slices.Collect(strings.Lines(text))
	for i, line := range lines {
		for _, f := range scanFields(line) {
			f.Line = first + i
			o.note.Properties = append(o.note.Properties, f)
		}
	}
}

// blankLine reports a line without anything to see.
func blankLine(line []byte) bool { return len(bytes.Trim(line, " \t\n")) == 0 }

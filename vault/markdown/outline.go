// Package markdown reads Markdown as Obsidian has it and returns what a search needs: sections
// with their plain text, links, tags, block IDs and inline fields.
//
// Two readers find the same in ordinary notes: the parser goldmark, and a line reader. The line
// reader reads each text that the parser would take long over, recognized by a count beforehand,
// or that makes the parser panic. So every byte string is read in time and memory linear in its
// size, nothing here panics, and no offset is outside the text.
package markdown

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"emberd/vault/lex"
	"emberd/vault/notename"
)

// maxSections bounds the sections of a note; what follows belongs to the last.
const maxSections = 10_000

// Outline is what a text contains for a search: sections, and what Obsidian finds in them.
type Outline struct {
	Tags       []Tag      // each once, in order
	Properties []Property // inline fields among them, in order
	Sections   []Section
	Links      []Link  // every mention
	Blocks     []Block // IDs that links can point at
	Problems   []Problem

	// LineByLine means that the parser was not given this text, because it exceeds a limit
	// or the parser failed; a Problem says which.
	LineByLine bool
}

// Tag is a tag without its "#".
type Tag struct {
	Name string // as written first
	Key  string // for comparing: NFC, case-folded; parts of a nested tag are separated by "/"
}

// Property is a property or an inline field. A list is joined by ", ", a nested
// value is its YAML text.
type Property struct {
	Key, Value string
	Line       int
}

// Section is a heading with the text down to the next heading of any level. Text
// before the first heading is a section of level 0. Headings in quotes and lists
// begin none, as in Obsidian's outline.
type Section struct {
	Heading    string
	Path       []string // the headings above, outermost first, and Heading itself
	Level      int      // 1 to 6, or 0
	Line       int      // of the heading or, at level 0, of the first text; from 1
	Start, End int      // bytes of the file, with the heading
	Text       string   // without the heading and without markup
}

// Link is a wikilink, an embed, or a Markdown link that is not a URL.
type Link struct {
	Target  string // as written, without anchor; "" is the note itself
	Heading string // after "#"; headings of a path are separated by "#"
	Block   string // after "^"
	Text    string // shown instead of the target, "" if nothing is
	Embed   bool
	Line    int
}

// Block is the id of a paragraph, list item or other block: ^id at its end.
type Block struct {
	ID   string
	Line int
}

// Problem is something in a note that the user should know: one sentence without the note's text.
type Problem struct {
	Line int
	Text string
}

// Report adds a problem of a line.
func (o *Outline) Report(line int, format string, args ...any) {
	o.Problems = append(o.Problems, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

// Builder collects what the two readers of Markdown find, in the order of the
// text. Offsets are those of the normalized source.
type Builder struct {
	*Outline
	src   []byte
	lines []int // offset of each line
	base  int   // bytes of the file before the source

	open   *Section // being filled, nil before the first text
	text   []byte
	path   []Section // the headings that open lies under
	tags   map[string]bool
	blocks map[string]bool
}

func NewBuilder(into *Outline, src []byte, base int) *Builder {
	o := &Builder{Outline: into, src: src, base: base, tags: map[string]bool{}, blocks: map[string]bool{}}
	o.lines = append(o.lines, 0)
	for i, c := range src {
		if c == '\n' {
			o.lines = append(o.lines, i+1)
		}
	}
	return o
}

// line returns the number of the line that holds an offset, from 1.
func (o *Builder) line(at int) int {
	return sort.Search(len(o.lines), func(i int) bool { return o.lines[i] > at })
}

// heading begins a section.
func (o *Builder) heading(level int, text string, at int) {
	text = squeeze(text)
	if len(o.Sections) == maxSections-1 {
		o.Report(o.line(at),
			"the note has more than %d headings, so emberd reads the rest as one section; split the note",
			maxSections-1)
	}
	if len(o.Sections) >= maxSections-1 && o.open != nil {
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
func (o *Builder) write(text string, at int) {
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
func (o *Builder) end(at int) {
	if o.open != nil {
		o.open.End = at + o.base
		o.open.Text = squeeze(string(o.text))
		o.Sections = append(o.Sections, *o.open)
		o.text = o.text[:0]
	}
	o.open = nil
}

// reset forgets all that was found in the text, so that it can be read again.
func (o *Builder) reset(before Outline) {
	*o.Outline = before
	o.open, o.path = nil, nil
	o.text = o.text[:0]
	clear(o.tags)
	clear(o.blocks)
	for _, t := range before.Tags {
		o.tags[t.Key] = true
	}
}

// Finish closes the last section.
func (o *Builder) Finish() { o.end(len(o.src)) }

// add adds a link, tag or block ID that the text contains.
func (o *Builder) add(m markup, at int) {
	switch {
	case m.link != nil:
		m.link.Line = o.line(at)
		o.Links = append(o.Links, *m.link)
	case m.tag != "":
		o.Tag(m.tag)
	case m.block != "" && !o.blocks[m.block]:
		o.blocks[m.block] = true
		o.Blocks = append(o.Blocks, Block{ID: m.block, Line: o.line(at)})
	}
}

func (o *Builder) Tag(name string) {
	if o.tags[name] {
		return
	}
	key := tagKey(name)
	if o.tags[name] = true; key == name || !o.tags[key] {
		o.tags[key] = true
		o.Tags = append(o.Tags, Tag{Name: name, Key: key})
	}
}

func tagKey(name string) string { return strings.Trim(notename.Fold(name), "/") }

// squeeze leaves one space between words and drops empty lines.
func squeeze(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		before := b.Len()
		for word := range strings.FieldsFuncSeq(line, lex.IsBlank) {
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

// fields adds Dataview's inline fields, which are in plain text: a line "key:: value", and "[key::
// value]" or "(key:: value)" anywhere.
func (o *Builder) fields(text string, at int) {
	if !strings.Contains(text, "::") {
		return
	}
	first := o.line(at)
	lines := slices.Collect(strings.Lines(text))
	for i, line := range lines {
		for _, f := range scanFields(line) {
			f.Line = first + i
			o.Properties = append(o.Properties, f)
		}
	}
}

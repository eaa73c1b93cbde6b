// Package chunk cuts notes into the parts that are embedded. It is pure.
//
// A part is a section, without what Markdown has beside its words. A section that a model
// cannot take in as a whole becomes several: between paragraphs, lists, tables and blocks
// of code if these fit, else between items, rows, lines and sentences, in the end between
// words and letters. Where a paragraph is cut, the next part repeats its last sentences, up to
// about 15 percent, so that what is said across the cut is in one of the two. Very short
// sections go with what follows them under the same heading. What the note is called, its
// aliases and tags are a part of their own, the first.
//
// What is embedded begins with the title and the headings that the text stands under. The
// identity of a part ([Chunk.Identity]) is made of its text, its headings and a title
// that the note gives itself, but not of the name of its file: a part keeps its identity
// when the file is renamed, and when something else in the note changes.
package chunk

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds and proportions.
const (
	// Version names the rules by which notes are cut. A note is cut again when it changes.
	Version = "2"
	// Max is how many parts a note may have. What follows is not embedded.
	Max = 200

	identity = "1" // begins every identity, so that parts that the rules leave alone keep theirs

	overlapShare = 0.15    // of the room, for what is said again
	shortShare   = 1.0 / 8 // of the room: a section below is short
	tokenBytes   = 64      // no token is longer on average, as models are told, too
)

// Note is what is cut.
type Note struct {
	Name          string // of its file, without folder and extension
	Title         string // that it gives itself, "" if it goes by the name
	Aliases, Tags []string
	Sections      []Section
}

// Section is a heading and the text up to the next one.
type Section struct {
	Path     []string // headings, outermost first, its own last; empty before the first
	Line     int      // of the first line of Markdown, from 1
	Markdown string   // with the heading
}

// Chunk is a part of a note.
type Chunk struct {
	Heading []string // what it stands under
	Line    int      // of the note, where it begins, from 1
	Body    string   // plain
	Again   int      // bytes at the beginning of Body that the part before ends with
	Text    string   // what is to be embedded
	// Identity distinguishes it from others: equal ones need be embedded once.
	Identity []string
}

// Options say what a model can take in.
type Options struct {
	Tokens int                   // in a text, at most, without marks that the model sets around it
	Count  func(text string) int // of tokens; adds up over texts that blanks part
}

// Memory is the identity of a text that is embedded as a whole.
func Memory(text string) []string { return []string{identity, "memory", text} }

// Cut returns the parts of a note in its order, at most [Max]. None is longer than the
// model takes in, unless its headings alone are, or one letter.
func Cut(n *Note, opt Options) []Chunk {
	c := &cutter{note: n, opt: opt, out: []Chunk{called(n)}}
	parsed := make([]section, 0, len(n.Sections))
	for _, s := range n.Sections {
		parsed = append(parsed, c.read(s))
	}
	for len(parsed) > 0 && !c.full() {
		size := 1 // of a heading that what follows tells
		if heading := &parsed[0]; len(heading.blocks) > 0 || len(parsed) == 1 || !under(parsed[1].path, heading.path) {
			size = c.together(parsed)
			c.cut(parsed[:size])
		}
		parsed = parsed[size:]
	}
	return c.out
}

// called is the part of what a note is called.
func called(n *Note) Chunk {
	names := slices.Concat([]string{n.Name}, n.Aliases)
	if n.Title != "" && n.Title != n.Name {
		names = slices.Insert(names, 0, n.Title)
	}
	body := strings.Join(names, "\n")
	if len(n.Tags) > 0 {
		body += "\n" + strings.Join(n.Tags, ", ")
	}
	return Chunk{Line: 1, Body: body, Text: body, Identity: []string{identity, "name", body}}
}

// section is one as it was read.
type section struct {
	path   []string
	line   int
	blocks []block
	tokens int
}

// cutter is one note being cut.
type cutter struct {
	note *Note
	opt  Options
	out  []Chunk
}

func (c *cutter) full() bool { return len(c.out) >= Max }

func (c *cutter) read(s Section) section {
	out := section{path: s.Path, line: s.Line, blocks: blocksOf(s)}
	for i := range out.blocks {
		out.blocks[i].tokens = c.count(out.blocks[i].text)
		out.tokens += out.blocks[i].tokens
	}
	return out
}

// count is exact up to what a model could take in, and too much to take in beyond. What
// has few tokens for its length takes room anyway.
func (c *cutter) count(text string) int {
	minimum := len(text) / tokenBytes
	if minimum >= c.opt.Tokens {
		return minimum + 1
	}
	return max(minimum, c.opt.Count(text))
}

// together is how many of the sections make one part, or the parts of one section: short
// ones go with what follows under the same heading.
func (c *cutter) together(s []section) int {
	size, tokens := 1, s[0].tokens
	short := int(float64(c.opt.Tokens) * shortShare)
	for size < min(len(s), c.opt.Tokens) && tokens < short && under(s[size].path, parent(s[0].path)) {
		added := s[size].tokens + c.count(strings.Join(s[size].path, " "))
		if _, room := c.prefix(common(s[:size+1])); tokens+added > room {
			break
		}
		tokens += added
		size++
	}
	return size
}

func parent(path []string) []string { return path[:max(0, len(path)-1)] }

func under(path, above []string) bool {
	return len(path) >= len(above) && slices.Equal(path[:len(above)], above)
}

// common are the headings that all sections stand under.
func common(s []section) []string {
	path := s[0].path
	for _, next := range s[1:] {
		for !under(next.path, path) {
			path = parent(path)
		}
	}
	return path
}

// title is what the note goes by.
func (c *cutter) title() string {
	if c.note.Title != "" {
		return c.note.Title
	}
	return c.note.Name
}

// prefix is what stands before a text that is embedded, and how many tokens that leaves
// for it: half of them at least.
func (c *cutter) prefix(path []string) (text string, room int) {
	text = strings.TrimSpace(c.title() + "\n" + strings.Join(path, " > "))
	half := c.opt.Tokens / 2
	for c.count(text) > half && utf8.RuneCountInString(text) > 1 {
		text = strings.TrimSpace(beginning(text, len(text)*3/4))
	}
	return text, max(c.opt.Tokens-c.count(text), 1)
}

// cut makes the parts of sections that go together.
func (c *cutter) cut(group []section) {
	p := packer{cutter: c, path: common(group)}
	if len(p.path) > 0 {
		p.line = group[0].line
	}
	p.prefix, p.room = c.prefix(p.path)
	for _, s := range group {
		if heading := strings.Join(s.path[len(p.path):], " > "); heading != "" {
			p.each([]string{heading}, unit{line: s.line})
		}
		for _, b := range s.blocks {
			if !p.full() {
				p.block(b)
			}
		}
	}
	if len(p.units) > p.again || p.made == 0 && len(p.path) > 0 {
		p.flush()
	}
}

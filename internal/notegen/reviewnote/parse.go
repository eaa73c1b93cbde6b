package reviewnote

import (
	"emberd/internal/text"
	"slices"
	"strings"
)

// Note is the region of a note as a human left it.
type Note struct {
	Ticks []CheckedBox // each once, in their order
	// Open says that a block of code is not closed, which swallows what follows: nothing is
	// ticked, and the region cannot be written.
	Open  bool
	lines []parsed
	wrote map[string]bool // sums of lines that emberd wrote, empty if that is not known
}

// parsed is one line.
type parsed struct {
	text string // as it is, without its line end
	// own is the line as emberd would have written it: of one with a box, the box empty
	// and without what a human wrote beside it.
	own   string
	box   string // of a line with a box that is emberd's: its id, and a blank before it
	words string // of a line with a box: what is written in it that emberd did not write
	fixed bool   // the line is of a block of code, and so a human's
	mine  bool   // emberd wrote it, as far as is known once a page was given
}

// box is a line with a check box: its state and what follows. Lines in a quote have none,
// for texts of memories stand there.
var box = text.Pattern(`^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[(.)\][ \t]+(.*)$`)

// stamped is what Obsidian's Tasks plugin adds to a line that is ticked.
var stamped = text.Pattern(`[ \t]*✅ [0-9]{4}-[0-9]{2}-[0-9]{2}`)

// Parse reads a region of a note. wrote are the [Sums] of what was written before, nothing
// if that is not known. Lines of blocks of code, and boxes that are neither empty
// nor ticked with an x, say nothing.
func Parse(region string, wrote []string) *Note {
	note := &Note{wrote: make(map[string]bool, len(wrote))}
	for _, s := range wrote {
		note.wrote[s] = true
	}
	var f fence
	for text := range strings.Lines(region) {
		line := parsed{text: strings.TrimRight(text, "\r\n")}
		line.own = strings.TrimRight(line.text, " \t")
		if line.fixed = f.in(line.text); !line.fixed {
			note.take(&line)
		}
		note.lines = append(note.lines, line)
	}
	if note.Open = f.size > 0; note.Open {
		note.Ticks = nil
	}
	return note
}

// take reads the box of a line, if it has one of emberd's.
func (n *Note) take(line *parsed) {
	parts := box().FindStringSubmatch(line.text)
	if parts == nil {
		return
	}
	at := token().FindStringSubmatchIndex(parts[2])
	if at == nil {
		return
	}
	rest := parts[2]
	field := func(i int) string { return rest[at[2*i]:at[2*i+1]] }
	tick := CheckedBox{Item: field(1), Seen: field(2), Choice: field(3)}
	// Boxes that an editor joined to one line are words: kept as a line of their own they must not
	// become a box that the next reader takes for ticked.
	words := rest[:at[0]] + " " + token().ReplaceAllString(rest[at[1]:], "")
	line.box, line.words = " ^rev-"+tick.Item+"-"+tick.Seen+"-"+tick.Choice,
		strings.TrimSpace(stamped().ReplaceAllString(words, ""))
	if line.part(func(own string) bool { return n.wrote[sum(own)] }) {
		tick.Words = line.words
	}
	same := func(t CheckedBox) bool { return t.Item == tick.Item && t.Seen == tick.Seen && t.Choice == tick.Choice }
	if ticked := parts[1] == "x" || parts[1] == "X"; ticked && !slices.ContainsFunc(n.Ticks, same) {
		n.Ticks = append(n.Ticks, tick)
	}
}

// maxBoxLen bounds the words of a box that is looked at for what was added, in bytes.
const maxBoxLen = 2000

// part tells of a line with a box what emberd wrote, by a line that is known to be its
// own, from what a human added to the end. Without such a line all words are a human's.
func (l *parsed) part(known func(own string) bool) (parted bool) {
	if len(l.words) > maxBoxLen {
		return false
	}
	for end := len(l.words); end > 0; end = strings.LastIndexByte(l.words[:end], ' ') {
		if own := "- [ ] " + l.words[:end] + l.box; known(own) {
			l.own, l.words = own, strings.TrimSpace(l.words[end:])
			return true
		}
	}
	return false
}

// fence follows blocks of code
// (https://spec.commonmark.org/0.31.2/#fenced-code-blocks).
type fence struct {
	mark byte
	size int
}

// in takes in a line and reports whether it belongs to a block of code.
func (f *fence) in(line string) bool {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" {
		return f.size > 0
	}
	size := len(text) - len(strings.TrimLeft(text, text[:1]))
	switch {
	case f.size > 0 && text[0] == f.mark && size >= f.size && blank(text[size:]):
		f.size = 0
		return true
	case f.size > 0:
		return true
	case size >= 3 && (text[0] == '~' || text[0] == '`' && !strings.Contains(text[size:], "`")):
		f.mark, f.size = text[0], size
		return true
	}
	return false
}

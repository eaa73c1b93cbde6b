package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// walker reads goldmark's tree of a note.
type walker struct {
	*Builder
}

// blocks reads the children of a container.
func (w *walker) blocks(container ast.Node) {
	for n := container.FirstChild(); n != nil; n = n.NextSibling() {
		w.block(n)
	}
}

func (w *walker) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		w.headingBlock(n)
	case *ast.Paragraph, *ast.TextBlock:
		w.paragraph(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock, *mathNode:
		for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
			w.write(string(line.Value(w.src)), line.Start)
		}
		w.write("\n", 0)
	case *ast.HTMLBlock:
		w.html(n)
	case *tables.TableHeader, *tables.TableRow:
		w.row(n)
	case *ast.ThematicBreak, *ast.LinkReferenceDefinition:
	default:
		w.blocks(n)
	}
}

// position returns where a block's text begins.
func position(n ast.Node) int {
	if lines := n.Lines(); lines.Len() > 0 {
		return lines.At(0).Start
	}
	return max(0, n.Pos())
}

func (w *walker) headingBlock(n *ast.Heading) {
	top := n.Parent().Kind() == ast.KindDocument
	spoken := w.spoken(n, top)
	if top {
		w.heading(n.Level, spoken, position(n))
		return
	}
	w.write(spoken+"\n", position(n))
}

func (w *walker) paragraph(n ast.Node) {
	at := position(n)
	spoken := w.spoken(n, false)
	w.write(spoken+"\n", at)
	w.fields(spoken, at)
}

func (w *walker) row(n ast.Node) {
	for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
		if cell != n.FirstChild() {
			w.write(" | ", 0)
		}
		w.write(w.spoken(cell, false), position(cell))
	}
	w.write("\n", 0)
}

// html writes the text of a block of HTML.
func (w *walker) html(n *ast.HTMLBlock) {
	lines := n.Lines().Sliced(0, n.Lines().Len())
	if n.HasClosure() {
		lines = append(lines[:len(lines):len(lines)], n.ClosureLine)
	}
	var raw bytes.Buffer
	for _, line := range lines {
		raw.Write(line.Value(w.src))
	}
	w.write(stripTags(raw.Bytes())+"\n", position(n))
}

// spoken returns the text of a block, and takes in the links, tags and block ids
// in it. plain leaves out the names of targets that are not shown.
func (w *walker) spoken(block ast.Node, plain bool) string {
	var b strings.Builder
	w.inline(&b, block, plain)
	return b.String()
}

func (w *walker) inline(b *strings.Builder, parent ast.Node, plain bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			w.run(b, n)
		case *obsidianNode:
			w.add(n.markup, n.Pos())
			if plain {
				b.WriteString(n.plain)
			} else {
				b.WriteString(n.text)
			}
		case *ast.Link:
			w.link(b, n, string(n.Destination), plain, false)
		case *ast.Image:
			w.link(b, n, string(n.Destination), plain, true)
		case *ast.AutoLink:
			b.Write(n.Label(w.src))
		case *ast.RawHTML:
			b.WriteString(rawBreak(n.Segments, w.src))
		default:
			w.inline(b, n, plain)
		}
	}
}

// run writes a run of text as it is shown.
func (w *walker) run(b *strings.Builder, n *ast.Text) {
	if n.IsRaw() {
		b.Write(n.Value(w.src))
	} else {
		b.WriteString(unescape(n.Value(w.src)))
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		b.WriteByte('\n')
	}
}

// link writes the text of a Markdown link or picture, and the name of its target.
func (w *walker) link(b *strings.Builder, n ast.Node, destination string, plain, embed bool) {
	shown := w.spoken(n, true)
	l, ok := markdownLink(destination, shown, embed)
	if !ok {
		b.WriteString(shown)
		return
	}
	w.add(markup{link: &l}, n.Pos())
	if named, _ := l.display(); !plain {
		shown = named
	}
	b.WriteString(shown)
}

// rawBreak makes <br> the space that it looks like.
func rawBreak(tag *text.Segments, src []byte) string {
	if first := tag.At(0); bytes.HasPrefix(first.Value(src), []byte("<br")) {
		return " "
	}
	return ""
}

// stripTags returns what is left of HTML without tags and comments.
func stripTags(raw []byte) string {
	var b bytes.Buffer
	for {
		before, tag, found := bytes.Cut(raw, []byte("<"))
		b.Write(before)
		if !found {
			return unescape(b.Bytes())
		}
		end := []byte(">")
		if bytes.HasPrefix(tag, []byte("!--")) {
			end = []byte("-->")
		}
		_, rest, closed := bytes.Cut(tag, end)
		if !closed {
			return unescape(b.Bytes())
		}
		b.WriteByte(' ')
		raw = rest
	}
}

package manual

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Markdown writes what our documents are made of: headings, paragraphs, numbered lists and
// tables. Anything else is an error that names it, so that nothing is left out in silence.
//
// A table becomes entries, one a row, its first cell the term. If the heading of that column
// is empty, the other cells stand below with their headings; else the last cell is what is
// said of the term, and those between follow with theirs.
func (p *Page) Markdown(source []byte) error {
	m := markdown{page: p, source: source}
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil && m.err == nil; n = n.NextSibling() {
		m.block(n)
	}
	return m.err
}

type markdown struct {
	page   *Page
	source []byte
	begun  bool // a paragraph comes apart from what was before
	err    error
}

func (m *markdown) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		m.page.Heading(string(n.Lines().Value(m.source)))
		m.begun = false
		return
	case *ast.Paragraph:
		if m.begun {
			m.page.b.WriteString(".PP\n")
		}
		m.page.prose(m.inline(n))
	case *ast.List:
		m.list(n)
	case *east.Table:
		m.table(n)
	default:
		m.err = fmt.Errorf("cannot convert %s to a manual page", n.Kind())
	}
	m.begun = true
}

func (m *markdown) list(l *ast.List) {
	at := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		mark := `\(bu`
		if l.IsOrdered() {
			mark = fmt.Sprint(at, ".")
			at++
		}
		fmt.Fprintf(&m.page.b, ".IP %s 4\n", mark)
		for part := item.FirstChild(); part != nil; part = part.NextSibling() {
			m.page.prose(m.inline(part))
		}
	}
}

func (m *markdown) table(t *east.Table) {
	var heads []string
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, m.inline(cell))
		}
		if heads == nil {
			heads = cells
			continue
		}
		m.row(heads, cells)
	}
}

func (m *markdown) row(heads, cells []string) {
	last := len(cells) - 1
	m.page.b.WriteString(".TP\n" + guard(strings.ReplaceAll(cells[0], `\fR, \fB`, ", ")) + "\n")
	if heads[0] != "" {
		m.page.prose(cells[last])
		last--
	}
	for i := 1; i <= last; i++ {
		if i > 1 || heads[0] != "" {
			m.page.b.WriteString(".br\n")
		}
		m.page.prose(heads[i] + ": " + cells[i])
	}
}

// inline returns the text of a node, names in bold, as roff.
func (m *markdown) inline(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(escape(string(c.Segment.Value(m.source))))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteString(" ")
			}
		case *ast.CodeSpan:
			b.WriteString(`\fB` + m.inline(c) + `\fR`)
		default:
			m.err = fmt.Errorf("cannot convert %s to a manual page", c.Kind())
		}
	}
	return b.String()
}

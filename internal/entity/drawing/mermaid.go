package drawing

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"emberd/op"
)

// Mermaid writes the graph as a flowchart.
func Mermaid(w io.Writer, g *op.KnowledgeResult) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	names := handles(g)
	for _, n := range g.Nodes {
		left, right := mermaidShape(n.Kind)
		fmt.Fprintf(&b, "  %s%s\"%s\"%s\n", names[n.ID], left, mermaidText(n.Label), right)
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		arrow := "-->"
		if e.Type == "mentioned_with" {
			arrow = "---"
		}
		fmt.Fprintf(&b, "  %s %s|\"%s\"| %s\n", names[e.From], arrow, mermaidText(caption(e)), names[e.To])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func mermaidShape(kind string) (left, right string) {
	switch kind {
	case "memory":
		return "[", "]"
	case "note":
		return "[/", "/]"
	}
	return "([", "])"
}

// mermaidText writes every sign that could mean something as the entity of its code
// point, which is what Mermaid has in place of escapes. No text at all is a space.
func mermaidText(label string) string {
	var b strings.Builder
	for _, r := range oneLine(label) {
		if r < unicode.MaxASCII && r != ' ' && r != ',' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return " "
	}
	return b.String()
}

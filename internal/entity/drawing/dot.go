package drawing

import (
	"fmt"
	"io"
	"strings"

	"emberd/op"
)

// DOT writes the graph for Graphviz.
func DOT(w io.Writer, g *op.KnowledgeResult) error {
	var b strings.Builder
	b.WriteString("digraph emberd {\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", " +
		"fontsize=10];\n")
	names := handles(g)
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s [label=%s, shape=%s];\n", names[n.ID], dotText(n.Label), dotShape(n.Kind))
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		direction := ""
		if e.Type == "mentioned_with" {
			direction = ", dir=none"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s, weight=%d%s];\n", names[e.From], names[e.To], dotText(caption(e)),
			max(1, int(e.Weight)), direction)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func dotShape(kind string) string {
	switch kind {
	case "memory":
		return "box"
	case "note":
		return "note"
	}
	return "ellipse"
}

// dotText returns a string in quotes. In a label a backslash begins an escape and an ampersand
// an entity of HTML.
func dotText(label string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`).Replace(oneLine(label)) + `"`
}

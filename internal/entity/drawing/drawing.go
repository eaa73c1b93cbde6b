// Package drawing writes a knowledge graph in the formats that other programs draw: the
// DOT of Graphviz (https://graphviz.org/doc/info/lang.html), a flowchart of Mermaid
// (https://mermaid.js.org/syntax/flowchart.html) and GraphML
// (http://graphml.graphdrawing.org/primer/graphml-primer.html).
//
// Labels are stored text. The package guarantees that none of them ends its quotes, adds a
// node or is read as markup, and that those of GraphML can be read back, except for characters
// that XML cannot contain.
//
// Equal graphs give equal bytes. The package has no state, so any number of goroutines can
// call its functions.
package drawing

import (
	"fmt"
	"strings"
	"unicode"

	"emberd/op"
)

// handles returns short names of the nodes, by their IDs.
func handles(g *op.KnowledgeResult) map[string]string {
	out := make(map[string]string, len(g.Nodes))
	for i, n := range g.Nodes {
		out[n.ID] = fmt.Sprintf("n%d", i)
	}
	return out
}

// caption returns what an edge is: the kind of a relation in its own words.
func caption(e *op.KnowledgeEdge) string {
	text := e.Type
	if e.Kind != "" {
		text = e.Kind
	}
	return strings.ReplaceAll(text, "_", " ")
}

// oneLine returns a label without line ends, control characters and what SVG cannot hold.
func oneLine(label string) string {
	label = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case r == '\ufffe', r == '\uffff':
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(label, "\ufffd"))
	return strings.TrimSpace(label)
}

package drawing

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"time"

	"emberd/op"
)

// document is a file of GraphML.
type document struct {
	XMLName xml.Name `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
	Keys    []key    `xml:"key"`
	Graph   graph    `xml:"graph"`
}

type key struct {
	ID   string `xml:"id,attr"`
	For  string `xml:"for,attr"`
	Name string `xml:"attr.name,attr"`
	Type string `xml:"attr.type,attr"`
}

type graph struct {
	ID      string `xml:"id,attr"`
	Default string `xml:"edgedefault,attr"`
	Nodes   []node `xml:"node"`
	Edges   []edge `xml:"edge"`
}

type node struct {
	ID   string `xml:"id,attr"`
	Data []data `xml:"data"`
}

type edge struct {
	Source   string `xml:"source,attr"`
	Target   string `xml:"target,attr"`
	Directed bool   `xml:"directed,attr"`
	Data     []data `xml:"data"`
}

type data struct {
	Key  string `xml:"key,attr"`
	Text string `xml:",chardata"`
}

// keys returns what nodes and edges say of themselves. An id is n or e and the name.
func keys() []key {
	return []key{
		{"nid", "node", "id", "string"}, {"nkind", "node", "kind", "string"}, {"nlabel", "node", "label", "string"},
		{"nmentions", "node", "mention_count", "int"}, {"nat", "node", "at", "string"},
		{"etype", "edge", "type", "string"}, {"ekind", "edge", "kind", "string"},
		{"eweight", "edge", "weight", "double"},
	}
}

// GraphML writes the graph with everything that it says, for Gephi, yEd, Cytoscape and
// what else reads that.
func GraphML(w io.Writer, g *op.KnowledgeResult) error {
	doc := document{Keys: keys(), Graph: graph{ID: "emberd", Default: "directed"}}
	names := handles(g)
	for _, n := range g.Nodes {
		out := node{ID: names[n.ID], Data: []data{{"nid", n.ID}, {"nkind", n.Kind}, {"nlabel", n.Label}}}
		if n.Mentions > 0 {
			out.Data = append(out.Data, data{"nmentions", strconv.Itoa(n.Mentions)})
		}
		if !n.At.IsZero() {
			out.Data = append(out.Data, data{"nat", n.At.Format(time.RFC3339)})
		}
		doc.Graph.Nodes = append(doc.Graph.Nodes, out)
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		out := edge{Source: names[e.From], Target: names[e.To], Directed: e.Type != "mentioned_with",
			Data: []data{{"etype", e.Type}, {"eweight", strconv.FormatFloat(e.Weight, 'g', -1, 64)}}}
		if e.Kind != "" {
			out.Data = append(out.Data, data{"ekind", e.Kind})
		}
		doc.Graph.Edges = append(doc.Graph.Edges, out)
	}
	text, err := xml.MarshalIndent(&doc, "", "  ")
	if err != nil {
		return fmt.Errorf("write the graph as XML: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

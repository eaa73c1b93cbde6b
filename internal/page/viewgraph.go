package page

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"emberd/op"
)

// Bounds of a drawing.
const (
	maxNodes   = 300
	startNodes = 60 // without a place to begin
	maxLabel   = 60 // characters
)

// graph is the surroundings of one thing, or what is mentioned most.
type graph struct {
	Of        string
	About     string // how the thing is called
	Nodes     []node
	Links     []edge
	Truncated bool
	Partial   bool
}

// node is a memory, a note or an entity.
type node struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Label string `json:"label"`
	Href  string `json:"href"`
}

// edge leads from one node to another; both are places in the list of nodes.
type edge struct {
	From int    `json:"source"`
	To   int    `json:"target"`
	Type string `json:"type"`
}

// JSON is the graph as an attribute contains it.
func (g graph) JSON() (string, error) {
	b, err := json.Marshal(map[string]any{"nodes": g.Nodes, "links": g.Links, "about": g.About})
	return string(b), err
}

// Name returns the label of a node by its place.
func (g graph) Name(i int) string { return g.Nodes[i].Label }

func viewGraph(ctx context.Context, p *Page, r *http.Request) (any, error) {
	of := strings.TrimSpace(r.URL.Query().Get("of"))
	req := &op.KnowledgeRequest{Of: strings.TrimPrefix(strings.TrimPrefix(of, "entity:"), "note:"), Limit: startNodes}
	if of != "" {
		req.Depth, req.Limit = 2, maxNodes
	}
	res, err := op.Knowledge.Call(ctx, p.backend, req)
	if err != nil {
		return nil, err
	}
	g := graph{Of: of, About: of, Truncated: res.Truncated, Partial: res.Partial, Nodes: []node{}, Links: []edge{}}
	places := map[string]int{}
	for i, n := range res.Nodes {
		places[n.ID] = i
		if n.ID == of || n.ID == req.Of {
			g.About = gistOf(n.Label, maxLabel)
		}
		g.Nodes = append(g.Nodes, node{n.ID, n.Kind, gistOf(n.Label, maxLabel), "/graph?of=" + url.QueryEscape(n.ID)})
	}
	for _, e := range res.Edges {
		from, ok1 := places[e.From]
		to, ok2 := places[e.To]
		if ok1 && ok2 {
			g.Links = append(g.Links, edge{from, to, strings.ReplaceAll(e.Type, "_", " ")})
		}
	}
	return g, nil
}

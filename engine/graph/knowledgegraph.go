package graph

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/entity/knowledge"
	"emberd/memory"
	"emberd/op"
)

// Limits of a knowledge graph, and the types of its edges that are not relations.
const (
	knowledgeNodes = 100
	maxKnowledge   = 1_000
	maxDepth       = 3

	mentionsIt = "mentions"
	isAbout    = "about"
)

// Prefixes of the IDs of nodes that are not memories.
const (
	notePrefix   = "note:"
	entityPrefix = "entity:"
)

// Knowledge returns the part of the graph around a node, or the entities with the most
// mentions.
func (e *Graph) Knowledge(ctx context.Context, req *op.KnowledgeRequest) (*op.KnowledgeResult, error) {
	depth, limit := cmp.Or(req.Depth, 1), cmp.Or(req.Limit, knowledgeNodes)
	err := core.FirstError(
		memory.CheckRange("depth", float64(depth), 1, maxDepth),
		memory.CheckRange("limit", float64(limit), 1, maxKnowledge),
		core.CheckQuery(req.Of),
		core.CheckNames(core.Name{Field: "project", Value: req.Project}),
	)
	if err != nil {
		return nil, err
	}
	d := graphBuilder{e: e, g: e.GraphSoon(ctx), project: req.Project, limit: limit,
		res: &op.KnowledgeResult{Nodes: []op.KnowledgeNode{}, Edges: []op.KnowledgeEdge{}, Partial: e.Partial()},
		at:  make(map[node]bool), drawn: make(map[edgeKey]bool)}
	if strings.TrimSpace(req.Of) == "" {
		d.addMost()
	} else {
		start, err := d.find(ctx, strings.TrimSpace(req.Of))
		if err != nil {
			return nil, err
		}
		d.addAround(start, depth)
	}
	d.edges()
	return d.res, nil
}

// node is a node of the graph: a memory, a note or an entity.
type node struct {
	knowledge.Ref
	entity string
}

func (k node) id() string {
	switch {
	case k.entity != "":
		return entityPrefix + k.entity
	case k.Path != "":
		return notePrefix + k.Path
	}
	return string(k.ID)
}

// edge is an edge between two nodes.
type edge struct {
	from, to  node
	typ, kind string
	weight    float64
}

// edgeKey identifies an edge.
type edgeKey struct{ from, to, typ, kind string }

// graphBuilder builds one answer.
type graphBuilder struct {
	e       *Graph
	g       *knowledge.Graph
	project string
	limit   int
	res     *op.KnowledgeResult
	at      map[node]bool
	nodes   []node // in the order of the nodes
	drawn   map[edgeKey]bool
}

// find returns the node for a text: an entity by its name, a memory by its ID, a note by its
// path or name.
func (d *graphBuilder) find(ctx context.Context, of string) (node, error) {
	if called, ok := strings.CutPrefix(of, entityPrefix); ok {
		of = called
	}
	if note, ok := strings.CutPrefix(of, notePrefix); ok {
		return d.findNote(ctx, note)
	}
	if known, ok := d.g.Entity(of); ok {
		return node{entity: known.Name}, nil
	}
	row, err := d.e.Find(of)
	switch {
	case err == nil:
		return node{Ref: knowledge.Ref{ID: row.ID()}}, nil
	case memory.CodeOf(err) == memory.Ambiguous:
		return node{}, err
	}
	if start, err := d.findNote(ctx, of); err == nil {
		return start, nil
	}
	return node{}, memory.Errorf(memory.NotFound,
		"memory, note or entity %.100q not found; run: emberd list --entities", of).At("of")
}

func (d *graphBuilder) findNote(ctx context.Context, note string) (node, error) {
	if err := d.e.Notes.NeedVault(); err != nil {
		return node{}, err
	}
	name, err := d.e.Notes.NotePath(ctx, note)
	return node{Ref: knowledge.Ref{Path: name}}, err
}

// add adds a node, unless the limit is reached.
func (d *graphBuilder) add(k node) bool {
	if d.at[k] {
		return true
	}
	node, ok := d.node(k)
	if !ok {
		return false
	}
	if len(d.nodes) >= d.limit {
		d.res.Truncated = true
		return false
	}
	d.at[k] = true
	d.nodes = append(d.nodes, k)
	d.res.Nodes = append(d.res.Nodes, node)
	return true
}

func (d *graphBuilder) node(k node) (op.KnowledgeNode, bool) {
	out := op.KnowledgeNode{ID: k.id()}
	switch {
	case k.entity != "":
		known, ok := d.g.Entity(k.entity)
		out.Kind, out.Label, out.Mentions, out.At = "entity", known.Name, known.Mentions, known.LastSeen
		return out, ok
	case k.Path != "":
		out.Kind, out.Label = "note", strings.TrimSuffix(path.Base(k.Path), ".md")
		out.At = d.g.Made(k.Ref)
		return out, true
	}
	row, ok := d.e.Stm.Get(k.ID)
	if !ok || d.project != "" && row.Project() != d.project {
		return out, false
	}
	out.Kind, out.Label, out.At = "memory", core.BeginningOf(row.Content()), row.CreatedAt()
	return out, true
}

// addMost adds the entities with the most mentions, without those that almost everything
// mentions.
func (d *graphBuilder) addMost() {
	page, total := d.g.List(knowledge.Listing{Project: d.project, Order: knowledge.ByMentions, Limit: d.limit,
		Telling: true})
	for i := range page {
		d.add(node{entity: page[i].Name})
	}
	d.res.Truncated = total > len(page)
}

// addAround adds the nodes within so many steps, nearer ones first. It does not continue from
// entities that almost everything mentions.
func (d *graphBuilder) addAround(start node, depth int) {
	d.add(start)
	for done := 0; depth > 0; depth-- {
		end := len(d.nodes)
		for ; done < end; done++ {
			if k := d.nodes[done]; done == 0 || !d.common(k) {
				for _, s := range d.edgesAt(k) {
					d.add(s.from)
					d.add(s.to)
				}
			}
		}
	}
}

func (d *graphBuilder) common(k node) bool {
	known, ok := d.g.Entity(k.entity)
	return ok && known.Common
}

// edges adds all edges between the nodes.
func (d *graphBuilder) edges() {
	var names []string
	for i, k := range d.nodes {
		if k.entity == "" {
			d.draw(d.edgesAt(k))
			continue
		}
		names = append(names, k.entity)
		if i == 0 || !d.common(k) {
			d.draw(d.relationsOf(k))
		}
	}
	for _, p := range d.g.Among(names, d.project) {
		d.draw([]edge{undirected(node{entity: p.A}, node{entity: p.B}, float64(p.Weight))})
	}
	slices.SortFunc(d.res.Edges, func(a, b op.KnowledgeEdge) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), strings.Compare(a.Type, b.Type),
			strings.Compare(a.Kind, b.Kind))
	})
}

// draw adds the edges whose two nodes are in the answer, each once.
func (d *graphBuilder) draw(strands []edge) {
	for _, s := range strands {
		key := edgeKey{s.from.id(), s.to.id(), s.typ, s.kind}
		if !d.at[s.from] || !d.at[s.to] || d.drawn[key] {
			continue
		}
		d.drawn[key] = true
		d.res.Edges = append(d.res.Edges,
			op.KnowledgeEdge{From: key.from, To: key.to, Type: s.typ, Kind: s.kind, Weight: s.weight})
	}
}

package engine

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"emberd/internal/knowledge"
	"emberd/memory"
	"emberd/op"
)

// Bounds of a knowledge graph, and the types of its edges that are not relations.
const (
	knowledgeNodes = 100
	mostKnowledge  = 1_000
	mostDepth      = 3

	mentionsIt = "mentions"
	isAbout    = "about"
)

// How nodes are called that are no memories.
const (
	notePrefix   = "note:"
	entityPrefix = "entity:"
)

// knowledge gives the part of the graph around something, or what is mentioned most.
func (e *Engine) knowledge(ctx context.Context, req *op.KnowledgeRequest) (*op.KnowledgeResult, error) {
	depth, limit := cmp.Or(req.Depth, 1), cmp.Or(req.Limit, knowledgeNodes)
	err := firstError(
		memory.CheckRange("depth", float64(depth), 1, mostDepth),
		memory.CheckRange("limit", float64(limit), 1, mostKnowledge),
		checkQuery(req.Of),
		checkNames(name{"project", req.Project}),
	)
	if err != nil {
		return nil, err
	}
	d := drawing{e: e, g: e.graphSoon(ctx), project: req.Project, limit: limit,
		res: &op.KnowledgeResult{Nodes: []op.KnowledgeNode{}, Edges: []op.KnowledgeEdge{}, Partial: e.partial()},
		at:  make(map[knot]bool), drawn: make(map[edgeKey]bool)}
	if strings.TrimSpace(req.Of) == "" {
		d.most()
	} else {
		start, err := d.find(ctx, strings.TrimSpace(req.Of))
		if err != nil {
			return nil, err
		}
		d.around(start, depth)
	}
	d.edges()
	return d.res, nil
}

// knot is a node of the graph: one of a memory, a note and an entity.
type knot struct {
	knowledge.Ref
	entity string
}

func (k knot) id() string {
	switch {
	case k.entity != "":
		return entityPrefix + k.entity
	case k.Path != "":
		return notePrefix + k.Path
	}
	return string(k.ID)
}

// strand leads from one node to another.
type strand struct {
	from, to  knot
	typ, kind string
	weight    float64
}

// edgeKey tells edges apart.
type edgeKey struct{ from, to, typ, kind string }

// drawing is one answer under way.
type drawing struct {
	e       *Engine
	g       *knowledge.Graph
	project string
	limit   int
	res     *op.KnowledgeResult
	at      map[knot]bool
	knots   []knot // in the order of the nodes
	drawn   map[edgeKey]bool
}

// find tells what somebody means: an entity by its name, a memory by its id, a note by
// its path or name.
func (d *drawing) find(ctx context.Context, of string) (knot, error) {
	if called, ok := strings.CutPrefix(of, entityPrefix); ok {
		of = called
	}
	if note, ok := strings.CutPrefix(of, notePrefix); ok {
		return d.findNote(ctx, note)
	}
	if known, ok := d.g.Entity(of); ok {
		return knot{entity: known.Name}, nil
	}
	row, err := d.e.find(of)
	switch {
	case err == nil:
		return knot{Ref: knowledge.Ref{ID: row.ID()}}, nil
	case memory.CodeOf(err) == memory.Ambiguous:
		return knot{}, err
	}
	if start, err := d.findNote(ctx, of); err == nil {
		return start, nil
	}
	return knot{}, memory.Errorf(memory.NotFound, "there is no memory, note or entity %.100q; emberd entities lists the entities there are", of).At("of")
}

func (d *drawing) findNote(ctx context.Context, note string) (knot, error) {
	if err := d.e.needVault(); err != nil {
		return knot{}, err
	}
	name, err := d.e.notePath(ctx, note)
	return knot{Ref: knowledge.Ref{Path: name}}, err
}

// add takes a node in unless there are as many as were asked for.
func (d *drawing) add(k knot) bool {
	if d.at[k] {
		return true
	}
	node, ok := d.node(k)
	if !ok {
		return false
	}
	if len(d.knots) >= d.limit {
		d.res.Truncated = true
		return false
	}
	d.at[k] = true
	d.knots = append(d.knots, k)
	d.res.Nodes = append(d.res.Nodes, node)
	return true
}

func (d *drawing) node(k knot) (op.KnowledgeNode, bool) {
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
	row, ok := d.e.stm.Get(k.ID)
	if !ok || d.project != "" && row.Project() != d.project {
		return out, false
	}
	out.Kind, out.Label, out.At = "memory", beginningOf(row.Content()), row.CreatedAt()
	return out, true
}

// most takes in what is mentioned most, but for what nearly everything mentions.
func (d *drawing) most() {
	page, total := d.g.List(knowledge.Listing{Project: d.project, Order: knowledge.ByMentions, Limit: d.limit, Telling: true})
	for i := range page {
		d.add(knot{entity: page[i].Name})
	}
	d.res.Truncated = total > len(page)
}

// around takes in what is so many steps away, nearer nodes first. What nearly everything
// mentions leads nowhere.
func (d *drawing) around(start knot, depth int) {
	d.add(start)
	for done := 0; depth > 0; depth-- {
		end := len(d.knots)
		for ; done < end; done++ {
			if k := d.knots[done]; done == 0 || !d.common(k) {
				for _, s := range d.strands(k) {
					d.add(s.from)
					d.add(s.to)
				}
			}
		}
	}
}

func (d *drawing) common(k knot) bool {
	known, ok := d.g.Entity(k.entity)
	return ok && known.Common
}

// edges are all those between the nodes.
func (d *drawing) edges() {
	var names []string
	for i, k := range d.knots {
		if k.entity == "" {
			d.draw(d.strands(k))
			continue
		}
		names = append(names, k.entity)
		if i == 0 || !d.common(k) {
			d.draw(d.relationsOf(k))
		}
	}
	for _, p := range d.g.Among(names, d.project) {
		d.draw([]strand{both(knot{entity: p.A}, knot{entity: p.B}, float64(p.Weight))})
	}
	slices.SortFunc(d.res.Edges, func(a, b op.KnowledgeEdge) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), strings.Compare(a.Type, b.Type), strings.Compare(a.Kind, b.Kind))
	})
}

// draw takes in the edges that lead between nodes, each once.
func (d *drawing) draw(strands []strand) {
	for _, s := range strands {
		key := edgeKey{s.from.id(), s.to.id(), s.typ, s.kind}
		if !d.at[s.from] || !d.at[s.to] || d.drawn[key] {
			continue
		}
		d.drawn[key] = true
		d.res.Edges = append(d.res.Edges, op.KnowledgeEdge{From: key.from, To: key.to, Type: s.typ, Kind: s.kind, Weight: s.weight})
	}
}

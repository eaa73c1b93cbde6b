package graph

import (
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/entity/knowledge"
	"emberd/memory"
)

// maxNeighbors is how many entities mentioned together with one are its neighbors.
const maxNeighbors = 20

// edgesAt returns the edges at a node, strongest first.
func (d *graphBuilder) edgesAt(k node) []edge {
	switch {
	case k.entity != "":
		return d.ofEntity(k)
	case k.Path != "":
		return d.ofNote(k)
	}
	return d.ofMemory(k)
}

func (d *graphBuilder) ofEntity(k node) []edge {
	known, ok := d.g.Entity(k.entity)
	if !ok {
		return nil
	}
	var out []edge
	for _, ref := range known.About {
		out = append(out, edge{from: node{Ref: ref}, to: k, typ: isAbout, weight: 1})
	}
	out = append(out, d.relationsOf(k)...)
	for _, t := range d.g.Together(k.entity, d.project, maxNeighbors, known.Common) {
		out = append(out, undirected(k, node{entity: t.Name}, float64(t.Weight)))
	}
	for _, ref := range d.g.Mentioning(k.entity, d.project, d.limit+1) {
		out = append(out, edge{from: node{Ref: ref}, to: k, typ: mentionsIt, weight: 1})
	}
	return out
}

// relationsOf returns the relations of an entity as edges.
func (d *graphBuilder) relationsOf(k node) []edge {
	known, _ := d.g.Entity(k.entity)
	var out []edge
	for _, r := range d.e.derivedRelations(d.g, &known, d.project) {
		s := edge{from: k, to: node{entity: r.Name}, typ: r.Type, weight: r.Weight}
		if r.Incoming {
			s.from, s.to = s.to, s.from
		}
		out = append(out, s)
	}
	return out
}

// undirected returns an edge without direction, which is drawn once.
func undirected(a, b node, weight float64) edge {
	if strings.Compare(b.entity, a.entity) < 0 {
		a, b = b, a
	}
	return edge{from: a, to: b, typ: mentionedWith, weight: weight}
}

func (d *graphBuilder) ofNote(k node) []edge {
	names, about := d.g.Named(k.Ref)
	out := d.named(k, names, about)
	for _, name := range names {
		known, ok := d.g.Entity(name)
		if to := noteAbout(&known); ok && to != "" && to != k.Path {
			out = append(out, edge{from: k, to: node{Ref: knowledge.Ref{Path: to}}, typ: linksTo, weight: 1})
		}
	}
	return out
}

// named returns the edges from a document to the entities that it is about or mentions.
func (d *graphBuilder) named(k node, names []string, about string) []edge {
	var out []edge
	if about != "" {
		out = append(out, edge{from: k, to: node{entity: about}, typ: isAbout, weight: 1})
	}
	for _, name := range names {
		if name == about {
			continue
		}
		out = append(out, edge{from: k, to: node{entity: name}, typ: mentionsIt, weight: 1})
	}
	return out
}

func (d *graphBuilder) ofMemory(k node) []edge {
	row, ok := d.e.Stm.Get(k.ID)
	if !ok {
		return nil
	}
	var out []edge
	relations := d.e.Stm.Relations(row)
	to, _ := d.e.Stm.RelationsTo(k.ID, maxLookedAt)
	for _, r := range slices.Concat(relations, to) {
		out = append(out,
			edge{from: memoryNode(r.From), to: memoryNode(r.To), typ: r.Type, kind: r.Kind, weight: r.Strength})
	}
	said := func(r memory.Relation) bool { return r.Kind == core.KindSupersedes && r.To == k.ID }
	if m, err := row.Memory(); err == nil && m.SupersededBy != "" && !slices.ContainsFunc(to, said) {
		out = append(out, edge{from: k, to: memoryNode(m.SupersededBy), typ: core.SupersededBy, weight: 1})
	}
	names, about := d.g.Named(k.Ref)
	return append(out, d.named(k, names, about)...)
}

func memoryNode(id memory.ID) node { return node{Ref: knowledge.Ref{ID: id}} }

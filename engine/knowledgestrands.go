package engine

import (
	"slices"
	"strings"

	"emberd/internal/knowledge"
	"emberd/memory"
)

// mostBeside is how many entities that are mentioned with one lead away from it.
const mostBeside = 20

// strands are the edges at a node, those that say most first.
func (d *drawing) strands(k knot) []strand {
	switch {
	case k.entity != "":
		return d.ofEntity(k)
	case k.Path != "":
		return d.ofNote(k)
	}
	return d.ofMemory(k)
}

func (d *drawing) ofEntity(k knot) []strand {
	known, ok := d.g.Entity(k.entity)
	if !ok {
		return nil
	}
	var out []strand
	for _, ref := range known.About {
		out = append(out, strand{from: knot{Ref: ref}, to: k, typ: isAbout, weight: 1})
	}
	out = append(out, d.relationsOf(k)...)
	for _, t := range d.g.Together(k.entity, d.project, mostBeside, known.Common) {
		out = append(out, both(k, knot{entity: t.Name}, float64(t.Weight)))
	}
	for _, ref := range d.g.Mentioning(k.entity, d.project, d.limit+1) {
		out = append(out, strand{from: knot{Ref: ref}, to: k, typ: mentionsIt, weight: 1})
	}
	return out
}

// relationsOf are the relations of an entity to others.
func (d *drawing) relationsOf(k knot) []strand {
	known, _ := d.g.Entity(k.entity)
	var out []strand
	for _, r := range d.e.lifted(d.g, &known, d.project) {
		s := strand{from: k, to: knot{entity: r.Name}, typ: r.Type, weight: r.Weight}
		if r.Incoming {
			s.from, s.to = s.to, s.from
		}
		out = append(out, s)
	}
	return out
}

// both is an edge that leads either way, and is drawn once.
func both(a, b knot, weight float64) strand {
	if strings.Compare(b.entity, a.entity) < 0 {
		a, b = b, a
	}
	return strand{from: a, to: b, typ: mentionedWith, weight: weight}
}

func (d *drawing) ofNote(k knot) []strand {
	names, about := d.g.Named(k.Ref)
	out := d.named(k, names, about)
	for _, name := range names {
		known, ok := d.g.Entity(name)
		if to := noteAbout(&known); ok && to != "" && to != k.Path {
			out = append(out, strand{from: k, to: knot{Ref: knowledge.Ref{Path: to}}, typ: linksTo, weight: 1})
		}
	}
	return out
}

// named are the edges from a document to what it is about and what it mentions.
func (d *drawing) named(k knot, names []string, about string) []strand {
	var out []strand
	if about != "" {
		out = append(out, strand{from: k, to: knot{entity: about}, typ: isAbout, weight: 1})
	}
	for _, name := range names {
		if name == about {
			continue
		}
		out = append(out, strand{from: k, to: knot{entity: name}, typ: mentionsIt, weight: 1})
	}
	return out
}

func (d *drawing) ofMemory(k knot) []strand {
	row, ok := d.e.stm.Get(k.ID)
	if !ok {
		return nil
	}
	var out []strand
	relations := d.e.stm.Relations(row)
	to, _ := d.e.stm.RelationsTo(k.ID, mostLookedAt)
	for _, r := range slices.Concat(relations, to) {
		out = append(out, strand{from: memoryKnot(r.From), to: memoryKnot(r.To), typ: r.Type, kind: r.Kind, weight: r.Strength})
	}
	said := func(r memory.Relation) bool { return r.Kind == kindSupersedes && r.To == k.ID }
	if m, err := row.Memory(); err == nil && m.SupersededBy != "" && !slices.ContainsFunc(to, said) {
		out = append(out, strand{from: k, to: memoryKnot(m.SupersededBy), typ: supersededBy, weight: 1})
	}
	names, about := d.g.Named(k.Ref)
	return append(out, d.named(k, names, about)...)
}

func memoryKnot(id memory.ID) knot { return knot{Ref: knowledge.Ref{ID: id}} }

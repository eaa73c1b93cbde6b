package search

import (
	"context"
	"slices"

	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/internal/entity/knowledge"
	"emberd/internal/query"
	"emberd/stm"
)

// nameMatcher selects by the entities that a query requires or excludes.
type nameMatcher struct {
	must, not []knowledge.Judge
	carriers  *notes.NoteIDs // nil without a vault
	partial   bool           // notes may be missing
}

// naming returns nil for a query without entities.
func (e *Search) naming(q *query.Query) *nameMatcher {
	if len(q.Must.Entities)+len(q.Not.Entities) == 0 {
		return nil
	}
	g := e.Graph.GraphSoon(context.Background())
	n := &nameMatcher{must: judges(g, q.Must.Entities), not: judges(g, q.Not.Entities), partial: e.Graph.Partial()}
	if e.Notes.Vault != nil {
		n.carriers = e.Notes.Vault.Carriers
	}
	return n
}

func judges(g *knowledge.Graph, names []string) []knowledge.Judge {
	var out []knowledge.Judge
	for _, name := range names {
		out = append(out, g.Judge(name))
	}
	return out
}

func (n *nameMatcher) accepts(holds func(knowledge.Judge) bool) bool {
	return !slices.ContainsFunc(n.must, func(j knowledge.Judge) bool { return !holds(j) }) &&
		!slices.ContainsFunc(n.not, holds)
}

// acceptsMemory checks a memory; one of an earlier moment by the names that it had then.
func (n *nameMatcher) acceptsMemory(r *stm.Row, present bool) bool {
	if present {
		return n.holdsFor(knowledge.Ref{ID: r.ID()})
	}
	doc := graph.DocOfMemory(r)
	named := slices.Concat(doc.Names, doc.Tags)
	return n.accepts(func(j knowledge.Judge) bool { return j.AmongNames(named) })
}

// acceptsNote checks a note; the note of a memory by the memory.
func (n *nameMatcher) acceptsNote(path string) bool {
	if id, ok := n.carriers.At(path); ok {
		return n.holdsFor(knowledge.Ref{ID: id})
	}
	return n.holdsFor(knowledge.Ref{Path: path})
}

func (n *nameMatcher) holdsFor(r knowledge.Ref) bool {
	return n.accepts(func(j knowledge.Judge) bool { return j.Holds(r) })
}

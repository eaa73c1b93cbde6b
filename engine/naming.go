package engine

import (
	"context"
	"slices"

	"emberd/internal/knowledge"
	"emberd/internal/query"
	"emberd/stm"
)

// naming judges by the entities that a query asks for.
type naming struct {
	must, not []knowledge.Judge
	carriers  *carriers // nil without a vault
	partial   bool      // notes may be missing
}

// naming is nil for a query that asks for none.
func (e *Engine) naming(q *query.Query) *naming {
	if len(q.Must.Entities)+len(q.Not.Entities) == 0 {
		return nil
	}
	g := e.graphSoon(context.Background())
	n := &naming{must: judges(g, q.Must.Entities), not: judges(g, q.Not.Entities), partial: e.partial()}
	if e.notes != nil {
		n.carriers = e.notes.carriers
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

func (n *naming) accepts(holds func(knowledge.Judge) bool) bool {
	return !slices.ContainsFunc(n.must, func(j knowledge.Judge) bool { return !holds(j) }) && !slices.ContainsFunc(n.not, holds)
}

// acceptsMemory judges a memory: one of an earlier moment by what it named then.
func (n *naming) acceptsMemory(r *stm.Row, present bool) bool {
	if present {
		return n.holdsFor(knowledge.Ref{ID: r.ID()})
	}
	doc := docOfMemory(r)
	named := slices.Concat(doc.Names, doc.Tags)
	return n.accepts(func(j knowledge.Judge) bool { return j.AmongNames(named) })
}

// acceptsNote judges a note, that of a memory by the memory.
func (n *naming) acceptsNote(path string) bool {
	if id, ok := n.carriers.at(path); ok {
		return n.holdsFor(knowledge.Ref{ID: id})
	}
	return n.holdsFor(knowledge.Ref{Path: path})
}

func (n *naming) holdsFor(r knowledge.Ref) bool {
	return n.accepts(func(j knowledge.Judge) bool { return j.Holds(r) })
}

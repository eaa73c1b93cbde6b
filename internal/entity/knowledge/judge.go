package knowledge

import (
	"slices"

	"emberd/internal/entity"
)

// Judge tells which documents name an entity or are about it. It follows the graph.
type Judge struct {
	graph *Graph
	key   string
}

// Judge makes the judge of an entity by its name or an alias.
func (g *Graph) Judge(text string) Judge { return Judge{g, entity.Key(text)} }

// Holds reports whether a document names the entity or is about it.
func (j Judge) Holds(r Ref) bool {
	g := j.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	place, known := g.places[r]
	at, named := g.byKey[j.key]
	if !known || !named || !g.exists(g.names[at].entity) {
		return false
	}
	at = g.names[at].entity
	d := &g.docs[place]
	return slices.ContainsFunc(d.refs, func(m mention) bool { return g.names[m.name].entity == at }) ||
		len(d.claims) > 0 && g.names[d.claims[0]].entity == at
}

// AmongNames reports whether one of some names stands for the entity.
func (j Judge) AmongNames(names []string) bool {
	g := j.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	same := func(key string) (uint32, bool) {
		at, ok := g.byKey[key]
		if ok {
			at = g.names[at].entity
		}
		return at, ok
	}
	at, known := same(j.key)
	return slices.ContainsFunc(names, func(text string) bool {
		key := entity.Key(text)
		to, ok := same(key)
		return key == j.key && key != "" || known && ok && to == at
	})
}

// Same reports whether two names stand for one entity.
func (g *Graph) Same(a, b string) bool { return g.Judge(a).AmongNames([]string{b}) }

package learn

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/entity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// beginAt is at how many of the best memories the search for entities starts. It is the
	// same for every page, so that paging is stable.
	beginAt = 5
	// maxNamed is how many entities one query can name.
	maxNamed = 20
	// maxAround is how many entities are returned because the best memories name them.
	maxAround = 3
	// OneStep is the part of its relevance that a memory passes on to entities and related
	// memories. It is less than half, so that direct matches come first.
	OneStep = 0.4
)

// addEntities adds the entities that the query names, the matching ones that the best memories name,
// and the memories that relations of the best memories lead to.
func (q *queryRun) addEntities(ctx context.Context) error {
	share, err := q.a.Shares(ctx)
	if err != nil {
		return err
	}
	accept := q.a.Q.Filter.Accept()
	add := func(named op.Entity, relevance float64) {
		same := func(k op.QueryHit) bool {
			return k.Entity != nil && entity.Key(k.Entity.Name) == entity.Key(named.Name)
		}
		if relevance > 0 && !slices.ContainsFunc(q.known, same) && q.e.namedIn(named.Name, accept) {
			q.known = append(q.known, op.QueryHit{Scope: queryKnowledge, Relevance: relevance, Entity: &named})
		}
	}
	asked := q.a.Q.Query.Must.Entities
	for _, entity := range q.e.Graph.EntitiesFor(q.words(), maxNamed) {
		of := share(entity.Name)
		if slices.ContainsFunc(asked, func(name string) bool { return q.e.Graph.Entities.Same(name, entity.Name) }) {
			of = 1 // whatever the other words are
		}
		for _, alias := range entity.Aliases {
			of = max(of, share(alias))
		}
		add(entity, of)
	}
	begin := q.startMemories()
	named := len(q.known)
	for _, b := range begin {
		for _, name := range b.Hit.Entities {
			for _, entity := range q.e.Graph.EntitiesFor(name, 1) {
				if len(q.known) < named+maxAround {
					add(entity, OneStep*b.Relevance)
				}
			}
		}
	}
	if err := q.addRelated(begin); err != nil {
		return err
	}
	slices.SortStableFunc(q.known, func(x, y op.QueryHit) int { return cmp.Compare(y.Relevance, x.Relevance) })
	return nil
}

// words returns the query without its operators.
func (q *queryRun) words() string {
	parsed := q.a.Q.Query
	return strings.Join(slices.Concat([]string{parsed.Words}, parsed.Must.Phrases, parsed.Must.Entities), ". ")
}

// namedIn reports whether a memory that accept selects, nil for all, names the entity.
func (e *Learn) namedIn(name string, accept func(*stm.Row) bool) bool {
	if accept == nil {
		return true
	}
	return slices.ContainsFunc(e.Graph.GraphNow().MemoriesNaming(name), func(id memory.ID) bool {
		row, live := e.Stm.Get(id)
		return live && accept(row)
	})
}

// startMemories returns the best matching memories.
func (q *queryRun) startMemories() []op.QueryHit {
	var out []op.QueryHit
	for _, t := range q.texts {
		if t.Hit.Memory != nil && !t.Hit.Review && len(out) < beginAt {
			out = append(out, t)
		}
	}
	return out
}

// addRelated adds the memories that have a relation with the best ones. If the query includes
// notes, it leaves out memories that match themselves, because the search has them on this
// page or another.
func (q *queryRun) addRelated(begin []op.QueryHit) error {
	accept := q.a.Q.Filter.Accept()
	seen := make(map[memory.ID]bool)
	for _, b := range begin {
		seen[b.Hit.ID] = true
	}
	for _, b := range begin {
		row, live := q.e.Stm.Get(b.Hit.ID)
		if !live {
			continue
		}
		of := core.RelationsOf(&q.e.Stm.MemorySet, row)
		for _, r := range slices.Concat(of.Outgoing, of.Incoming) {
			id := r.To
			if id == b.Hit.ID {
				id = r.From
			}
			other, live := q.e.Stm.Get(id)
			if !live || seen[id] || accept != nil && !accept(other) || q.req.Scope != queryKnowledge &&
				q.matches(other) {
				continue
			}
			seen[id] = true
			if err := q.reached(other, r, OneStep*r.Strength*b.Relevance); err != nil {
				return err
			}
		}
	}
	return nil
}

// matches reports whether a memory contains any word of the query.
func (q *queryRun) matches(r *stm.Row) bool {
	return slices.ContainsFunc(core.Distinct(q.e.Text.Terms(r.Text())), func(t string) bool {
		_, asked := slices.BinarySearch(q.a.Q.Terms, t)
		return asked
	})
}

func (q *queryRun) reached(row *stm.Row, by memory.Relation, relevance float64) error {
	view, err := q.e.ListedIn(&q.e.Stm.MemorySet, row, q.a.Now)
	if err != nil {
		return err
	}
	hit := op.Hit{Tier: op.TierMemory, Memory: &view, Snippet: q.e.Search.Snippet(view.Content, q.a.Q.Terms)}
	q.known = append(q.known,
		op.QueryHit{Scope: queryKnowledge, Relevance: relevance, Hit: &hit, Via: &by, Source: sourceOf(&hit)})
	return nil
}

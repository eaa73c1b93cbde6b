package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"emberd/internal/entities"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// beginAt is how many of the best memories the knowledge scope looks around at. It is the
	// same for every page, so that paging is stable.
	beginAt = 5
	// mostNamed are the entities that one question can name.
	mostNamed = 20
	// mostAround are the entities that are shown because the best memories name them.
	mostAround = 3
	// oneStep is the part of its relevance that a memory passes on to what it names or leads
	// to: less than half, so that what matches comes first.
	oneStep = 0.4
)

// know looks up the entities that the question names, those that the best memories name
// that match it, and the memories that relations of these lead to.
func (q *querying) know(ctx context.Context) error {
	share, err := q.a.shares(ctx)
	if err != nil {
		return err
	}
	accept := q.a.q.filter.accept()
	add := func(entity op.Entity, relevance float64) {
		same := func(k op.QueryHit) bool {
			return k.Entity != nil && entities.Key(k.Entity.Name) == entities.Key(entity.Name)
		}
		if relevance > 0 && !slices.ContainsFunc(q.known, same) && q.e.namedIn(entity.Name, accept) {
			q.known = append(q.known, op.QueryHit{Scope: queryKnowledge, Relevance: relevance, Entity: &entity})
		}
	}
	asked := q.a.q.query.Must.Entities
	for _, entity := range q.e.entitiesFor(q.words(), mostNamed) {
		of := share(entity.Name)
		if slices.ContainsFunc(asked, func(name string) bool { return q.e.entities.Same(name, entity.Name) }) {
			of = 1 // whatever else was asked for
		}
		for _, alias := range entity.Aliases {
			of = max(of, share(alias))
		}
		add(entity, of)
	}
	begin := q.begin()
	named := len(q.known)
	for _, b := range begin {
		for _, name := range b.Hit.Entities {
			for _, entity := range q.e.entitiesFor(name, 1) {
				if len(q.known) < named+mostAround {
					add(entity, oneStep*b.Relevance)
				}
			}
		}
	}
	if err := q.follow(begin); err != nil {
		return err
	}
	slices.SortStableFunc(q.known, func(x, y op.QueryHit) int { return cmp.Compare(y.Relevance, x.Relevance) })
	return nil
}

// words are what was asked for without the operators.
func (q *querying) words() string {
	parsed := q.a.q.query
	return strings.Join(slices.Concat([]string{parsed.Words}, parsed.Must.Phrases, parsed.Must.Entities), ". ")
}

// shares says of a name how much of what was asked it holds.
func (a *asking) shares(ctx context.Context) (func(name string) float64, error) {
	c, err := a.e.corpus(ctx, a.q)
	if err != nil {
		return nil, memory.Errorf(memory.Internal, "search the note index: %w", err)
	}
	asked := a.weightOf(c)
	return func(name string) float64 {
		if asked == 0 {
			return 0
		}
		var held []op.TermExplain
		for _, t := range distinct(a.e.text.Terms(name)) {
			if i, ok := slices.BinarySearch(a.q.terms, t); ok {
				held = append(held, op.TermExplain{Term: t, IDF: a.idf(c, i)})
			}
		}
		return min(1, a.matched(held)/asked)
	}, nil
}

// namedIn reports whether a memory names an entity that a filter, nil for none, accepts.
func (e *Engine) namedIn(name string, accept func(*stm.Row) bool) bool {
	if accept == nil {
		return true
	}
	return slices.ContainsFunc(e.graphNow().MemoriesNaming(name), func(id memory.ID) bool {
		row, live := e.stm.Get(id)
		return live && accept(row)
	})
}

// begin are the best memories that match.
func (q *querying) begin() []op.QueryHit {
	var out []op.QueryHit
	for _, t := range q.texts {
		if t.Hit.Memory != nil && !t.Hit.Review && len(out) < beginAt {
			out = append(out, t)
		}
	}
	return out
}

// follow adds the memories that relations lead to from the best, or that lead to these.
// Beside notes it leaves out those that match themselves: they are found there, on this
// page or another.
func (q *querying) follow(begin []op.QueryHit) error {
	accept := q.a.q.filter.accept()
	seen := make(map[memory.ID]bool)
	for _, b := range begin {
		seen[b.Hit.ID] = true
	}
	for _, b := range begin {
		row, live := q.e.stm.Get(b.Hit.ID)
		if !live {
			continue
		}
		of := relationsOf(&q.e.stm.Memories, row)
		for _, r := range slices.Concat(of.Outgoing, of.Incoming) {
			id := r.To
			if id == b.Hit.ID {
				id = r.From
			}
			other, live := q.e.stm.Get(id)
			if !live || seen[id] || accept != nil && !accept(other) || q.req.Scope != queryKnowledge && q.matches(other) {
				continue
			}
			seen[id] = true
			if err := q.reached(other, r, oneStep*r.Strength*b.Relevance); err != nil {
				return err
			}
		}
	}
	return nil
}

// matches reports whether a memory holds any word of the question.
func (q *querying) matches(r *stm.Row) bool {
	return slices.ContainsFunc(distinct(q.e.text.Terms(r.Text())), func(t string) bool {
		_, asked := slices.BinarySearch(q.a.q.terms, t)
		return asked
	})
}

func (q *querying) reached(row *stm.Row, by memory.Relation, relevance float64) error {
	view, err := q.e.listedIn(&q.e.stm.Memories, row, q.a.now)
	if err != nil {
		return err
	}
	hit := op.Hit{Tier: op.TierMemory, Memory: &view, Snippet: q.e.snippet(view.Content, q.a.q.terms)}
	q.known = append(q.known, op.QueryHit{Scope: queryKnowledge, Relevance: relevance, Hit: &hit, Via: &by, Source: sourceOf(&hit)})
	return nil
}

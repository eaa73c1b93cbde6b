package graph

import (
	"cmp"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/entity/knowledge"
	"emberd/memory"
	"emberd/op"
)

// Types of relations between entities that do not come from a relation of memories.
const (
	mentionedWith = "mentioned_with"
	linksTo       = "links_to"
)

// Limits of an entity's relations: how many of each kind are returned, and how many relations
// and links are read for them.
const (
	MaxRelated  = 10
	maxLookedAt = 200
)

// entityRelations returns the relations of an entity, strongest first: those from memories and
// links, and the entities that are mentioned together with it.
func (e *Graph) entityRelations(g *knowledge.Graph, k *knowledge.Entity, project string) []op.EntityRelation {
	out := e.derivedRelations(g, k, project)
	for _, t := range g.Together(k.Name, project, MaxRelated, k.Common) {
		out = append(out,
			op.EntityRelation{Name: t.Name, Type: mentionedWith, Weight: float64(t.Weight), In: memoriesOf(t.In)})
	}
	return out
}

// derivedRelations returns the relations of an entity that come from memories and links, strongest
// first. A relation of memories counts only if both are about entities. A relation between two
// memories that only mention entities is about their texts: if two memories that name the
// database and the billing contradict each other, the database does not contradict the
// billing.
func (e *Graph) derivedRelations(g *knowledge.Graph, k *knowledge.Entity, project string) []op.EntityRelation {
	l := entityRelationBuilder{e: e, g: g, of: k, at: make(map[relationKey]int), project: project}
	for _, id := range memoriesOf(k.About) {
		l.fromMemory(id)
	}
	if project == "" {
		l.fromLinks()
	}
	slices.SortFunc(l.out, compareRelated)
	return l.out[:min(MaxRelated, len(l.out))]
}

func compareRelated(a, b op.EntityRelation) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type))
}

func memoriesOf(refs []knowledge.Ref) (out []memory.ID) {
	for _, r := range refs {
		if r.ID != "" {
			out = append(out, r.ID)
		}
	}
	return out
}

// relationKey identifies a relation of one entity.
type relationKey struct {
	name, typ string
	incoming  bool
}

// entityRelationBuilder derives relations of entities from relations of memories and from
// links.
type entityRelationBuilder struct {
	e  *Graph
	g  *knowledge.Graph
	of *knowledge.Entity
	// project is the project whose memories count, "" for all.
	project string
	out     []op.EntityRelation
	at      map[relationKey]int
}

// add keeps the strongest of equal relations.
func (l *entityRelationBuilder) add(r op.EntityRelation) {
	if r.Name == "" || r.Name == l.of.Name {
		return
	}
	key := relationKey{r.Name, r.Type, r.Incoming}
	i, known := l.at[key]
	if !known {
		l.at[key] = len(l.out)
		l.out = append(l.out, r)
		return
	}
	was := &l.out[i]
	was.Weight = max(was.Weight, r.Weight)
	for _, id := range r.In {
		if !slices.Contains(was.In, id) && len(was.In) < 3 {
			was.In = append(was.In, id)
		}
	}
}

// fromMemory adds the relations of a memory that is about the entity.
func (l *entityRelationBuilder) fromMemory(id memory.ID) {
	row, ok := l.e.Stm.Get(id)
	if !ok || l.project != "" && row.Project() != l.project {
		return
	}
	for _, r := range l.e.Stm.Relations(row) {
		l.addDerived(&r, r.To, false)
	}
	to, _ := l.e.Stm.RelationsTo(id, maxLookedAt)
	for _, r := range to {
		l.addDerived(&r, r.From, true)
	}
}

// addDerived adds a relation if the other memory is about an entity too.
func (l *entityRelationBuilder) addDerived(r *memory.Relation, other memory.ID, incoming bool) {
	if r.Kind == core.KindSupersedes {
		return
	}
	_, about := l.g.Named(knowledge.Ref{ID: other})
	l.add(op.EntityRelation{Name: about, Type: cmp.Or(r.Kind, r.Type), Weight: r.Strength, In: []memory.ID{r.From},
		Incoming: incoming})
}

// fromLinks adds the links between the entity's note and the notes of others.
func (l *entityRelationBuilder) fromLinks() {
	if path := noteAbout(l.of); path != "" {
		names, _ := l.g.Named(knowledge.Ref{Path: path})
		for _, name := range names {
			l.add(op.EntityRelation{Name: name, Type: linksTo, Weight: 1})
		}
	}
	for _, ref := range l.g.Mentioning(l.of.Name, "", maxLookedAt) {
		if ref.Path == "" {
			continue
		}
		_, about := l.g.Named(ref)
		l.add(op.EntityRelation{Name: about, Type: linksTo, Weight: 1, Incoming: true})
	}
}

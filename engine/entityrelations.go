package engine

import (
	"cmp"
	"slices"
	"strings"

	"emberd/internal/knowledge"
	"emberd/memory"
	"emberd/op"
)

// The types of relations between entities that no memory names.
const (
	mentionedWith = "mentioned_with"
	linksTo       = "links_to"
)

// Bounds of what is told of an entity: relations, of either sort, and how many relations
// and links are looked at for them.
const (
	mostRelated  = 10
	mostLookedAt = 200
)

// entityRelations are what an entity is related to: by relations of memories and links of
// notes, and what is mentioned with it, each strongest first.
func (e *Engine) entityRelations(g *knowledge.Graph, k *knowledge.Entity, project string) []op.EntityRelation {
	out := e.lifted(g, k, project)
	for _, t := range g.Together(k.Name, project, mostRelated, k.Common) {
		out = append(out, op.EntityRelation{Name: t.Name, Type: mentionedWith, Weight: float64(t.Weight), In: memoriesOf(t.In)})
	}
	return out
}

// lifted are the relations of an entity that memories and links say, strongest first. Only
// between memories that are about entities is a relation one of these. That between two
// that name them is about what they say: of two that contradict one another and name the
// database and the billing, the database does not contradict the billing.
func (e *Engine) lifted(g *knowledge.Graph, k *knowledge.Entity, project string) []op.EntityRelation {
	l := lifting{e: e, g: g, of: k, at: make(map[relationKey]int), project: project}
	for _, id := range memoriesOf(k.About) {
		l.fromMemory(id)
	}
	if project == "" {
		l.fromLinks()
	}
	slices.SortFunc(l.out, compareRelated)
	return l.out[:min(mostRelated, len(l.out))]
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

// relationKey tells relations of one entity apart.
type relationKey struct {
	name, typ string
	incoming  bool
}

// lifting makes relations between entities of those between memories and of links.
type lifting struct {
	e  *Engine
	g  *knowledge.Graph
	of *knowledge.Entity
	// project is the one whose memories count, "" for all.
	project string
	out     []op.EntityRelation
	at      map[relationKey]int
}

// add keeps the strongest of what says the same.
func (l *lifting) add(r op.EntityRelation) {
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

// fromMemory takes the relations of a memory that is about the entity.
func (l *lifting) fromMemory(id memory.ID) {
	row, ok := l.e.stm.Get(id)
	if !ok || l.project != "" && row.Project() != l.project {
		return
	}
	for _, r := range l.e.stm.Relations(row) {
		l.lift(&r, r.To, false)
	}
	to, _ := l.e.stm.RelationsTo(id, mostLookedAt)
	for _, r := range to {
		l.lift(&r, r.From, true)
	}
}

// lift takes one relation over if the other memory is about an entity, too.
func (l *lifting) lift(r *memory.Relation, other memory.ID, incoming bool) {
	if r.Kind == kindSupersedes {
		return
	}
	_, about := l.g.Named(knowledge.Ref{ID: other})
	l.add(op.EntityRelation{Name: about, Type: cmp.Or(r.Kind, r.Type), Weight: r.Strength, In: []memory.ID{r.From}, Incoming: incoming})
}

// fromLinks takes the links between the entity's note and those of others.
func (l *lifting) fromLinks() {
	if path := noteAbout(l.of); path != "" {
		names, _ := l.g.Named(knowledge.Ref{Path: path})
		for _, name := range names {
			l.add(op.EntityRelation{Name: name, Type: linksTo, Weight: 1})
		}
	}
	for _, ref := range l.g.Mentioning(l.of.Name, "", mostLookedAt) {
		if ref.Path == "" {
			continue
		}
		_, about := l.g.Named(ref)
		l.add(op.EntityRelation{Name: about, Type: linksTo, Weight: 1, Incoming: true})
	}
}

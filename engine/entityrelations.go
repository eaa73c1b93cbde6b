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

// Bounds of what is told of an entity: relations, of either sort, and of the memories and
// notes that mention it how many are looked at for relations.
const (
	mostRelated   = 10
	mostLookedAt  = 200
	mostNamedEach = 5
)

// impliedStrength is what a relation counts between the entities that two memories only
// name: it is about what they say, and maybe not about these.
const impliedStrength = 0.5

// entityRelations are what an entity is related to: by relations of memories and links of
// notes, and what is mentioned with it, each strongest first.
func (e *Engine) entityRelations(g *knowledge.Graph, k *knowledge.Entity, project string) []op.EntityRelation {
	out := e.lifted(g, k, project)
	for _, t := range g.Together(k.Name, project, mostRelated, k.Common) {
		out = append(out, op.EntityRelation{Name: t.Name, Type: mentionedWith, Weight: float64(t.Weight), In: memoriesOf(t.In)})
	}
	return out
}

// lifted are the relations of an entity that memories and links say, strongest first.
func (e *Engine) lifted(g *knowledge.Graph, k *knowledge.Entity, project string) []op.EntityRelation {
	l := lifting{Engine: e, g: g, of: k, at: make(map[relationKey]int), naming: g.Mentioning(k.Name, project, mostLookedAt)}
	l.fromMemories()
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
	*Engine
	g  *knowledge.Graph
	of *knowledge.Entity
	// naming are documents that mention it, those that changed last.
	naming []knowledge.Ref
	out    []op.EntityRelation
	at     map[relationKey]int
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

func (l *lifting) fromMemories() {
	about := memoriesOf(l.of.About)
	for _, id := range about {
		l.fromMemory(id, true)
	}
	for _, ref := range l.naming {
		if ref.ID != "" && !slices.Contains(about, ref.ID) {
			l.fromMemory(ref.ID, false)
		}
	}
}

// fromMemory takes the relations of one memory, which is about the entity or names it.
func (l *lifting) fromMemory(id memory.ID, about bool) {
	row, ok := l.stm.Get(id)
	if !ok {
		return
	}
	for _, r := range l.stm.Relations(row) {
		l.lift(&r, r.To, about, false)
	}
	to, _ := l.stm.RelationsTo(id, mostLookedAt)
	for _, r := range to {
		l.lift(&r, r.From, about, true)
	}
}

// lift takes one relation over: to what the other memory is about if both are about
// something, else to what it names, unless it names the entity as well: then the relation
// is between two things that are said of that. What contradicts is a text and no name in it.
func (l *lifting) lift(r *memory.Relation, other memory.ID, about, incoming bool) {
	if r.Kind == kindSupersedes {
		return
	}
	out := op.EntityRelation{Type: cmp.Or(r.Kind, r.Type), Weight: r.Strength, In: []memory.ID{r.From}, Incoming: incoming}
	names, title := l.g.Named(knowledge.Ref{ID: other})
	if about && title != "" {
		out.Name = title
		l.add(out)
		return
	}
	if r.Type == memory.Contradicts || slices.Contains(names, l.of.Name) {
		return
	}
	out.Weight *= impliedStrength
	for _, name := range names[:min(mostNamedEach, len(names))] {
		if k, ok := l.g.Entity(name); ok && !k.Common {
			out.Name = name
			l.add(out)
		}
	}
}

// fromLinks takes the links between the entity's note and those of others.
func (l *lifting) fromLinks() {
	if path := noteAbout(l.of); path != "" {
		names, _ := l.g.Named(knowledge.Ref{Path: path})
		for _, name := range names {
			l.add(op.EntityRelation{Name: name, Type: linksTo, Weight: 1})
		}
	}
	for _, ref := range l.naming {
		if ref.Path == "" {
			continue
		}
		_, about := l.g.Named(ref)
		l.add(op.EntityRelation{Name: about, Type: linksTo, Weight: 1, Incoming: true})
	}
}

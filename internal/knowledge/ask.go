package knowledge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"emberd/internal/entities"
	"emberd/memory"
)

// Entity is what the graph knows of one entity.
type Entity struct {
	Name      string
	Aliases   []string // sorted
	Mentions  int      // every document as often as it counts
	Memories  int
	Notes     int
	About     []Ref // the documents about it, the one it is called by first
	FirstSeen time.Time
	LastSeen  time.Time
	// Common says that more than a fifth of all documents mention it, so that what is
	// together with it says little.
	Common bool
}

// sum is what is counted of an entity.
type sum struct {
	mentions, memories, notes int
	first, last               int64
}

func (s *sum) add(d *doc) {
	s.mentions += int(d.counts)
	if d.ref.ID != "" {
		s.memories++
	} else {
		s.notes++
	}
	s.first, s.last = min(s.first, d.first), max(s.last, d.last)
}

func newSum() sum { return sum{first: math.MaxInt64, last: math.MinInt64} }

// manyDocs is how many documents it takes for an entity to be common.
const manyDocs = 20

func (s *sum) common(docs int) bool {
	n := s.memories + s.notes
	return n > manyDocs && 5*n > docs
}

// entity is the place of the entity that a name stands for.
func (g *Graph) entity(text string) (uint32, bool) {
	at, ok := g.byKey[entities.Key(text)]
	if !ok {
		return 0, false
	}
	at = g.names[at].entity
	return at, g.names[at].exists()
}

// docsOf are the documents that mention an entity, sorted.
func (g *Graph) docsOf(at uint32) []uint32 {
	if n := g.names[at]; len(n.members) == 1 && len(n.tagged) == 0 {
		return n.docs
	}
	var all []uint32
	for _, m := range g.names[at].members {
		all = append(append(all, g.names[m].docs...), g.names[m].tagged...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (g *Graph) sumOf(at uint32) *sum {
	n := g.names[at]
	if n.sum == nil {
		s := newSum()
		for _, d := range g.docsOf(at) {
			s.add(&g.docs[d])
		}
		n.sum = &s
	}
	return n.sum
}

func (g *Graph) view(at uint32, s *sum) Entity {
	n := g.names[at]
	e := Entity{Name: n.called(), Mentions: s.mentions, Memories: s.memories, Notes: s.notes, Common: s.common(len(g.places))}
	if s.mentions > 0 {
		e.FirstSeen, e.LastSeen = time.UnixMilli(s.first).UTC(), time.UnixMilli(s.last).UTC()
	}
	for _, m := range n.members {
		if m != at {
			e.Aliases = append(e.Aliases, g.names[m].called())
		}
	}
	slices.Sort(e.Aliases)
	for _, c := range n.claims {
		if !c.alias {
			e.About = append(e.About, g.docs[c.doc].ref)
		}
	}
	return e
}

// Entity returns what is known by a name or an alias.
func (g *Graph) Entity(text string) (Entity, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.entity(text)
	if !ok {
		return Entity{}, false
	}
	return g.view(at, g.sumOf(at)), true
}

// Spelling returns what the entity is called that a name stands for, given its
// [entities.Key].
func (g *Graph) Spelling(key string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.byKey[key]
	if !ok {
		return "", false
	}
	n := g.names[g.names[at].entity]
	return n.called(), n.exists()
}

// Mentioning returns the documents that mention an entity, those that were changed last
// first, at most limit; 0 is no limit. With a project only memories of that.
func (g *Graph) Mentioning(text, project string, limit int) []Ref {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.entity(text)
	if !ok {
		return nil
	}
	docs := slices.Clone(g.docsOf(at))
	docs = slices.DeleteFunc(docs, func(d uint32) bool { return !g.docs[d].in(project) })
	slices.SortFunc(docs, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(g.docs[b].last, g.docs[a].last), g.docs[a].ref.compare(g.docs[b].ref))
	})
	if limit > 0 {
		docs = docs[:min(limit, len(docs))]
	}
	out := make([]Ref, len(docs))
	for i, d := range docs {
		out[i] = g.docs[d].ref
	}
	return out
}

func (d *doc) in(project string) bool { return project == "" || d.ref.ID != "" && d.project == project }

// Named returns what a document mentions, and the name of what it is about, "" if that
// is nothing by name. Both are what the entities are called, in order.
func (g *Graph) Named(r Ref) (names []string, about string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.places[r]
	if !ok {
		return nil, ""
	}
	d := &g.docs[at]
	for _, to := range g.mentioned(d) {
		names = append(names, g.names[to].called())
	}
	if len(d.claims) > 0 {
		about = g.names[g.names[d.claims[0]].entity].called()
	}
	return names, about
}

// mentioned are the entities that a document mentions, each once.
func (g *Graph) mentioned(d *doc) []uint32 {
	out := make([]uint32, 0, len(d.refs))
	for _, m := range d.refs {
		to := g.names[m.name].entity
		if g.names[to].exists() && !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}

// Together is an entity that documents mention beside another one.
type Together struct {
	Name   string
	Weight int   // how many documents
	In     []Ref // some of them
	Common bool
}

// somewhere is how many documents are named for each pair.
const somewhere = 3

// Together returns what is mentioned together with an entity, most often first, at most
// limit. What is common is left out unless asked for. With a project only memories of
// that count.
func (g *Graph) Together(text, project string, limit int, common bool) []Together {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.entity(text)
	if !ok {
		return nil
	}
	with := make(map[uint32]*Together)
	for _, i := range g.docsOf(at) {
		if d := &g.docs[i]; d.in(project) {
			g.beside(with, at, d)
		}
	}
	var out []Together
	for to, t := range with {
		if t.Common = g.sumOf(to).common(len(g.places)); common || !t.Common {
			t.Name = g.names[to].called()
			out = append(out, *t)
		}
	}
	slices.SortFunc(out, func(a, b Together) int { return cmp.Or(b.Weight-a.Weight, strings.Compare(a.Name, b.Name)) })
	return out[:min(limit, len(out))]
}

func (g *Graph) beside(with map[uint32]*Together, at uint32, d *doc) {
	for _, to := range g.mentioned(d) {
		if to == at {
			continue
		}
		t := with[to]
		if t == nil {
			t = &Together{}
			with[to] = t
		}
		if t.Weight++; len(t.In) < somewhere {
			t.In = append(t.In, d.ref)
		}
	}
}

// Sizes says how much a graph holds.
type Sizes struct{ Docs, Names, Pairs int }

// Sizes counts documents, names and pairs of both.
func (g *Graph) Sizes() Sizes {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Sizes{Docs: len(g.places), Names: len(g.byKey)}
	for i := range g.docs {
		s.Pairs += len(g.docs[i].refs)
	}
	return s
}

// Memories returns the ids of all memories, in no order.
func (g *Graph) Memories() []memory.ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]memory.ID, 0, len(g.places))
	for r := range g.places {
		if r.ID != "" {
			out = append(out, r.ID)
		}
	}
	return out
}

// Made is when a document was made, zero for one that is not known.
func (g *Graph) Made(r Ref) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.places[r]
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(g.docs[at].first).UTC()
}

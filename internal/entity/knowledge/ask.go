package knowledge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"emberd/internal/entity"
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

// cell is what a list looks at for each name, side by side.
type cell struct {
	sum
	key   string
	state state
}

// state says whether a cell holds.
type state uint8

const (
	unknown state = iota // to be computed again
	absent               // another name stands for it, or it is not an entity
	present
)

func (g *Graph) stale(at uint32) { g.cells[at].state = unknown }

// renew computes a cell again.
func (g *Graph) renew(at uint32) {
	n, c := g.names[at], &g.cells[at]
	if c.state = absent; n == nil || n.entity != at || !g.exists(at) {
		return
	}
	c.state, c.sum = present, newSum()
	for _, d := range g.docsOf(at) {
		c.add(&g.docs[d])
	}
}

// entity returns the place of the entity that a name stands for.
func (g *Graph) entity(text string) (uint32, bool) {
	at, ok := g.byKey[entity.Key(text)]
	if !ok {
		return 0, false
	}
	at = g.names[at].entity
	return at, g.exists(at)
}

// docsOf returns the documents that mention an entity, sorted.
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

// sumOf returns the sum of a name that stands for itself.
func (g *Graph) sumOf(at uint32) *sum {
	c := &g.cells[at]
	if c.state == unknown {
		g.renew(at)
	}
	return &c.sum
}

func (g *Graph) view(at uint32, s *sum) Entity {
	n := g.names[at]
	e := Entity{Name: n.text(), Mentions: s.mentions, Memories: s.memories, Notes: s.notes,
		Common: s.common(len(g.places))}
	if s.mentions > 0 {
		e.FirstSeen, e.LastSeen = time.UnixMilli(s.first).UTC(), time.UnixMilli(s.last).UTC()
	}
	for _, m := range n.members {
		if m != at {
			e.Aliases = append(e.Aliases, g.names[m].text())
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
// [entity.Key].
func (g *Graph) Spelling(key string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.byKey[key]
	if !ok {
		return "", false
	}
	at = g.names[at].entity
	return g.names[at].text(), g.exists(at)
}

// Mentioning returns the documents that mention an entity, those that were changed last
// first, at most limit. With a project only memories of that.
func (g *Graph) Mentioning(text, project string, limit int) []Ref {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.entity(text)
	if !ok {
		return nil
	}
	latest := ranking[uint32]{most: limit, compare: func(a, b uint32) int {
		return cmp.Or(cmp.Compare(g.docs[b].last, g.docs[a].last), g.docs[a].ref.compare(g.docs[b].ref))
	}}
	for _, d := range slices.Backward(g.docsOf(at)) { // the latest have the highest numbers, mostly
		if g.docs[d].in(project) {
			latest.add(d)
		}
	}
	out := make([]Ref, len(latest.list))
	for i, d := range latest.list {
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
		names = append(names, g.names[to].text())
	}
	if len(d.claims) > 0 {
		about = g.names[g.names[d.claims[0]].entity].text()
	}
	return names, about
}

// mentioned returns the entities that a document mentions, each once.
func (g *Graph) mentioned(d *doc) []uint32 {
	out := make([]uint32, 0, len(d.refs))
	for _, m := range d.refs {
		to := g.names[m.name].entity
		if g.exists(to) && !slices.Contains(out, to) {
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
	counts := make([]int, len(g.names))
	docs := g.docsOf(at)
	for _, i := range docs {
		if d := &g.docs[i]; d.in(project) {
			for _, to := range g.mentioned(d) {
				counts[to]++
			}
		}
	}
	counts[at] = 0
	best := ranking[uint32]{most: limit, compare: func(a, b uint32) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(g.names[a].key, g.names[b].key))
	}}
	for to, n := range counts {
		if n > 0 && (common || !g.sumOf(uint32(to)).common(len(g.places))) {
			best.add(uint32(to))
		}
	}
	out := make([]Together, len(best.list))
	for i, to := range best.list {
		out[i] = Together{Name: g.names[to].text(), Weight: counts[to], Common: g.sumOf(to).common(len(g.places))}
	}
	g.where(out, best.list, docs, project)
	return out
}

// where fills in some of the documents that mention each of the entities.
func (g *Graph) where(out []Together, of, docs []uint32, project string) {
	missing := len(of)
	for _, i := range docs {
		d := &g.docs[i]
		if missing == 0 {
			return
		}
		for _, to := range g.mentioned(d) {
			j := slices.Index(of, to)
			if j < 0 || len(out[j].In) == somewhere || !d.in(project) {
				continue
			}
			if out[j].In = append(out[j].In, d.ref); len(out[j].In) == somewhere {
				missing--
			}
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

// Pair is two entities that documents mention together.
type Pair struct {
	A, B   string
	Weight int
}

// Among counts how many documents mention each two of some entities together. What is
// common has no pairs but with the first. With a project only memories of that count.
func (g *Graph) Among(names []string, project string) []Pair {
	g.mu.Lock()
	defer g.mu.Unlock()
	place := make(map[uint32]int, len(names))
	for i, text := range names {
		if at, ok := g.entity(text); ok {
			if _, again := place[at]; !again && (i == 0 || !g.sumOf(at).common(len(g.places))) {
				place[at] = i
			}
		}
	}
	weights := make(map[[2]int]int)
	for at, i := range place {
		for _, d := range g.docsOf(at) {
			g.countPairs(weights, place, i, &g.docs[d], project)
		}
	}
	var out []Pair
	for pair, n := range weights {
		out = append(out, Pair{names[pair[0]], names[pair[1]], n})
	}
	slices.SortFunc(out, func(a, b Pair) int { return cmp.Or(strings.Compare(a.A, b.A), strings.Compare(a.B, b.B)) })
	return out
}

// countPairs counts a document for the pairs of the i-th entity with later ones.
func (g *Graph) countPairs(weights map[[2]int]int, place map[uint32]int, i int, d *doc, project string) {
	if !d.in(project) {
		return
	}
	for k, m := range d.refs {
		j, chosen := place[g.names[m.name].entity]
		again := slices.ContainsFunc(d.refs[:k],
			func(before mention) bool { return g.names[before.name].entity == g.names[m.name].entity })
		if chosen && j > i && !again {
			weights[[2]int{i, j}]++
		}
	}
}

// MemoriesNaming returns the ids of the memories that mention an entity, in no order.
func (g *Graph) MemoriesNaming(text string) []memory.ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.entity(text)
	if !ok {
		return nil
	}
	var out []memory.ID
	for _, d := range g.docsOf(at) {
		if id := g.docs[d].ref.ID; id != "" {
			out = append(out, id)
		}
	}
	return out
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

// Made returns when a document was made, zero for one that is not known.
func (g *Graph) Made(r Ref) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.places[r]
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(g.docs[at].first).UTC()
}

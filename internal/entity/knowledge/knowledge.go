// Package knowledge holds which entities memories and notes name: people, projects and
// whatever else has a name. It is derived from them, and is kept by putting in what
// changed.
//
// # Entities
//
// A name is known by its [entity.Key], so "Node.js" and "node-js" are one. A document
// that is about something claims its title and aliases: all of them stand for one entity
// then, called by the title. A title comes before an alias, and of two documents that
// claim the same alias the one whose reference is shorter, then first in byte order, has
// it. So what is one entity never depends on the order in which documents came.
//
// A tag mentions an entity if something else names that; a tag alone makes none. A name
// that is only linked to is an entity unless it is that of a document that is none. What
// several notes are called, as README is in many folders, is one if a memory names it.
//
// # Cost
//
// For each entity there is a sorted list of the documents that name it, and for each
// document one of what it names: some 12 bytes for each such pair. What is named together
// is counted when asked for, from the documents of one entity; no pairs are stored.
// At most MaxNames names are kept and MaxPerDoc of one document.
//
// A Graph may be shared. What is put in is not kept, and results belong to the caller.
package knowledge

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"emberd/internal/entity"
	"emberd/memory"
)

// Bounds of a graph.
const (
	MaxNames  = 500_000
	MaxPerDoc = 500
)

// Ref names a document: the id of a memory, or the path of a note.
type Ref struct {
	ID   memory.ID
	Path string
}

func (r Ref) text() string { return string(r.ID) + r.Path }

// compare orders references: memories first, then the shorter, then by bytes.
func (r Ref) compare(s Ref) int {
	switch {
	case (r.ID == "") != (s.ID == ""):
		if r.ID != "" {
			return -1
		}
		return 1
	case len(r.text()) != len(s.text()):
		return len(r.text()) - len(s.text())
	}
	return strings.Compare(r.text(), s.text())
}

// Doc is a memory or a note, with what it names.
type Doc struct {
	Ref
	// Title and Aliases name what it is about, if it is about something by name.
	Title   string
	Aliases []string
	// Apart are names of the document that stand for no entity.
	Apart []string

	Names []string // of entities
	Found bool     // the names were found in a text, not given
	Links []string // names of notes
	Tags  []string // without #

	Counts      int // how often it counts where it mentions something, at least 1
	First, Last time.Time
	Project     string
}

// Graph is the entities of a set of documents. Use New to make one.
type Graph struct {
	mu     sync.Mutex // guards what follows
	docs   []doc
	free   []uint32 // places in docs
	places map[Ref]uint32
	names  []*name
	cells  []cell // of names, by the same numbers
	byKey  map[string]uint32
	spare  []uint32 // places in names
}

// New returns a graph without documents.
func New() *Graph {
	return &Graph{places: make(map[Ref]uint32), byKey: make(map[string]uint32)}
}

// doc is a document as it is kept.
type doc struct {
	ref         Ref
	refs        []mention // sorted by name
	claims      []uint32  // names, the title first
	apart       []uint32
	first, last int64 // Unix milliseconds
	counts      int32
	project     string
}

// how says by what a document mentions a name; a lower one stands for a higher.
type how uint8

const (
	given how = iota
	found
	linked
	tagged
)

// mention is one name in a document.
type mention struct {
	name  uint32
	how   how
	spelt uint8 // place among the spellings of the name
}

// name is all that is written alike.
type name struct {
	key       string
	spellings []spelling
	docs      []uint32 // that name or link to it, sorted
	tagged    []uint32 // that are only tagged with it, sorted
	named     int      // of docs, those that do not only link
	apart     int      // documents of this name that are not entities
	claims    []claim  // of documents that are about it, the one that holds first
	entity    uint32   // the name that stands for it, most often itself
	members   []uint32 // names that this one stands for, itself among them
}

// spelling is a way to write a name, with how many documents give or merely have it.
type spelling struct {
	text         string
	given, found int32
}

// claim says that a document is about a name.
type claim struct {
	doc   uint32
	alias bool
	text  string
	title uint32
}

// exists reports whether a name that stands for itself is one of an entity: a tag alone is
// not, nor is what several notes are called, as README is in many folders, unless a memory
// names it.
func (g *Graph) exists(at uint32) bool {
	n := g.names[at]
	if notes := 0; len(n.claims) > 1 {
		for _, c := range n.claims {
			if notes < 2 && !c.alias && g.docs[c.doc].ref.ID == "" {
				notes++
			}
		}
		if notes > 1 {
			return slices.ContainsFunc(n.members, func(m uint32) bool { return g.names[m].named > 0 })
		}
	}
	return len(n.claims) > 0 || n.named > 0 || len(n.docs) > 0 && n.apart == 0
}

// unused reports whether nothing refers to the name.
func (n *name) unused() bool {
	return len(n.claims) == 0 && len(n.docs) == 0 && len(n.tagged) == 0 && n.apart == 0
}

// text returns the spelling of the name: that of a document about it, else that of most
// documents that list it, else that of most texts that contain it.
func (n *name) text() string {
	if len(n.claims) > 0 {
		return n.claims[0].text
	}
	best := &spelling{text: n.key}
	for i := range n.spellings {
		if s := &n.spellings[i]; s.before(best) {
			best = s
		}
	}
	return best.text
}

func (s *spelling) before(t *spelling) bool {
	switch {
	case s.given != t.given:
		return s.given > t.given
	case s.found != t.found:
		return s.found > t.found
	}
	return s.given+s.found > 0 && s.text < t.text
}

// spell returns the place of a spelling. All beyond what a byte counts are one.
func (n *name) spell(text string) uint8 {
	for i := range n.spellings {
		if n.spellings[i].text == text {
			return uint8(i)
		}
	}
	const most = 255
	if len(n.spellings) > most {
		return most
	}
	n.spellings = append(n.spellings, spelling{text: strings.Clone(text)})
	return uint8(len(n.spellings) - 1)
}

func (n *name) counted(m mention, by int32) {
	switch s := &n.spellings[m.spelt]; m.how {
	case given, linked:
		s.given += by
	case found:
		s.found += by
	}
}

// Put takes in a document, in place of what was known of it.
func (g *Graph) Put(d *Doc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(d.Ref)
	at := g.place(d.Ref)
	kept := &g.docs[at]
	*kept = doc{ref: Ref{memory.ID(strings.Clone(string(d.ID))), strings.Clone(d.Path)}, first: d.First.UnixMilli(),
		last:   d.Last.UnixMilli(),
		counts: int32(max(1, d.Counts)), project: d.Project}
	g.places[kept.ref] = at
	g.claim(at, d)
	for _, text := range d.Apart {
		if n, ok := g.name(text); ok {
			g.names[n].apart++
			g.stale(g.names[n].entity)
			kept.apart = append(kept.apart, n)
		}
	}
	g.mention(at, d)
}

// Remove forgets a document.
func (g *Graph) Remove(r Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(r)
}

func (g *Graph) place(r Ref) uint32 {
	if last := len(g.free) - 1; last >= 0 {
		at := g.free[last]
		g.free = g.free[:last]
		return at
	}
	g.docs = append(g.docs, doc{})
	return uint32(len(g.docs) - 1)
}

// name returns the place of a name, made if there is none; not ok for a text that is none, or
// when the graph is full.
func (g *Graph) name(text string) (at uint32, ok bool) {
	key := entity.Key(text)
	if at, ok := g.byKey[key]; ok || key == "" || len(g.byKey) >= MaxNames {
		return at, ok
	}
	n := &name{key: strings.Clone(key)}
	if last := len(g.spare) - 1; last >= 0 {
		at = g.spare[last]
		g.spare, g.names[at] = g.spare[:last], n
	} else {
		at = uint32(len(g.names))
		g.names, g.cells = append(g.names, n), append(g.cells, cell{})
	}
	g.cells[at] = cell{key: n.key}
	n.entity, n.members = at, []uint32{at}
	g.byKey[n.key] = at
	return at, true
}

// hasLetter tells names from the dates that days are called by.
func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

func (g *Graph) mention(at uint32, d *Doc) {
	add := func(h how, text string) {
		refs := &g.docs[at].refs
		if len(*refs) >= MaxPerDoc {
			return
		}
		n, ok := g.name(text)
		if !ok || slices.ContainsFunc(*refs, func(m mention) bool { return m.name == n }) {
			return
		}
		m := mention{name: n, how: h, spelt: g.names[n].spell(text)}
		*refs = append(*refs, m)
		g.post(at, m)
	}
	names := given
	if d.Found {
		names = found
	}
	for _, text := range d.Names {
		add(names, text)
	}
	for _, text := range d.Links {
		if hasLetter(text) {
			add(linked, text)
		}
	}
	for _, text := range d.Tags {
		if hasLetter(text) {
			add(tagged, text)
		}
	}
}

// post lists a document under a name.
func (g *Graph) post(at uint32, m mention) {
	n := g.names[m.name]
	list := &n.docs
	if m.how == tagged {
		list = &n.tagged
	}
	i, _ := slices.BinarySearch(*list, at)
	*list = slices.Insert(*list, i, at)
	if m.how <= found {
		n.named++
	}
	n.counted(m, 1)
	g.stale(n.entity)
}

func (g *Graph) remove(r Ref) {
	at, ok := g.places[r]
	if !ok {
		return
	}
	d := &g.docs[at]
	for _, m := range d.refs {
		g.unpost(at, m)
	}
	for _, n := range d.apart {
		g.names[n].apart--
		g.stale(g.names[n].entity)
	}
	g.unclaim(at, d.claims)
	for _, m := range d.refs {
		g.sweep(m.name)
	}
	for _, n := range slices.Concat(d.apart, d.claims) {
		g.sweep(n)
	}
	delete(g.places, r)
	g.docs[at] = doc{}
	g.free = append(g.free, at)
}

func (g *Graph) unpost(at uint32, m mention) {
	n := g.names[m.name]
	list := &n.docs
	if m.how == tagged {
		list = &n.tagged
	}
	if i, ok := slices.BinarySearch(*list, at); ok {
		*list = slices.Delete(*list, i, i+1)
	}
	if m.how <= found {
		n.named--
	}
	n.counted(m, -1)
	g.stale(n.entity)
}

// sweep lets go of a name that nothing refers to.
func (g *Graph) sweep(at uint32) {
	n := g.names[at]
	if n == nil || !n.unused() || len(n.members) > 1 {
		return
	}
	delete(g.byKey, n.key)
	g.names[at], g.cells[at] = nil, cell{}
	g.spare = append(g.spare, at)
}

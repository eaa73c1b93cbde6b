package notelinks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/stm"
)

// memoryNote is a memory with a note, and what the log says that it links to.
type memoryNote struct {
	m     memory.Memory
	path  string // "" while the note is not found
	names []string
	// relations are those that a list of the note shows, by property and by the memory at their other end.
	relations map[string]map[memory.ID][]memory.Relation
	recent    bool // the memory or one of its relations is not older than the links of this vault
}

// graphOfNotes are all memories with notes.
type graphOfNotes struct {
	all    map[memory.ID]*memoryNote
	byPath map[string]memory.ID
	names  *noteNames
	count  map[string]int            // memories with a note that name an entity, by its key
	forms  map[string]map[string]int // how often an entity is written so, by its key
	form   map[string]string         // the form that most texts have
	isOurs func(path string) bool
}

// gather reads memories with notes and their relations from the log.
func (e *Links) gather(since time.Time) *graphOfNotes {
	g := &graphOfNotes{all: make(map[memory.ID]*memoryNote), byPath: make(map[string]memory.ID),
		names: newNoteNames(e.Notes.Vault), count: make(map[string]int), forms: make(map[string]map[string]int),
		form: make(map[string]string)}
	var rows []*stm.Row
	for r := range e.Stm.Rows() {
		if r.Promoted() {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		if n := e.noteOf(r, since); n != nil {
			g.add(n)
		}
	}
	for _, r := range rows {
		if g.all[r.ID()] != nil && r.MayRelate() && e.Opt.LinkRelations {
			g.relate(e.Stm.Relations(r), since)
		}
	}
	g.isOurs = func(path string) bool {
		_, carries := e.Notes.Vault.Carriers.At(path)
		return carries || e.Notes.Vault.InArchive(path) || e.Lists(path)
	}
	return g
}

// Lists reports whether a note is one that emberd writes itself.
func (e *Links) Lists(path string) bool {
	return e.Notes.Vault.Archive.State(path).List != ""
}

// noteOf returns a memory with its note, nil for one whose note was deleted.
func (e *Links) noteOf(r *stm.Row, since time.Time) *memoryNote {
	m, err := r.Memory()
	if err != nil || !m.NoteGone.IsZero() {
		return nil // reported elsewhere
	}
	n := &memoryNote{m: m, names: once(graph.Spelled(&m)), relations: make(map[string]map[memory.ID][]memory.Relation),
		recent: !m.PromotedAt.Before(since) || !m.UpdatedAt.Before(since)}
	n.m.Content = ""
	carriers := e.Notes.Vault.Carriers.Of(m.ID)
	switch {
	case slices.Contains(carriers, m.PromotedTo):
		n.path = m.PromotedTo
	case len(carriers) == 1: // renamed, and not taken over yet
		n.path = carriers[0]
	}
	return n
}

func (g *graphOfNotes) add(n *memoryNote) {
	g.all[n.m.ID] = n
	if n.path != "" {
		g.byPath[n.path] = n.m.ID
	}
	for _, name := range n.names {
		key := entityKey(name)
		g.count[key]++
		if g.forms[key] == nil {
			g.forms[key] = make(map[string]int)
		}
		g.forms[key][name]++
	}
}

// once returns names without those that differ from an earlier one only in case.
func once(names []string) (out []string) {
	for _, name := range names {
		same := func(other string) bool { return entityKey(other) == entityKey(name) }
		if !slices.ContainsFunc(out, same) {
			out = append(out, name)
		}
	}
	return out
}

func entityKey(name string) string { return strings.ToLower(name) }

// written returns an entity in the form that most texts have; of equally common ones, the one with most capitals.
func (g *graphOfNotes) written(name string) string {
	key := entityKey(name)
	if form, known := g.form[key]; known {
		return form
	}
	best := name
	for form, n := range g.forms[key] {
		order := cmp.Or(cmp.Compare(n, g.forms[key][best]), cmp.Compare(capitals(form), capitals(best)),
			cmp.Compare(best, form))
		if order > 0 {
			best = form
		}
	}
	g.form[key] = best
	return best
}

func capitals(s string) int {
	return len(s) - len(strings.Map(func(r rune) rune {
		if strings.ToLower(string(r)) != string(r) {
			return -1
		}
		return r
	}, s))
}

// relate adds relations to the lists of both ends, as far as both have notes.
func (g *graphOfNotes) relate(relations []memory.Relation, since time.Time) {
	for _, r := range relations {
		from, to := g.all[r.From], g.all[r.To]
		if from == nil || to == nil {
			continue
		}
		key, back := listsOf(&r)
		from.list(key, r.To, r)
		to.list(back, r.From, r)
		if key != "" && !r.CreatedAt.Before(since) {
			from.recent, to.recent = true, true
		}
	}
}

func (n *memoryNote) list(key string, other memory.ID, r memory.Relation) {
	if key == "" {
		return
	}
	if n.relations[key] == nil {
		n.relations[key] = make(map[memory.ID][]memory.Relation)
	}
	n.relations[key][other] = append(n.relations[key][other], r)
}

// listsOf returns the lists that show a relation: in the note that it starts at, and in the one that it leads to; ""
// for none. What supports or causes another memory stands in one of the two, for the other way round it has no name.
func listsOf(r *memory.Relation) (from, to string) {
	switch {
	case r.IsSupersession():
		return promote.SupersedesKey, promote.SupersededByKey
	case r.Type == memory.Contradicts || r.Type == memory.Related:
		return r.Type, r.Type
	case r.Type == memory.Supports || r.Type == memory.Causes:
		return r.Type, ""
	}
	return "", ""
}

// relationFor returns the relation that a link in a list stands for.
func relationFor(key string, in, to memory.ID) memory.Relation {
	switch key {
	case promote.SupersedesKey:
		return memory.Relation{From: in, To: to, Type: memory.Related, Kind: core.KindSupersedes}
	case promote.SupersededByKey:
		return memory.Relation{From: to, To: in, Type: memory.Related, Kind: core.KindSupersedes}
	}
	return memory.Relation{From: in, To: to, Type: key}
}

// targets returns the memories that a list is to link to: the strongest relations first, and of equal ones the newest.
func (g *graphOfNotes) targets(n *memoryNote, key string) []target {
	type ranked struct {
		target
		strength float64
		at       time.Time
	}
	var all []ranked
	for id, relations := range n.relations[key] {
		r := ranked{target: target{to: id}}
		if other := g.all[id]; other.path != "" {
			r.text = g.names.linkTo(other.path, "")
		}
		for _, rel := range relations {
			r.strength, r.at = max(r.strength, rel.Strength), later(r.at, rel.CreatedAt)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), b.at.Compare(a.at), cmp.Compare(a.to, b.to))
	})
	out := make([]target, len(all))
	for i := range all {
		out[i] = all[i].target
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

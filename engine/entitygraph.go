package engine

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/internal/knowledge"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// How many memories may have changed since the graph was asked before it is quicker to
// look at all of them, and how long an answer waits for notes that are being read.
const (
	mostTouched    = 10_000
	entityPatience = 2 * time.Second
)

// entityGraph is who and what memories and notes name. It is derived from them: of
// memories when somebody asks for the first time, of notes when they have been read for
// that, and from then on of what changes.
type entityGraph struct {
	*knowledge.Graph
	wanted chan struct{} // holds a token when notes are to be read
	read   chan struct{} // closed when all notes have been

	syncing sync.Mutex // held by who brings it up to date, and before mu
	// parts are the memories that are left out, by the memory that each was merged into,
	// which mentions what they did. It is guarded by syncing.
	parts map[memory.ID]map[memory.ID]bool

	mu      sync.Mutex // guards what follows
	begun   bool
	all     bool // any memory may have changed
	pending map[memory.ID]bool
}

func newEntityGraph() *entityGraph {
	return &entityGraph{Graph: knowledge.New(), wanted: make(chan struct{}, 1), read: make(chan struct{}), pending: make(map[memory.ID]bool)}
}

// touched takes in that memories changed. It never waits for more than a map.
func (g *entityGraph) touched(ids []memory.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.begun || g.all {
		return
	}
	for _, id := range ids {
		g.pending[id] = true
	}
	if len(g.pending) > mostTouched {
		g.all, g.pending = true, make(map[memory.ID]bool)
	}
}

// anything takes in that any memory may have changed.
func (g *entityGraph) anything() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = g.begun
}

// take returns what changed since the last time, or that everything may have.
func (g *entityGraph) take() (ids map[memory.ID]bool, all bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	ids, all = g.pending, g.all || !g.begun
	g.begun, g.all, g.pending = true, false, make(map[memory.ID]bool)
	return ids, all
}

// lost takes in that there is no note of that path any more.
func (g *entityGraph) lost(path string) { g.Remove(knowledge.Ref{Path: path}) }

// partial reports whether there are notes that it does not know.
func (e *Engine) partial() bool {
	if e.notes == nil {
		return false
	}
	select {
	case <-e.entities.read:
		return false
	default:
		return true
	}
}

// graphNow is the graph with every change so far. Where notes are not read yet it has
// them read, and is without them.
func (e *Engine) graphNow() *knowledge.Graph {
	g := e.entities
	if e.partial() {
		nudge(g.wanted)
	}
	g.syncing.Lock()
	defer g.syncing.Unlock()
	ids, all := g.take()
	if all {
		e.takeInAll(g)
		return g.Graph
	}
	for id := range ids {
		e.takeIn(g, id)
	}
	return g.Graph
}

// graphSoon is graphNow, after a moment for the notes that are being read.
func (e *Engine) graphSoon(ctx context.Context) *knowledge.Graph {
	if e.partial() {
		nudge(e.entities.wanted)
		ctx, cancel := context.WithTimeout(ctx, entityPatience)
		defer cancel()
		select {
		case <-e.entities.read:
		case <-ctx.Done():
		}
	}
	return e.graphNow()
}

// readEntities reads all notes for the graph, once, when somebody asks for it.
func (e *Engine) readEntities(ctx context.Context) {
	for e.partial() {
		select {
		case <-ctx.Done():
			return
		case <-e.entities.read:
			return
		case <-e.entities.wanted:
		}
		if _, err := e.notes.allLinks(ctx); err != nil && ctx.Err() == nil {
			e.opt.Logger.Warn("entities of notes are incomplete", "error", err)
		}
	}
}

// takeInAll has the graph know just the memories there are.
func (e *Engine) takeInAll(g *entityGraph) {
	g.parts = make(map[memory.ID]map[memory.ID]bool)
	for r := range e.stm.Rows() {
		e.takeInRow(g, r)
	}
	for _, id := range g.Memories() {
		if _, ok := e.stm.Get(id); !ok {
			g.Remove(knowledge.Ref{ID: id})
		}
	}
}

// takeIn has the graph know a memory as it is now. Those that were merged into it stand
// for themselves again when it is gone.
func (e *Engine) takeIn(g *entityGraph, id memory.ID) {
	done := make(map[memory.ID]bool) // devices that merge the same memories at once may make a circle
	for todo := []memory.ID{id}; len(todo) > 0; {
		id, todo = todo[0], todo[1:]
		if done[id] {
			continue
		}
		done[id] = true
		if r, ok := e.stm.Get(id); ok {
			e.takeInRow(g, r)
		} else {
			g.Remove(knowledge.Ref{ID: id})
		}
		todo = slices.AppendSeq(todo, maps.Keys(g.parts[id]))
	}
}

// takeInRow leaves out a memory that another one stands for, or what it mentions would
// count twice.
func (e *Engine) takeInRow(g *entityGraph, r *stm.Row) {
	into, live := e.mergedAway(r)
	if into != "" {
		if g.parts[into] == nil {
			g.parts[into] = make(map[memory.ID]bool)
		}
		g.parts[into][r.ID()] = true
	}
	if live {
		g.Remove(knowledge.Ref{ID: r.ID()})
		return
	}
	g.Put(docOfMemory(r))
}

// mergedAway names the memory that a cold one was merged into, "" for none, and says
// whether that stands for it now.
func (e *Engine) mergedAway(r *stm.Row) (into memory.ID, live bool) {
	if !cold(r) || !r.Has("consolidated_into") {
		return "", false
	}
	m, err := r.Memory()
	if err != nil {
		return "", false
	}
	return m.ConsolidatedInto, mergedInto(e.stm.Get, m.ConsolidatedInto) != nil
}

// docOfMemory is a memory as the graph takes it in. One whose meta has a name is about
// the entity of that name, as those of the reference memory server are.
func docOfMemory(r *stm.Row) *knowledge.Doc {
	d := &knowledge.Doc{Ref: knowledge.Ref{ID: r.ID()}, Names: r.Entities(), Found: r.EntitiesFound(), Project: r.Project(), First: r.CreatedAt()}
	d.Counts, d.Last = r.Learning()
	var meta struct {
		Name    any `json:"name"`
		Aliases any `json:"aliases"`
	}
	if value := r.Value("meta"); value == nil || json.Unmarshal(value, &meta) != nil {
		return d
	}
	if name, ok := entityName(meta.Name); ok {
		d.Title, d.Names = name, append([]string{name}, d.Names...)
		d.Aliases = listedNames(meta.Aliases)
	}
	return d
}

// entityName is a value as the name of an entity.
func entityName(value any) (string, bool) {
	text, _ := value.(string)
	name, err := memory.NormalizeEntity(text)
	return name, err == nil && name != ""
}

func listedNames(list any) (out []string) {
	values, _ := list.([]any)
	for _, v := range values {
		if name, ok := entityName(v); ok {
			out = append(out, name)
		}
	}
	return out
}

// namedBy takes in what a note names. It is called with mu held, or by who reads all notes.
func (n *notes) namedBy(note *vault.Note) {
	if n.inArchive(note.Path) {
		return
	}
	n.entities.Put(docOfNote(note))
}

// docOfNote is a note as the graph takes it in. A note that is called by a date is about
// that day. What a memory's own note names the memory names itself, and its name is the
// beginning of a text; what a list of memories names these name, too.
func docOfNote(note *vault.Note) *knowledge.Doc {
	d := &knowledge.Doc{Ref: knowledge.Ref{Path: note.Path}, Counts: 1, First: note.Created, Last: note.Updated}
	called := append([]string{note.Title, stemOf(note.Path)}, note.Aliases...)
	if note.MemoryID != "" || holdsList(note) {
		d.Apart = entityNames(called)
		return d
	}
	if called = entityNames(called); len(called) > 0 && !isDay(stemOf(note.Path)) {
		d.Title, d.Aliases = called[0], called[1:]
	}
	for _, l := range note.Links {
		if l.Target != "" && !isAttachment(l.Target) {
			d.Links = append(d.Links, strings.TrimSuffix(path.Base(l.Target), ".md"))
		}
	}
	d.Links = entityNames(d.Links)
	for _, t := range note.Tags {
		d.Tags = append(d.Tags, t.Name, path.Base(t.Name))
	}
	d.Tags = entityNames(d.Tags)
	return d
}

// entityNames are texts as names of entities, without those that cannot be one.
func entityNames(texts []string) []string {
	var out []string
	for _, text := range texts {
		if name, err := memory.NormalizeEntity(text); err == nil && name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// isDay reports whether a note is called by a day, week or month, as daily notes are:
// 2026-03-09, 2026-W11, 2026-03-09 Monday.
func isDay(stem string) bool {
	if len(stem) < len("2026-03") || stem[4] != '-' {
		return false
	}
	year, rest := stem[:4], stem[5:]
	return strings.Trim(year, "0123456789") == "" && strings.ContainsAny(rest[:1], "0123456789WQ")
}

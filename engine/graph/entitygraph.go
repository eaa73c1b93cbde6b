package graph

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/entity"
	"emberd/internal/entity/knowledge"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// After how many changed memories the graph is built again, because that is faster, and how
// long an answer waits for the first reading of the notes.
const (
	maxTouched     = 10_000
	entityPatience = 2 * time.Second
)

// EntityGraph contains the entities that memories and notes mention. It is derived: from
// memories at the first request, from notes when they have been read for it, and from changes
// after that.
type EntityGraph struct {
	*knowledge.Graph
	wanted chan struct{} // room for one token: read the notes
	Read   chan struct{} // closed when all notes have been read

	syncing sync.Mutex // held while the graph is updated; taken before mu
	// parts are the memories that were merged into others, by the merged memory, which has
	// their mentions. syncing guards it.
	parts map[memory.ID]map[memory.ID]bool

	// mu guards the fields below. It is held only to record or take changes, so that the
	// store's writer goroutine can take it.
	mu      sync.Mutex
	begun   bool
	all     bool // any memory may have changed
	pending map[memory.ID]bool
}

// NewEntityGraph returns an empty graph, which fills at the first request.
func NewEntityGraph() *EntityGraph {
	return &EntityGraph{Graph: knowledge.New(), wanted: make(chan struct{}, 1), Read: make(chan struct{}),
		pending: make(map[memory.ID]bool)}
}

// Touched records changed memories. It never waits for more than a map.
func (g *EntityGraph) Touched(ids []memory.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.begun || g.all {
		return
	}
	for _, id := range ids {
		g.pending[id] = true
	}
	if len(g.pending) > maxTouched {
		g.all, g.pending = true, make(map[memory.ID]bool)
	}
}

// ChangedAll records that any memory may have changed.
func (g *EntityGraph) ChangedAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = g.begun
}

// take returns the changes since the last call, or that any memory may have changed.
func (g *EntityGraph) take() (ids map[memory.ID]bool, all bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	ids, all = g.pending, g.all || !g.begun
	g.begun, g.all, g.pending = true, false, make(map[memory.ID]bool)
	return ids, all
}

// Lost removes a deleted note.
func (g *EntityGraph) Lost(path string) { g.Remove(knowledge.Ref{Path: path}) }

// Partial reports whether notes are missing in the graph.
func (e *Graph) Partial() bool {
	if e.Notes.Vault == nil {
		return false
	}
	select {
	case <-e.Entities.Read:
		return false
	default:
		return true
	}
}

// GraphNow returns the graph with every change so far. If notes were not read yet, it requests
// that and returns the graph without them.
func (e *Graph) GraphNow() *knowledge.Graph {
	g := e.Entities
	if e.Partial() {
		core.Nudge(g.wanted)
	}
	g.syncing.Lock()
	defer g.syncing.Unlock()
	ids, all := g.take()
	if all {
		e.rebuild(g)
		return g.Graph
	}
	for id := range ids {
		e.updateMemory(g, id)
	}
	return g.Graph
}

// GraphSoon returns GraphNow after a short wait for notes that are being read.
func (e *Graph) GraphSoon(ctx context.Context) *knowledge.Graph {
	if e.Partial() {
		core.Nudge(e.Entities.wanted)
		ctx, cancel := context.WithTimeout(ctx, entityPatience)
		defer cancel()
		select {
		case <-e.Entities.Read:
		case <-ctx.Done():
		}
	}
	return e.GraphNow()
}

// ReadEntities reads all notes for the graph once, at the first request.
func (e *Graph) ReadEntities(ctx context.Context) {
	for e.Partial() {
		select {
		case <-ctx.Done():
			return
		case <-e.Entities.Read:
			return
		case <-e.Entities.wanted:
		}
		if _, err := e.Notes.Vault.AllLinks(ctx); err != nil && ctx.Err() == nil {
			e.Opt.Logger.Warn("list of entities in notes incomplete", "error", err)
		}
	}
}

// rebuild replaces the memories in the graph by the current ones.
func (e *Graph) rebuild(g *EntityGraph) {
	g.parts = make(map[memory.ID]map[memory.ID]bool)
	for r := range e.Stm.Rows() {
		e.addRow(g, r)
	}
	for _, id := range g.Memories() {
		if _, ok := e.Stm.Get(id); !ok {
			g.Remove(knowledge.Ref{ID: id})
		}
	}
}

// updateMemory updates a memory in the graph. If a merged memory is gone, its parts are added again.
func (e *Graph) updateMemory(g *EntityGraph, id memory.ID) {
	done := make(map[memory.ID]bool) // devices that merge the same memories at once can create a cycle
	for todo := []memory.ID{id}; len(todo) > 0; {
		id, todo = todo[0], todo[1:]
		if done[id] {
			continue
		}
		done[id] = true
		if r, ok := e.Stm.Get(id); ok {
			e.addRow(g, r)
		} else {
			g.Remove(knowledge.Ref{ID: id})
		}
		todo = slices.AppendSeq(todo, maps.Keys(g.parts[id]))
	}
}

// addRow adds a memory, but not one that was merged into another, because its mentions
// would count twice.
func (e *Graph) addRow(g *EntityGraph, r *stm.Row) {
	into, live := e.mergedInto(r)
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
	g.Put(DocOfMemory(r))
}

// mergedInto returns the memory that a cold one was merged into, "" for none, and whether that
// is live.
func (e *Graph) mergedInto(r *stm.Row) (into memory.ID, live bool) {
	if !core.Cold(r) || !r.Has("consolidated_into") {
		return "", false
	}
	m, err := r.Memory()
	if err != nil {
		return "", false
	}
	return m.ConsolidatedInto, core.MergedInto(e.Stm.Get, m.ConsolidatedInto) != nil
}

// DocOfMemory returns a memory as a document of the graph. A memory with a name in its meta is
// about the entity of that name, like those of the reference memory server. Found names are
// stored in lower case; the text has their spelling.
func DocOfMemory(r *stm.Row) *knowledge.Doc {
	d := &knowledge.Doc{Ref: knowledge.Ref{ID: r.ID()}, Names: r.Entities(), Found: r.EntitiesFound(),
		Tags: tagNames(r.Tags()), Project: r.Project(), First: r.CreatedAt()}
	if d.Found {
		d.Names = entity.Written(r.Content(), d.Names)
	}
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

// entityName returns a value as the name of an entity.
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

// tagNames returns tags as names: each as a whole and its last part.
func tagNames(tags []string) []string {
	var out []string
	for _, tag := range tags {
		out = append(out, tag, path.Base(tag))
	}
	return entityNames(out)
}

// DocOfNote returns a note as a document of the graph. A note with a date as its name is about
// that day. The note of a memory mentions nothing, because the memory mentions it already, and
// so does a note that lists memories.
func DocOfNote(note *vault.Note) *knowledge.Doc {
	d := &knowledge.Doc{Ref: knowledge.Ref{Path: note.Path}, Counts: 1, First: note.Created, Last: note.Updated}
	called := append([]string{note.Title, stemOf(note.Path)}, note.Aliases...)
	if note.MemoryID != "" || core.HoldsList(note) {
		d.Apart = entityNames(called)
		return d
	}
	if called = entityNames(called); len(called) > 0 && !isDay(stemOf(note.Path)) {
		d.Title, d.Aliases = called[0], called[1:]
	}
	for _, l := range note.Links {
		if l.Target != "" && !notes.IsAttachment(l.Target) {
			d.Links = append(d.Links, strings.TrimSuffix(path.Base(l.Target), ".md"))
		}
	}
	d.Links = entityNames(d.Links)
	var tags []string
	for _, t := range note.Tags {
		tags = append(tags, t.Name)
	}
	d.Tags = tagNames(tags)
	return d
}

// entityNames returns the texts that can be names of entities, each once and in its spelling.
func entityNames(texts []string) []string {
	var out []string
	for _, text := range texts {
		name := strings.Join(strings.Fields(text), " ")
		if _, err := memory.NormalizeEntity(name); err == nil && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// isDay reports whether a note has the name of a day, week or month, like daily notes:
// 2026-03-09, 2026-W11, 2026-03-09 Monday.
func isDay(stem string) bool {
	if len(stem) < len("2026-03") || stem[4] != '-' {
		return false
	}
	year, rest := stem[:4], stem[5:]
	return strings.Trim(year, "0123456789") == "" && strings.ContainsAny(rest[:1], "0123456789WQ")
}

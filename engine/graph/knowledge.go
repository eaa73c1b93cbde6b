package graph

import (
	"slices"

	"emberd/internal/entity"
	"emberd/internal/entity/knowledge"
	"emberd/memory"
	"emberd/op"
)

// Mentions returns for each name how often memories and notes mention it, and when last. It
// leaves out names without a mention, and the second name of an entity.
func (e *Graph) Mentions(names []string) []op.Mention {
	g := e.GraphNow()
	var out []op.Mention
	for _, name := range names {
		known, ok := g.Entity(name)
		again := slices.ContainsFunc(out, func(m op.Mention) bool { return m.Name == known.Name })
		if ok && known.Mentions > 0 && !again {
			out = append(out, op.Mention{Name: known.Name, Count: known.Mentions, LastSeen: known.LastSeen})
		}
	}
	return out
}

// EntitiesFor returns the entities in a text with their relations, at most limit. They have
// the order of the text, with entities that almost everything mentions last.
func (e *Graph) EntitiesFor(text string, limit int) []op.Entity {
	g := e.GraphNow()
	var told, common []knowledge.Entity
	// A word that is common within a sentence may be a name if it stands alone.
	for _, name := range append([]string{text},
		entity.Find(text, entity.Options{Known: g.Spelling, Limit: memory.MaxEntities})...) {
		switch known, ok := g.Entity(name); {
		case !ok || slices.ContainsFunc(told, func(k knowledge.Entity) bool { return k.Name == known.Name }):
		case known.Common:
			common = append(common, known)
		default:
			told = append(told, known)
		}
	}
	told = append(told, common...)
	var out []op.Entity
	for _, known := range told[:min(limit, len(told))] {
		view := entityView(&known)
		view.Related = e.entityRelations(g, &known, "")
		out = append(out, view)
	}
	return out
}

// entityView returns an entity without its relations.
func entityView(k *knowledge.Entity) op.Entity {
	out := op.Entity{Name: k.Name, Aliases: k.Aliases, Mentions: k.Mentions, Memories: k.Memories, Notes: k.Notes,
		FirstSeen: k.FirstSeen, LastSeen: k.LastSeen}
	out.Note = noteAbout(k)
	return out
}

// noteAbout returns the note about an entity, or "".
func noteAbout(k *knowledge.Entity) string {
	i := slices.IndexFunc(k.About, func(r knowledge.Ref) bool { return r.Path != "" })
	if i < 0 {
		return ""
	}
	return k.About[i].Path
}

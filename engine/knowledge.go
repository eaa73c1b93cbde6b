package engine

import (
	"slices"

	"emberd/internal/entities"
	"emberd/internal/knowledge"
	"emberd/memory"
	"emberd/op"
)

// mentions says of each name how often memories and notes mention it, and when last. A
// name that nothing mentions is not among the answers, and two names of one entity are
// one.
func (e *Engine) mentions(names []string) []op.Mention {
	g := e.graphNow()
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

// entitiesFor are the entities that a text names, with what they are related to, at most
// limit: in the order of the text, but those that nearly everything mentions last.
func (e *Engine) entitiesFor(text string, limit int) []op.Entity {
	g := e.graphNow()
	var told, common []knowledge.Entity
	// A word that is nothing but common in a sentence may be a name that stands alone.
	for _, name := range append([]string{text}, entities.Find(text, entities.Options{Known: g.Spelling, Limit: memory.MaxEntities})...) {
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

// entityView is an entity without what it is related to.
func entityView(k *knowledge.Entity) op.Entity {
	out := op.Entity{Name: k.Name, Aliases: k.Aliases, Mentions: k.Mentions, Memories: k.Memories, Notes: k.Notes, FirstSeen: k.FirstSeen, LastSeen: k.LastSeen}
	out.Note = noteAbout(k)
	return out
}

// noteAbout is the note about an entity, "" if there is none.
func noteAbout(k *knowledge.Entity) string {
	i := slices.IndexFunc(k.About, func(r knowledge.Ref) bool { return r.Path != "" })
	if i < 0 {
		return ""
	}
	return k.About[i].Path
}

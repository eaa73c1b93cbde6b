package promote

import (
	"path"

	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/vault/frontmatter"
	"emberd/vault/notename"
)

// NoteLink is a relation of an exported memory: Type is one of [memory.RelationTypes], Kind
// its original name, and To the name of the target note.
type NoteLink struct{ Type, Kind, To string }

// NoteNames returns the possible names of a memory's note in an export folder: the name that a
// promotion would choose, without its folder, and the same with the end of the ID.
func NoteNames(m *memory.Memory) (name, own string) {
	title := notes.TitleOf(m)
	return notename.New(title, ""), notename.New(title, m.ID.Short())
}

// NoteTitle returns a short title of a memory.
func NoteTitle(m *memory.Memory) string { return notes.TitleOf(m) }

// Note returns a memory as a note: what a promotion would write, with its relations as
// wikilinks in one property for each type. Equal memories and links give equal bytes. Note
// leaves out a link whose target no wikilink can name.
func Note(m *memory.Memory, links []NoteLink) []byte {
	var more []frontmatter.Field
	if len(m.Entities) > 0 {
		links := graph.EntityLinks(graph.Spelled(m))
		more = append(more, frontmatter.Field{Key: EntitiesKey, Value: frontmatter.List(links...)})
	}
	for _, typ := range memory.RelationTypes() {
		var all []string
		for _, l := range links {
			if text := linkTo(l); l.Type == typ && text != "" {
				all = append(all, text)
			}
		}
		if len(all) > 0 {
			more = append(more, frontmatter.Field{Key: typ, Value: frontmatter.List(all...)})
		}
	}
	return composeNote(m, more...)
}

// linkTo returns a wikilink that shows the kind of the relation.
func linkTo(l NoteLink) string {
	target := path.Base(graph.NoteTarget(l.To))
	switch {
	case !graph.Linkable(target):
		return ""
	case graph.Linkable(l.Kind):
		return "[[" + target + "|" + l.Kind + ": " + target + "]]"
	}
	return graph.NoteLink(l.To)
}

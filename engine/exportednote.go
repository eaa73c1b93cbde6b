package engine

import (
	"path"

	"emberd/memory"
	"emberd/vault"
)

// NoteLink is a relation of an exported memory: Type is one of [memory.RelationTypes], Kind
// what it is called in other words, and To the name of the note that it leads to.
type NoteLink struct{ Type, Kind, To string }

// NoteNames are the names that a note of a memory may have in a folder of an export: the
// same that a promotion would choose, without its folder, and that with the end of the id.
func NoteNames(m *memory.Memory) (name, own string) {
	title := titleOf(m)
	return vault.NoteName(title, ""), vault.NoteName(title, m.ID.Short())
}

// NoteTitle is what a memory is called where there is room for a few words.
func NoteTitle(m *memory.Memory) string { return titleOf(m) }

// Note is a memory as a note: what a promotion would write, with its relations as wikilinks
// in a property for each type of them. Equal memories and links make equal bytes. A link to
// what no wikilink can name is left out.
func Note(m *memory.Memory, links []NoteLink) []byte {
	var more []vault.Field
	for _, typ := range memory.RelationTypes() {
		var all []string
		for _, l := range links {
			if text := linkTo(l); l.Type == typ && text != "" {
				all = append(all, text)
			}
		}
		if len(all) > 0 {
			more = append(more, vault.Field{Key: typ, Value: vault.List(all...)})
		}
	}
	return composed(m, more...)
}

// linkTo is a link that shows what a relation is called.
func linkTo(l NoteLink) string {
	target := path.Base(noteTarget(l.To))
	switch {
	case !linkable(target):
		return ""
	case linkable(l.Kind):
		return "[[" + target + "|" + l.Kind + ": " + target + "]]"
	}
	return noteLink(l.To)
}

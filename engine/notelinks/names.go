package notelinks

import (
	"path"
	"slices"
	"strings"

	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/vault/linkindex"
	"emberd/vault/markdown"
	"emberd/vault/notename"
)

// noteNames are the names of all notes of a vault, as links have them.
type noteNames struct {
	byStem map[string][]string // paths by folded name, without folder and .md
	all    *linkindex.Index    // with aliases; nil if links were not asked for since the start
}

// newNoteNames reads the names from the index.
func newNoteNames(n *notes.VaultNotes) *noteNames {
	names := &noteNames{byStem: make(map[string][]string), all: notes.LoadedLinks(n)}
	index, _ := n.Current()
	for p := range index.Known() {
		names.add(p)
	}
	for _, note := range n.Archive.List() {
		names.add(note.Path)
	}
	return names
}

func (n *noteNames) add(p string) {
	stem := notename.Fold(stemOf(p))
	if !slices.Contains(n.byStem[stem], p) {
		n.byStem[stem] = append(n.byStem[stem], p)
	}
}

// stemOf returns the name of a note, without folder and .md.
func stemOf(p string) string { return path.Base(graph.NoteTarget(p)) }

// linkTo returns a link to a note: by its name if no other note has that, else by its path with the name shown. shown
// is what the link shows, "" for the name. It returns "" for a path that cannot be in a link.
func (n *noteNames) linkTo(p, shown string) string {
	target, stem := graph.NoteTarget(p), stemOf(p)
	if shown == "" {
		shown = stem
	}
	if len(n.byStem[notename.Fold(stem)]) == 1 {
		target = stem
	}
	switch {
	case !graph.Linkable(target) || !graph.Linkable(shown):
		return ""
	case target == shown:
		return "[[" + target + "]]"
	}
	return "[[" + target + "|" + shown + "]]"
}

// resolve returns the note that an item of a property links to, "" for none and for any other text.
func (n *noteNames) resolve(from, item string) string {
	item = strings.TrimSpace(item)
	links := markdown.Wikilinks(item, 1)
	if len(links) != 1 || !strings.HasPrefix(item, "[[") || !strings.HasSuffix(item, "]]") || links[0].Target == "" {
		return ""
	}
	target := links[0].Target
	some := n.byStem[notename.Fold(path.Base(notename.TrimExtension(target)))]
	if len(some) == 0 {
		return ""
	}
	few := linkindex.New()
	for _, p := range some {
		few.Add(p, nil, nil)
	}
	to, _ := few.Resolve(from, target)
	return to
}

// named returns the note that has a name or an alias, "" for none. ours reports whether a note is about no entity:
// that of a memory, or one that emberd writes.
func (n *noteNames) named(name string, ours func(path string) bool) string {
	some := n.byStem[notename.Fold(name)]
	if len(some) == 0 && n.all != nil {
		some = n.all.Meanings(name)
	}
	some = slices.DeleteFunc(slices.Clone(some), ours)
	if len(some) == 0 {
		return ""
	}
	return slices.MinFunc(some, func(a, b string) int {
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}

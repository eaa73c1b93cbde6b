package graph

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"emberd/engine/notes"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/markdown"
)

// The notes that a new note links as related: of memories that share so many entities with its
// own, and the maximum number of them.
const (
	relatedEntities = 2
	relatedMost     = 5
)

const RelatedKey = "related"

// Related returns links to the notes of the memories that share most with m. The score is
// seven tenths entities and three tenths tags, each the shared part of both sets. It reads the
// merged state only.
func (e *Graph) Related(m *memory.Memory) []string {
	if len(m.Entities) < relatedEntities {
		return nil
	}
	type relation struct {
		id       memory.ID
		path     string
		strength float64
	}
	var all []relation
	mine, tags := folded(m.Entities), folded(m.Tags)
	for r := range e.Stm.Rows() {
		if !r.Promoted() || r.ID() == m.ID {
			continue
		}
		other, err := r.Memory()
		if err != nil || !other.NoteGone.IsZero() {
			continue
		}
		shared, share := overlap(mine, folded(other.Entities))
		if shared < relatedEntities {
			continue
		}
		_, sameTags := overlap(tags, folded(other.Tags))
		all = append(all, relation{other.ID, other.PromotedTo, 0.7*share + 0.3*sameTags})
	}
	slices.SortFunc(all, func(a, b relation) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(a.id, b.id))
	})
	var links []string
	for _, r := range all {
		if link := NoteLink(r.path); link != "" && len(links) < relatedMost {
			links = append(links, link)
		}
	}
	return links
}

// folded returns the set of names without case.
func folded(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[strings.ToLower(name)] = true
	}
	return set
}

// overlap returns how many names two sets share, and their part of both together.
func overlap(a, b map[string]bool) (shared int, share float64) {
	for name := range a {
		if b[name] {
			shared++
		}
	}
	if all := len(a) + len(b) - shared; all > 0 {
		share = float64(shared) / float64(all)
	}
	return shared, share
}

// NoteLink returns a wikilink to a note, or "" if the path cannot be in one.
func NoteLink(name string) string {
	target := NoteTarget(name)
	if !Linkable(target) {
		return ""
	}
	return "[[" + target + "|" + path.Base(target) + "]]"
}

// NoteTarget returns the path of a note as links have it.
func NoteTarget(name string) string { return strings.TrimSuffix(name, ".md") }

// Linkable reports whether a text can be in a wikilink.
func Linkable(text string) bool {
	return text != "" && text == strings.TrimSpace(text) && !strings.ContainsAny(text, "[]|#^\\\n\r\t")
}

// EntityLinks returns the entities, as wikilinks where possible.
func EntityLinks(entities []string) []string {
	out := make([]string, len(entities))
	for i, name := range entities {
		if out[i] = name; Linkable(name) {
			out[i] = "[[" + name + "]]"
		}
	}
	return out
}

// RelatedIn returns the links in the note's property that Related wrote.
func RelatedIn(note *vault.Note) []string {
	i := slices.IndexFunc(note.Properties, func(p markdown.Property) bool { return p.Key == RelatedKey })
	if i < 0 {
		return nil
	}
	var links []string
	for _, l := range note.Links {
		if l.Line == note.Properties[i].Line {
			links = append(links, NoteLink(l.Target))
		}
	}
	return links
}

// AliasesOf returns other names of a memory's note: those in its meta, and the first line of
// its text if the title is shorter.
func AliasesOf(m *memory.Memory) []string {
	var names []string
	var given []string
	if json.Unmarshal(m.Meta["aliases"], &given) == nil {
		names = given
	}
	if line := notes.FirstLine(m); line != notes.TitleOf(m) && len([]rune(line)) <= maxAliasLen {
		names = append(names, line)
	}
	var out []string
	for _, name := range names {
		if name = strings.Join(strings.Fields(name), " "); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// in characters; a paragraph is not a name
const maxAliasLen = 200

// SourcesOf returns the files and addresses of a memory's sources.
func SourcesOf(m *memory.Memory) []string {
	var out []string
	for _, s := range m.Sources {
		text := s.Place()
		if s.By != nil && s.By.Via == stm.Itself {
			continue // the note itself
		}
		if text != "" && s.Kind != "" && !strings.Contains(s.Ref, "://") {
			text = s.Kind + ": " + text
		}
		if text = strings.Join(strings.Fields(text), " "); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

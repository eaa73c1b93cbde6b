package engine

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// Which notes a new note names as related: those of memories that share so many entities
// with its own, and how many of them at most.
const (
	relatedEntities = 2
	relatedMost     = 5
)

const relatedKey = "related"

// related are links to the notes of the memories that have most in common with m, as the
// merged state has them: seven tenths of it entities and three tags, each as the share
// that both have of what either has.
func (e *Engine) related(m *memory.Memory) []string {
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
	for r := range e.stm.Rows() {
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
		if link := noteLink(r.path); link != "" && len(links) < relatedMost {
			links = append(links, link)
		}
	}
	return links
}

// folded is a set of names, whatever their case.
func folded(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[strings.ToLower(name)] = true
	}
	return set
}

// overlap counts what two sets share, and returns which part of both together it is.
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

// noteLink is a wikilink to a note, "" for a path that none can be made of.
func noteLink(name string) string {
	target := noteTarget(name)
	if !linkable(target) {
		return ""
	}
	return "[[" + target + "|" + path.Base(target) + "]]"
}

// noteTarget is the path of a note as links have it.
func noteTarget(name string) string { return strings.TrimSuffix(name, ".md") }

// linkable reports whether text can stand in a wikilink.
func linkable(text string) bool {
	return text != "" && text == strings.TrimSpace(text) && !strings.ContainsAny(text, "[]|#^\\\n\r\t")
}

// entityLinks are the entities as links, those that can be.
func entityLinks(entities []string) []string {
	out := make([]string, len(entities))
	for i, name := range entities {
		if out[i] = name; linkable(name) {
			out[i] = "[[" + name + "]]"
		}
	}
	return out
}

// relatedIn are the links of a note's property of that name, as related made them.
func relatedIn(note *vault.Note) []string {
	i := slices.IndexFunc(note.Properties, func(p vault.Property) bool { return p.Key == relatedKey })
	if i < 0 {
		return nil
	}
	var links []string
	for _, l := range note.Links {
		if l.Line == note.Properties[i].Line {
			links = append(links, noteLink(l.Target))
		}
	}
	return links
}

// aliasesOf are other names of a memory's note: those in its meta, and the first line of
// its text where the title is only the beginning of it.
func aliasesOf(m *memory.Memory) []string {
	var names []string
	var given []string
	if json.Unmarshal(m.Meta["aliases"], &given) == nil {
		names = given
	}
	if line := firstLine(m); line != titleOf(m) && len([]rune(line)) <= longestAlias {
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

// longestAlias is in characters; a paragraph is no name.
const longestAlias = 200

// sourcesOf are the files and addresses that a memory was learned from.
func sourcesOf(m *memory.Memory) []string {
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

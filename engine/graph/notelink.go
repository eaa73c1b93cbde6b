package graph

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"emberd/engine/notes"
	"emberd/memory"
	"emberd/stm"
)

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

// Linkable reports whether a text can be in a wikilink. A property does not have "<%" as it is: Templater would run it.
func Linkable(text string) bool {
	return text != "" && text == strings.TrimSpace(text) && !strings.ContainsAny(text, "[]|#^\\\n\r\t") &&
		!strings.Contains(text, "<%")
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

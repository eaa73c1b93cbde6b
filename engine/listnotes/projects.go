package listnotes

import (
	"cmp"
	"slices"
	"strings"

	"emberd/internal/notegen"
	"emberd/memory"
	"emberd/vault"
)

// Bounds of the notes about projects: a project of fewer memories gets none, and so do all but the largest.
const (
	minProject  = 3
	maxProjects = 50
)

// projectTexts adds the lists of the largest projects.
func (e *Lists) projectTexts(all []notegen.Entry, texts map[string]ListText) {
	byName := make(map[string][]notegen.Entry)
	for _, entry := range all {
		if entry.Project != "" {
			byName[entry.Project] = append(byName[entry.Project], entry)
		}
	}
	has := make(map[string]bool) // projects that have a note
	for _, note := range e.Notes.Vault.Archive.List() {
		if name, is := strings.CutPrefix(note.List, vault.ProjectList); is {
			has[name] = true
			if byName[name] == nil {
				byName[name] = []notegen.Entry{} // its note says that there is nothing left
			}
		}
	}
	var names []string
	for name, entries := range byName {
		if len(entries) >= minProject || has[name] {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byName[b]), len(byName[a])), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), maxProjects)] {
		entries := byName[name]
		text := notegen.Project(name, entries, e.conflictsAmong(entries), Listable)
		texts[vault.ProjectList+name] = ListText{text, len(entries)}
	}
}

// conflictsAmong returns the pairs of memories that contradict each other, each once.
func (e *Lists) conflictsAmong(entries []notegen.Entry) (pairs [][2]memory.ID) {
	is := make(map[memory.ID]bool, len(entries))
	for i := range entries {
		is[entries[i].ID] = true
	}
	for i := range entries {
		row, live := e.Stm.Get(entries[i].ID)
		if !live || !row.MayRelate() {
			continue
		}
		for _, r := range e.Stm.Relations(row) {
			pair := [2]memory.ID{min(r.From, r.To), max(r.From, r.To)}
			if r.Type == memory.Contradicts && is[r.To] && !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]memory.ID) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return pairs
}

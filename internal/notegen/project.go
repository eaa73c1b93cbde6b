package notegen

import (
	"fmt"
	"slices"
	"strings"

	"emberd/memory"
)

// projectBounds are those of a list of one project's memories.
func projectBounds() bounds { return bounds{lines: 40, letters: 160} }

// maxConflicts is how many pairs of memories that contradict each other are listed.
const maxConflicts = 20

// Project lists the decisions and open tasks of a project, the most important first and then the latest, and the
// memories that contradict each other, in pairs. Only memories of the project are to be given.
func Project(name string, all []Entry, conflicts [][2]memory.ID, judge Judge) string {
	var b strings.Builder
	open(&b, "memories of the project "+inline(name, maxNameLen), len(all))
	byID := make(map[memory.ID]*Entry, len(all))
	var decisions, threads []*Entry
	for i := range all {
		e := &all[i]
		byID[e.ID] = e
		switch {
		case e.labeled("decision", "decisions"):
			decisions = append(decisions, e)
		case strings.EqualFold(e.Section, "Ongoing Threads"),
			e.labeled("thread", "threads", "todo", "question", "open"):
			threads = append(threads, e)
		}
	}
	how := "`emberd list --project " + inline(name, maxNameLen) + "`"
	for _, part := range []struct {
		heading string
		entries []*Entry
	}{{"Decisions", decisions}, {"Open tasks", threads}} {
		if len(part.entries) > 0 {
			heading(&b, part.heading)
			lines(&b, slices.SortedFunc(slices.Values(part.entries), newer), projectBounds(), judge, how)
		}
	}
	writeConflicts(&b, byID, conflicts, judge)
	return b.String()
}

// writeConflicts lists pairs of memories that contradict each other.
func writeConflicts(b *strings.Builder, byID map[memory.ID]*Entry, conflicts [][2]memory.ID, judge Judge) {
	if len(conflicts) == 0 {
		return
	}
	heading(b, "Conflicts")
	for i, pair := range conflicts[:min(len(conflicts), maxConflicts)] {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, id := range pair {
			line(b, byID[id], projectBounds().letters, judge)
		}
	}
	if more := len(conflicts) - maxConflicts; more > 0 {
		fmt.Fprintf(b, "\nThis list omits %d pairs; to list open review items, run: `emberd review list`\n", more)
	}
}

// labeled reports whether the category, the type or a tag of a memory is one of these words.
func (e *Entry) labeled(words ...string) bool {
	return slices.ContainsFunc(append([]string{e.Category, e.Type}, e.Tags...), func(label string) bool {
		label, _, _ = strings.Cut(strings.ToLower(label), "/")
		return slices.Contains(words, label)
	})
}

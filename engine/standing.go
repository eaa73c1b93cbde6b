package engine

import (
	"fmt"
	"strings"

	"emberd/internal/plainly"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The most that the words of a tool or the web count for before a person confirms them:
// what any memory counts for that claims nothing.
const (
	dataImportance = 0.5
	dataStrength   = 1
)

// checkStanding refuses a memory that is data only and claims to count for more. What it
// has already, as was says, it may keep.
func checkStanding(m *memory.Memory, was memory.Memory) error {
	if !m.DataOnly() {
		return nil
	}
	refused := func(field, what string, most any) error {
		return memory.Errorf(memory.Invalid, "%s, and %s is the most for what %s; leave it out, and set it with emberd edit once the memory is confirmed (emberd confirm)",
			what, fmt.Sprint(most), saidBy(m)).At(field)
	}
	switch {
	case m.Importance > max(dataImportance, was.Importance):
		return refused("importance", fmt.Sprintf("importance is %g", m.Importance), dataImportance)
	case m.Strength > max(dataStrength, was.Strength):
		return refused("strength", fmt.Sprintf("strength is %g", m.Strength), dataStrength)
	case m.Core && !was.Core:
		return memory.Errorf(memory.Invalid, "a memory of what %s cannot be core; leave that out, and set it with emberd edit once the memory is confirmed (emberd confirm)", saidBy(m)).At("core")
	}
	return nil
}

// saidBy names where the words of a memory that is data only come from.
func saidBy(m *memory.Memory) string {
	if m.Origin == memory.FromWeb {
		return "the web says"
	}
	return "a tool says"
}

// held is why nothing raises what a memory counts for, "" if something may: because the
// memory is data only, or because whoever learned it once more is a tool or the web.
func held(m *memory.Memory, link memory.Source) string {
	switch {
	case m.DataOnly():
		return onlyData(m)
	case fromData(link):
		return "what a tool or the web says once more is kept among its sources, and makes it count for no more"
	}
	return ""
}

// onlyData says why nothing raises what a memory counts for that is data only.
func onlyData(m *memory.Memory) string {
	return fmt.Sprintf("it is what %s, which counts for no more before a person confirms it: emberd confirm %s", saidBy(m), m.ID.Short())
}

// doubts are why a memory may count for less than it says, "" if nothing is known: it is
// archived, another took its place, or nobody confirmed it.
func doubts(m *op.Memory) string {
	var said []string
	if m.Stage.Cold() {
		said = append(said, archived(m))
	}
	if m.SupersededBy != "" {
		said = append(said, "superseded by memory "+m.SupersededBy.Short())
	}
	if m.DataOnly() {
		said = append(said, fmt.Sprintf("what %s, and unconfirmed", saidBy(&m.Memory)))
	}
	return strings.Join(said, "; ")
}

// archived says of a cold memory what is left of it.
func archived(m *op.Memory) string {
	if !m.NoteGone.IsZero() {
		return "archived, and this summary is all that is left of it"
	}
	return fmt.Sprintf("archived, and this is its summary; emberd rekindle %s brings its text back", m.ID.Short())
}

// dataOnly is [memory.Memory.DataOnly] of a row. One that cannot be read is none.
func dataOnly(r *stm.Row) bool {
	m, err := r.Memory()
	return err == nil && m.DataOnly()
}

// unconfirmed refuses to give a note to a memory that is data only. One that has a note
// came in with it.
func unconfirmed(m *memory.Memory) error {
	if !m.DataOnly() || m.PromotedTo != "" {
		return nil
	}
	return memory.Errorf(memory.Conflict, "memory %s is what %s, and gets a note only once a person confirms it; emberd confirm %s does that", m.ID, saidBy(m), m.ID.Short())
}

// veiled is why a memory gets no note by itself, "" if nothing speaks against it: its text
// reads otherwise to a person than to a machine, so that a person has to look at it.
func veiled(content string) string {
	if !plainly.Deceives(content) {
		return ""
	}
	kinds := make([]string, 0, 2)
	for _, k := range plainly.Kinds(content) {
		if k == plainly.Tags || k == plainly.Direction {
			kinds = append(kinds, string(k))
		}
	}
	return "its text has " + strings.Join(kinds, " and ") + ", which read otherwise to a person than to a machine"
}

// confirms reports whether a link is of a person at the command line, whose word makes a
// memory count like any other.
func confirms(link memory.Source) bool {
	return link.Kind == memory.FromUser && link.By != nil && link.By.Via == viaCLI
}

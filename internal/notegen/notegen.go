// Package notegen writes the two notes that show what a store of memories holds:
// the index, by section, and the core, what is never to be forgotten. It is text in,
// Markdown out: no file, no clock, nothing of the computer. The same memories give the
// same bytes in whatever order they come, so that devices which have merged the same
// state write the same note.
//
// Both are bounded, and say what they leave out and how to list it. Texts of memories
// are data, shown on one line each and escaped, so that Obsidian and its plugins neither
// run nor link nor format what is in them (https://help.obsidian.md/syntax,
// https://spec.commonmark.org/0.31.2/#backslash-escapes).
//
// Slices that are given are not changed or kept.
package notegen

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"emberd/internal/text"
	"emberd/memory"
)

// bounds are how many lines stand under a heading, and how many characters of a text.
type bounds struct{ lines, letters int }

func indexBounds() bounds { return bounds{lines: 40, letters: 100} }
func coreBounds() bounds  { return bounds{lines: 100, letters: 240} }

// How many characters the rest of a line has, and how much of a text is looked at, in bytes.
const (
	maxSourceLen = 40
	maxNameLen   = 60 // of a section
	looked       = 2 << 10
)

// Entry is what a list says of one memory.
type Entry struct {
	ID         memory.ID
	Text       string // the beginning of its content, at most some 2 KiB
	Section    string
	Project    string
	Category   string
	Type       string
	Tags       []string
	Importance float64
	Created    time.Time
	Source     string // in few words, "" if nothing is known
	// Note is the path of its note in the vault, "" if it has none.
	Note string
}

// Judge is asked of each text that is about to be shown. It returns why it is not to be,
// "" if nothing speaks against it. A nil one lets everything pass.
type Judge func(text string) (why string)

// EntryOf makes the entry of a memory, without Note.
func EntryOf(m *memory.Memory) Entry {
	return Entry{
		ID: m.ID, Text: strings.Clone(text.FirstBytes(m.Content, looked)), Section: m.Section, Project: m.Project,
		Category: m.Category,
		Type:     m.Type, Tags: m.Tags, Importance: m.Importance, Created: m.CreatedAt.UTC(), Source: sourceOf(m),
	}
}

// sourceOf returns where a memory comes from: what was given as its source, the name of
// what it was learned from first, or whose words it is.
func sourceOf(m *memory.Memory) string {
	source := m.Source
	for _, s := range m.Sources {
		if source == "" && s.Ref != "" {
			source = path.Base(s.Ref)
		}
	}
	switch m.Origin {
	case memory.FromTool, memory.FromWeb: // the reader of the list needs to know
		return strings.TrimSuffix(m.Origin+": "+source, ": ")
	}
	return cmp.Or(source, m.Origin)
}

// newer orders entries: the most important first, then the latest.
func newer(a, b *Entry) int {
	return cmp.Or(cmp.Compare(b.Importance, a.Importance), b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
}

// older orders entries: the most important first, then the oldest.
func older(a, b *Entry) int {
	return cmp.Or(cmp.Compare(b.Importance, a.Importance), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}

// open begins a list: what it lists, and which of the user's edits stay.
func open(b *strings.Builder, what string, n int) {
	fmt.Fprintf(b, "emberd keeps this list of %s (%d) up to date. Write your own text "+
		"above or below the list: emberd overwrites edits in the list.\n", what, n)
}

// heading begins a part of a list.
func heading(b *strings.Builder, name string) {
	fmt.Fprintf(b, "\n## %s\n\n", inline(name, maxNameLen))
}

// lines writes the first entries, at most so many, and says how many more there are.
func lines(b *strings.Builder, all []*Entry, bounds bounds, judge Judge, how string) {
	for i := range all[:min(bounds.lines, len(all))] {
		line(b, all[i], bounds.letters, judge)
	}
	if more := len(all) - bounds.lines; more > 0 {
		fmt.Fprintf(b, "\n%d more: %s\n", more, how)
	}
}

func line(b *strings.Builder, e *Entry, longest int, judge Judge) {
	text, source := cmp.Or(inline(firstWords(e.Text), longest), "no words"), inline(e.Source, maxSourceLen)
	if judge != nil {
		if why := judge(e.Text + "\n" + e.Source); why != "" {
			text, source = "not shown: "+inline(why, longest), ""
		}
	}
	b.WriteString("- " + text)
	if target, ok := wikilink(e.Note); ok {
		b.WriteString(" ([[" + target + "|note]])")
	}
	fmt.Fprintf(b, " · %s · %s", Mark(e.ID), e.Created.Format(time.DateOnly))
	if source != "" {
		b.WriteString(" · " + source)
	}
	b.WriteString("\n")
}

// Mark returns how a list names a memory. It is in each line about it, and nothing else that
// a list says contains it.
func Mark(id memory.ID) string { return "`" + id.Short() + "`" }

// wikilink returns what leads to a note, unless its path has what cannot stand in a link.
func wikilink(note string) (target string, ok bool) {
	target = strings.TrimSuffix(note, ".md")
	bad := func(r rune) bool { return r < ' ' || strings.ContainsRune("[]|#^\\%<>`:$", r) }
	return target, target != "" && target == strings.TrimSpace(target) && !strings.ContainsFunc(target, bad)
}

// lead is what a line of Markdown begins with and is better shown without.
var lead = text.Pattern("^(?:\\s|#{1,6}\\s|>|[-*+]\\s|\\[[ xX]\\]\\s|`{3,}\\S*|~{3,}\\S*)*")

// firstWords returns the first line of a text that says something.
func firstWords(text string) string {
	for line := range strings.Lines(text) {
		line = lead().ReplaceAllString(line, "")
		if strings.ContainsFunc(line, says) {
			return line
		}
	}
	return text
}

package importer

import (
	"io"
	"slices"
	"strings"
	"time"

	"emberd/internal/notegen"
	"emberd/internal/text"
	"emberd/memory"
)

// Notes reads a notes.md as the specification "memory tools for agents" keeps it: five
// sections with a list in each, and its core.md, whose four sections make core memories:
//
//	# Working Memory
//	*Updated: 2026-01-15T10:30:00*
//
//	## Important Facts
//	- one fact an item
//
// The items have no times of their own, and are as old as the file says that it is.
func Notes(r io.Reader, o *Options) (*Result, error) {
	text, err := readText(r)
	if err != nil {
		return nil, err
	}
	n := &notes{builder: newBuilder("notes", o), odd: map[string]bool{}}
	all, headings := blocks(text, false)
	if !slices.ContainsFunc(headings, func(name string) bool { section, _ := sectionOf(name); return section != "" }) {
		return nil, memory.Errorf(memory.Invalid,
			"this is not a notes.md file: it contains no heading of a section (%s) or of core memories (%s)",
			strings.Join(notegen.Sections(), ", "), strings.Join(coreHeadings(), ", "))
	}
	for _, b := range all {
		n.block(b)
	}
	return &n.Result, nil
}

type notes struct {
	*builder
	updated time.Time
	odd     map[string]bool // headings that are reported already
}

func coreHeadings() []string {
	return []string{notegen.Identity, notegen.Projects, notegen.Relationships, notegen.System}
}

var (
	updatedLine = text.Pattern(`(?i)^\*?(?:last )?updated: *([^*]+?)\*?$`)
	coreSaying  = "These are protected notes that will never be automatically forgotten."
)

func (n *notes) block(b block) {
	if m := updatedLine().FindStringSubmatch(b.text); m != nil {
		t, err := time.Parse("2006-01-02 15:04", m[1])
		if full, ok := moment(m[1], n.o.Now); ok {
			t, err = full, nil
		}
		if err == nil && t.After(time.UnixMilli(0)) && t.Before(n.o.Now) {
			n.updated = t
		}
		return
	}
	section, core := sectionOf(b.heading)
	switch {
	case section == "" && b.text == coreSaying:
	case section == "" && (b.heading == "" || strings.HasSuffix(b.heading, "Memory")):
		n.note(Place{Line: b.line}, "skipped this text, because it is above the first section")
	default:
		n.item(b, section, core)
	}
}

// sectionOf returns the section that a heading names, and whether it is one of the core.
func sectionOf(heading string) (section string, core bool) {
	for _, name := range notegen.Sections() {
		if strings.EqualFold(name, heading) {
			return name, false
		}
	}
	for _, name := range coreHeadings() {
		if strings.EqualFold(name, heading) {
			return name, true
		}
	}
	return "", false
}

func (n *notes) item(b block, section string, core bool) {
	if section == "" && !n.odd[b.heading] {
		n.odd[b.heading] = true
		n.note(Place{Line: b.line}, "%.80q is not a standard section; emberd imports it as a separate section",
			b.heading)
	}
	m, ok := n.memoryOf(b, "")
	if !ok {
		return
	}
	if m.CreatedAt.IsZero() && !n.updated.IsZero() {
		m.CreatedAt = n.updated.Add(time.Duration(len(n.Records)) * time.Millisecond)
	}
	if core {
		m.Core, m.Importance = true, coreImportance
	} else {
		m.Section, m.Category = m.Category, ""
	}
	if section != "" && !core {
		m.Section = section
	}
	m.ID = n.id(m.Collection, m.Section+m.Category, m.Content)
	n.add(&m, Place{Line: b.line})
}

// coreImportance is what the specification gives a core note.
const coreImportance = 0.9

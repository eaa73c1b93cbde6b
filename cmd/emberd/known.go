package main

import (
	"fmt"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// printConflict prints something known that disagrees, in what, and what can be done.
func (s *state) printConflict(c *op.Conflict) {
	s.printf("%s\n", s.matchLine(&c.Match, red))
	s.printf("%s", s.screen.paragraph(flat(c.Text), nil, "  "))
	newer := "what is known is newer"
	if c.Newer == "claim" {
		newer = "what is known is older"
	}
	s.printf("%s", s.screen.said(red, flat(c.Why)+"; "+newer))
	s.printStanding(&c.Match)
	if c.Supersede != "" {
		s.printf("%s", s.screen.said(faint, "if that is out of date: "+flat(c.Supersede)))
	}
}

// printMatch prints something known that is about what a text says.
func (s *state) printMatch(m *op.Match) {
	colour := cyan
	if m.Verdict == op.VerdictConfirms {
		colour = green
	}
	s.printf("%s\n", s.matchLine(m, colour))
	s.printf("%s", s.screen.paragraph(flat(m.Text), nil, "  "))
	s.printStanding(m)
	if m.Memory != nil {
		s.printSource(m.Memory.SourceText())
	}
}

// printStanding says why a memory may count for less than it says.
func (s *state) printStanding(m *op.Match) {
	if m.Standing != "" {
		s.printf("%s", s.screen.said(red, flat(m.Standing)))
	}
}

// matchLine is what stands above the text of a match.
func (s *state) matchLine(m *op.Match, colour style) string {
	said := []string{s.screen.paint(colour, pad(m.Verdict, len(op.VerdictConfirms))), fmt.Sprintf("%4.2f", m.Similarity)}
	if m.Note != nil && m.Memory == nil {
		return strings.Join(slices.Concat([]string{s.screen.paint(yellow, pad("note", 8))}, said, []string{s.gist(m.Note.Title, len("note      conflict  0.00  "))}), "  ") + s.place(m.Note)
	}
	parts := append([]string{s.short(m.Memory.ID)}, said...)
	parts = append(parts, s.screen.paint(faint, pad(age(s.now(), m.Memory.CreatedAt), 6)))
	if m.Memory.Stage != memory.Active {
		parts = append(parts, s.screen.paint(red, string(m.Memory.Stage)))
	}
	parts = append(parts, nonEmpty(s.screen.paint(faint, clean(m.Memory.Project)), s.screen.paint(cyan, clean(tagged(m.Memory.Tags))))...)
	return strings.TrimRight(strings.Join(parts, "  "), " ")
}

// printSource prints where a memory comes from.
func (s *state) printSource(source string) {
	if source != "" {
		s.printf("%s", s.screen.said(faint, flat(source)))
	}
}

// printReinforcement prints what became of a memory that was learned once more.
func (s *state) printReinforcement(r *op.Reinforcement) {
	if r == nil {
		return
	}
	text := fmt.Sprintf("importance %.2g → %.2g", r.OldImportance, r.NewImportance)
	if r.OldImportance == r.NewImportance {
		text = fmt.Sprintf("importance %.2g", r.NewImportance)
	}
	if r.Core {
		text += ", core now"
	}
	text += ", learned " + count(r.Sources, "time", "times")
	if r.Similarity > 0 {
		text += fmt.Sprintf(", similarity %.2f", r.Similarity)
	}
	s.printf("%s", s.screen.said(green, text))
	if len(r.Entities) == 0 {
		return
	}
	mentions := make([]string, len(r.Entities))
	for i, m := range r.Entities {
		mentions[i] = flat(m.Name) + " " + count(m.Count, "time", "times")
	}
	s.printf("%s", s.screen.said(faint, "mentioned: "+strings.Join(mentions, ", ")))
}

// noteReinforcement says why the importance did not rise, or that it is that of a core
// memory now.
func (s *state) noteReinforcement(r *op.Reinforcement, id memory.ID) {
	switch {
	case r == nil:
	case r.Held != "":
		s.note("%s", flat(r.Held))
	case r.SuggestCore:
		s.note("its importance reaches 0.8; emberd edit %s --core keeps it from ever fading", id.Short())
	}
}

// entityLines are what is known of a person or thing.
func (s *state) entityLines(e *op.Entity) string {
	line := s.screen.paint(yellow, flat(e.Name)) + "  " + s.entityText(e) + "\n"
	if s.screen.width > 0 { // where it is too long for what is left of the line
		line = s.screen.paint(yellow, flat(e.Name)) + "\n" + s.screen.said(faint, s.entityText(e))
	}
	if len(e.Related) == 0 {
		return line
	}
	return line + s.screen.said("", relatedText(e.Related))
}

// relatedText names the strongest of what something has to do with, by how.
func relatedText(related []op.EntityRelation) string {
	const most = 6
	var kinds []string
	names := make(map[string][]string)
	for _, r := range related[:min(len(related), most)] {
		kind, name := relationText(&r), flat(r.Name)
		switch {
		case names[kind] == nil:
			kinds = append(kinds, kind)
		case slices.Contains(names[kind], name):
			continue
		}
		names[kind] = append(names[kind], name)
	}
	for i, kind := range kinds {
		kinds[i] = kind + " " + strings.Join(names[kind], ", ")
	}
	return strings.Join(kinds, "; ")
}

// relationText says how an entity stands to another.
func relationText(r *op.EntityRelation) string {
	kind := strings.ReplaceAll(flat(r.Type), "_", " ")
	switch {
	case !r.Incoming:
		return kind
	case r.Type == "links_to":
		return "linked from"
	}
	return "← " + kind
}

func (s *state) entityText(e *op.Entity) string {
	parts := []string{count(e.Mentions, "mention", "mentions")}
	if e.Memories > 0 {
		parts = append(parts, count(e.Memories, "memory", "memories"))
	}
	if e.Notes > 0 {
		parts = append(parts, count(e.Notes, "note", "notes"))
	}
	if !e.LastSeen.IsZero() {
		parts = append(parts, "last "+ago(s.now(), e.LastSeen))
	}
	if len(e.Aliases) > 0 {
		parts = append(parts, "also "+flat(strings.Join(e.Aliases, ", ")))
	}
	return strings.Join(nonEmpty(append(parts, flat(e.Note))...), ", ")
}

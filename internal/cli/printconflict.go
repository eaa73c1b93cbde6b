package cli

import (
	"fmt"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// PrintConflict prints something known that disagrees, in what, and what can be done.
func PrintConflict(s *App, c *op.Conflict) {
	s.Printf("%s\n", matchLine(s, &c.Match, Red))
	s.Printf("%s", s.Screen.Paragraph(Flat(c.Text), nil, "  "))
	newer := "the stored memory is newer than the claim"
	if c.Newer == "claim" {
		newer = "the stored memory is older than the claim"
	}
	s.Printf("%s", s.Screen.Said(Red, Flat(c.Why)+"; "+newer))
	printStanding(s, &c.Match)
	if c.Supersede != "" {
		hint := placed("if that memory is out of date, run: "+Flat(c.Supersede), placeFlags(s))
		s.Printf("%s", s.Screen.Said(Faint, hint))
	}
}

// PrintMatch prints something known that is about what a text says.
func PrintMatch(s *App, m *op.Match) {
	colour := Cyan
	if m.Verdict == op.VerdictConfirms {
		colour = Green
	}
	s.Printf("%s\n", matchLine(s, m, colour))
	s.Printf("%s", s.Screen.Paragraph(Flat(m.Text), nil, "  "))
	printStanding(s, m)
	if m.Memory != nil {
		PrintSource(s, m.Memory.SourceText())
	}
}

// printStanding says why a memory may count for less than it says.
func printStanding(s *App, m *op.Match) {
	if m.Standing != "" {
		s.Printf("%s", s.Screen.Said(Red, Flat(m.Standing)))
	}
}

// matchLine is what stands above the text of a match.
func matchLine(s *App, m *op.Match, colour Style) string {
	said := []string{s.Screen.Paint(colour, Pad(m.Verdict, len(op.VerdictConfirms))),
		fmt.Sprintf("%4.2f", m.Similarity)}
	if m.Note != nil && m.Memory == nil {
		return strings.Join(slices.Concat([]string{s.Screen.Paint(Yellow, Pad("note", 8))}, said,
			[]string{s.Gist(m.Note.Title, len("note      conflict  0.00  "))}), "  ") + Place(s, m.Note)
	}
	parts := append([]string{s.Short(m.Memory.ID)}, said...)
	parts = append(parts, s.Screen.Paint(Faint, Pad(Age(s.Now(), m.Memory.CreatedAt), 6)))
	if m.Memory.Stage != memory.Active {
		parts = append(parts, s.Screen.Paint(Red, string(m.Memory.Stage)))
	}
	parts = append(parts, NonEmpty(s.Screen.Paint(Faint, Clean(m.Memory.Project)),
		s.Screen.Paint(Cyan, Tagged(m.Memory.Tags)))...)
	return strings.TrimRight(strings.Join(parts, "  "), " ")
}

// PrintSource prints where a memory comes from.
func PrintSource(s *App, source string) {
	if source != "" {
		s.Printf("%s", s.Screen.Said(Faint, Flat(source)))
	}
}

// PrintReinforcement prints what became of a memory that was learned once more.
func PrintReinforcement(s *App, r *op.Reinforcement) {
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
	text += ", learned " + Count(r.Sources, "time", "times")
	if r.Similarity > 0 {
		text += fmt.Sprintf(", similarity %.2f", r.Similarity)
	}
	s.Printf("%s", s.Screen.Said(Green, text))
	if len(r.Entities) == 0 {
		return
	}
	mentions := make([]string, len(r.Entities))
	for i, m := range r.Entities {
		mentions[i] = Flat(m.Name) + " " + Count(m.Count, "time", "times")
	}
	s.Printf("%s", s.Screen.Said(Faint, "mentioned: "+strings.Join(mentions, ", ")))
}

// NoteReinforcement says why the importance did not rise, or that it is that of a core
// memory now.
func NoteReinforcement(s *App, r *op.Reinforcement, id memory.ID) {
	switch {
	case r == nil:
	case r.Held != "":
		s.Note("%s", Flat(r.Held))
	case r.SuggestCore:
		s.Note("importance is now 0.8 or higher; to keep this memory from fading, run: emberd edit %s --core",
			id.Short())
	}
}

// EntityLines are what is known of a person or thing.
func EntityLines(s *App, e *op.Entity) string {
	line := s.Screen.Paint(Yellow, Flat(e.Name)) + "  " + entityText(s, e) + "\n"
	if s.Screen.Width > 0 { // where it is too long for what is left of the line
		line = s.Screen.Paint(Yellow, Flat(e.Name)) + "\n" + s.Screen.Said(Faint, entityText(s, e))
	}
	if len(e.Related) == 0 {
		return line
	}
	return line + s.Screen.Said("", relatedText(e.Related))
}

// relatedText names the strongest of what something has to do with, by how.
func relatedText(related []op.EntityRelation) string {
	const most = 6
	var kinds []string
	names := make(map[string][]string)
	for _, r := range related[:min(len(related), most)] {
		kind, name := relationText(&r), Flat(r.Name)
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
	kind := strings.ReplaceAll(Flat(r.Type), "_", " ")
	switch {
	case !r.Incoming:
		return kind
	case r.Type == "links_to":
		return "linked from"
	}
	return "← " + kind
}

func entityText(s *App, e *op.Entity) string {
	parts := []string{Count(e.Mentions, "mention", "mentions")}
	if e.Memories > 0 {
		parts = append(parts, Count(e.Memories, "memory", "memories"))
	}
	if e.Notes > 0 {
		parts = append(parts, Count(e.Notes, "note", "notes"))
	}
	if !e.LastSeen.IsZero() {
		parts = append(parts, "last "+Ago(s.Now(), e.LastSeen))
	}
	if len(e.Aliases) > 0 {
		parts = append(parts, "also "+Flat(strings.Join(e.Aliases, ", ")))
	}
	return strings.Join(NonEmpty(append(parts, Flat(e.Note))...), ", ")
}

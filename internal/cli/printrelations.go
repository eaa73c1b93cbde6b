package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

// PrintRelations prints what leads from a memory and to it, with the words that the
// other memories begin with.
func PrintRelations(s *App, cmd *cobra.Command, of *op.RelationsOf, words bool) {
	out, in := of.Outgoing, of.Incoming
	shownOut, shownIn := out[:min(len(out), MaxListLen)], in[:min(len(in), MaxListLen)]
	texts := make(map[memory.ID]string)
	if words {
		texts = beginnings(s, cmd, shownOut, shownIn)
	}
	s.Printf("\n")
	line := func(r *memory.Relation, arrow string, other memory.ID) {
		head := fmt.Sprintf("%s %s %s  ", arrow, Described(r), s.Short(other))
		s.Printf("%s %s%s\n", s.Screen.Paint(Faint, Pad(r.Short(), 12)), head,
			s.Gist(texts[other], len("rel-12345678 ")+len(head)))
	}
	for _, r := range shownOut {
		line(&r, "→", r.To)
	}
	for _, r := range shownIn {
		line(&r, "←", r.From)
	}
	more := len(out) - len(shownOut) + len(in) - len(shownIn)
	switch {
	case of.Truncated:
		s.Printf("and more than %s other relations\n", Grouped(more))
	case more > 0:
		s.Printf("and %s more\n", Grouped(more))
	}
}

// beginnings are the texts of the memories that relations lead from or to. That is no
// use of them.
func beginnings(s *App, cmd *cobra.Command, out, in []memory.Relation) map[memory.ID]string {
	texts := make(map[memory.ID]string)
	req := &op.OpenManyRequest{Relations: new(bool), Track: new(bool)}
	add := func(id memory.ID) {
		if _, ok := texts[id]; !ok {
			texts[id] = ""
			req.IDs = append(req.IDs, string(id))
		}
	}
	for _, r := range out {
		add(r.To)
	}
	for _, r := range in {
		add(r.From)
	}
	res, err := Call(cmd.Context(), s, op.OpenMany, req)
	if err != nil {
		return texts // the ids say enough
	}
	for _, m := range res.Memories {
		texts[m.ID] = m.Content
	}
	return texts
}

// Described says what a relation is: its type, its kind, and how strong if not wholly.
func Described(r *memory.Relation) string {
	text := r.Type
	if r.Kind != "" {
		text += fmt.Sprintf(" (%s)", Clean(OneLine(r.Kind)))
	}
	if r.Strength != 1 {
		text += fmt.Sprintf(" %.2g", r.Strength)
	}
	return text
}

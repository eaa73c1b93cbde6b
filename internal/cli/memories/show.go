package memories

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/entity"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

func ShowCommand(s *cli.App) *cobra.Command {
	var req op.ShowRequest
	var then cli.AsOf
	cmd := cli.Command("show ID|PATH", cli.ArgCount(1, 1, "one memory ID, or the path of one note"), s.CompleteEither,
		func(cmd *cobra.Command, args []string) error {
			var err error
			if req.AsOf, err = then.Moment(s); err != nil {
				return err
			}
			if req.ID = args[0]; !isPath(args[0]) || !req.AsOf.IsZero() {
				return orSearch(showMemory(s, cmd, &req), args[0])
			}
			noNote := showNote(s, cmd, args[0])
			if memory.CodeOf(noNote) != memory.NotFound {
				return noNote
			}
			err = showMemory(s, cmd, &req) // an alias may look like a path
			if memory.CodeOf(err) == memory.NotFound {
				return noNote
			}
			return err
		})
	cli.Bind(cmd.Flags(), &req, "no-track:!track")
	then.Add(cmd.Flags(), "show it")
	return cmd
}

// orSearch adds to an error about a memory that was not found how to find it by its words or the title of its note.
func orSearch(err error, ref string) error {
	if memory.CodeOf(err) != memory.NotFound {
		return err
	}
	return fmt.Errorf("%w; to find it by its words or title, run: emberd search %s", err, text.ShellQuote(ref))
}

func showMemory(s *cli.App, cmd *cobra.Command, req *op.ShowRequest) error {
	return cli.Show(cmd.Context(), s, op.Show, req, func(s *cli.App, res *op.ShowResult) {
		s.PrintThen(res.AsOf, false)
		printMemory(s, &res.Memory)
		if res.Rekindled {
			s.Note("emberd restored the full text of this archived memory; to archive it again, run: "+
				"emberd lifecycle archive %s", res.Memory.ID.Short())
		}
		if res.Relations != nil {
			cli.PrintRelations(s, cmd, res.Relations, req.AsOf.IsZero())
		}
	})
}

// isPath tells what may be the path of a note from an id, which has neither.
func isPath(ref string) bool {
	return strings.Contains(ref, "/") || strings.EqualFold(filepath.Ext(ref), ".md")
}

// showNote prints the text of a note, of a long one as much as an answer holds.
func showNote(s *cli.App, cmd *cobra.Command, path string) error {
	req := &op.NoteReadRequest{Path: path}
	for {
		res, err := cli.Call(cmd.Context(), s, op.NoteRead, req)
		switch {
		case err != nil:
			return err
		case s.JSON:
			return s.PrintJSON(res)
		}
		s.Printf("%s", cli.Clean(res.Text))
		if req.From = res.Next; res.Next == 0 {
			if !strings.HasSuffix(res.Text, "\n") {
				s.Printf("\n")
			}
			if res.Beyond {
				s.Note("emberd shows only the first 1 MiB of a note")
			}
			return nil
		}
	}
}

// printMemory prints the fields that are set and then the text.
func printMemory(s *cli.App, m *op.Memory) {
	field := func(name, value string) {
		if value != "" {
			s.Printf("%s %s\n", s.Screen.Paint(cli.Faint, cli.Pad(name, 12)), value)
		}
	}
	s.Printf("%s\n", s.Screen.Paint(cli.Yellow, string(m.ID)))
	field("also known", cli.Clean(strings.Join(m.Aliases, ", ")))
	field("tags", s.Screen.Paint(cli.Cyan, cli.Tagged(m.Tags)))
	field("entities", entitiesText(m))
	for _, f := range textFields(m) {
		field(f[0], cli.Clean(f[1]))
	}
	field("score", fmt.Sprintf("%.3f, %s, importance %g, strength %.4g, confidence %g", m.Score, stageText(m),
		m.Importance, m.Strength, m.Confidence))
	field("created", s.When(m.CreatedAt))
	field("changed", cli.WhenSet(s, m.UpdatedAt, m.CreatedAt))
	field("used", times(s, m.UseCount, m.LastUsed))
	field("found", times(s, m.AccessCount, m.LastAccessed))
	printHistory(s, m, field)
	field("rev", m.Rev)
	s.Printf("\n%s", s.Screen.Paragraph(cli.Clean(m.Content), nil, ""))
	switch {
	case m.Summary != "" && !m.NoteGone.IsZero():
		s.Note("this text is a summary, and the note with the full text is "+
			"missing; to search for the full text, run: emberd rekindle %s", m.ID.Short())
	case m.Summary != "" && rekindle.Digest(m.Content) == m.TextDigest:
		s.Note("this memory is archived, and this is its full text; to make it active, run: emberd rekindle %s",
			m.ID.Short())
	case m.Summary != "":
		s.Note("this text is a summary; to restore the full text, run: emberd rekindle %s", m.ID.Short())
	}
	if m.Undecided != "" {
		s.Note("another version of the text waits for your decision; run: emberd review show %s", m.Undecided)
	}
}

// textFields pairs the plain fields of a memory with their names.
func textFields(m *op.Memory) [][2]string {
	return [][2]string{
		{"project", m.Project}, {"collection", m.Collection}, {"category", m.Category},
		{"type", m.Type}, {"section", m.Section}, {"session", m.SessionID},
		{"source", m.Source}, {"context", m.Context},
	}
}

func stageText(m *op.Memory) string {
	if m.Core {
		return string(m.Stage) + " (core, never fades)"
	}
	return string(m.Stage)
}

// printHistory prints what happened to a memory and what it carries along.
func printHistory(s *cli.App, m *op.Memory, field func(name, value string)) {
	field("reviewed", cli.WhenSet(s, m.LastReviewAt, time.Time{}))
	field("archived", cli.WhenSet(s, m.ArchivedAt, time.Time{}))
	promoted := cli.WhenSet(s, m.PromotedAt, time.Time{})
	if m.NoteGone.IsZero() {
		promoted += " " + cli.Clean(m.PromotedTo)
	}
	field("promoted", strings.TrimSpace(promoted))
	field("note", noteText(s, m))
	cli.PrintSources(s, m, field)
	if len(m.ConsolidatedFrom) > 0 {
		field("merged from", strings.Join(cli.Shorts(m.ConsolidatedFrom), ", "))
	}
	field("merged into", m.ConsolidatedInto.Short())
	if m.SupersededBy != "" {
		field("superseded", strings.TrimSpace(cli.WhenSet(s, m.SupersededAt,
			time.Time{})+" by "+m.SupersededBy.Short()))
	}
	for _, k := range slices.Sorted(maps.Keys(m.Meta)) {
		field("meta", cli.Clean(k)+" = "+cli.Plain(m.Meta[k]))
	}
}

// noteText is where the note of a memory is, and says if that is not its note any more.
func noteText(s *cli.App, m *op.Memory) string {
	if m.VaultPath == "" || m.NoteGone.IsZero() {
		return cli.Clean(m.VaultPath)
	}
	return fmt.Sprintf("none since %s; previous note: %s", s.When(m.NoteGone), cli.Clean(m.VaultPath))
}

// times says how often something happened, and when last.
func times(s *cli.App, n int64, last time.Time) string {
	if n == 0 {
		return "not yet"
	}
	return fmt.Sprintf("%s, last %s", cli.Count(int(n), "time", "times"), s.When(last))
}

// entitiesText lists what a memory is about, and says when nobody named it.
func entitiesText(m *op.Memory) string {
	names := m.Entities
	if m.EntitiesFound {
		names = entity.Written(m.Content, names)
	}
	text := cli.Clean(strings.Join(names, ", "))
	if m.EntitiesFound {
		text += " (found in the text)"
	}
	return text
}

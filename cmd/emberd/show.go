package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) showCommand() *cobra.Command {
	var noTrack bool
	var then asOf
	cmd := &cobra.Command{
		Use:   "show ID|PATH",
		Short: "Show one memory or note whole",
		Long: `Show one memory with every field that is set, or the text of a note. An id may
be shortened to four or more characters of its beginning or its end, and an
alias, which is what another system calls the memory, will do as well. What has
a slash in it or ends in .md is the path of a note, if there is one. Opening a
memory counts as a use and keeps it fresh; --no-track looks without counting.`,
		Example: `  emberd show 456789ab
  emberd show Projects/Garden.md
  emberd show 456789ab --json --no-track`,
		Annotations:       exits(endings{exitNothing: "no memory with that id, or no such note", exitNoDaemon: ""}),
		Args:              takes(1, 1, "one memory id, or the path of one note"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := then.moment(s)
			if err != nil {
				return err
			}
			req := &op.ShowRequest{ID: args[0], AsOf: at}
			if noTrack {
				req.Track = new(bool)
			}
			if !isPath(args[0]) || !at.IsZero() {
				return s.showMemory(cmd, req)
			}
			noNote := s.showNote(cmd, args[0])
			if memory.CodeOf(noNote) != memory.NotFound {
				return noNote
			}
			err = s.showMemory(cmd, req) // an alias may look like a path
			if memory.CodeOf(err) == memory.NotFound {
				return noNote
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&noTrack, "no-track", false, "do not count this as a use")
	then.add(cmd.Flags(), "show it")
	return cmd
}

func (s *state) showMemory(cmd *cobra.Command, req *op.ShowRequest) error {
	res, err := call(cmd.Context(), s, op.Show, req)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(res)
	}
	s.printThen(res.AsOf, false)
	s.printMemory(&res.Memory)
	if res.Relations != nil {
		s.printRelations(cmd, res.Relations, req.AsOf.IsZero())
	}
	return nil
}

// isPath tells what may be the path of a note from an id, which has neither.
func isPath(ref string) bool {
	return strings.Contains(ref, "/") || strings.EqualFold(filepath.Ext(ref), ".md")
}

// showNote prints the text of a note, of a long one as much as an answer holds.
func (s *state) showNote(cmd *cobra.Command, path string) error {
	req := &op.NoteReadRequest{Path: path}
	for {
		res, err := call(cmd.Context(), s, op.NoteRead, req)
		switch {
		case err != nil:
			return err
		case s.json:
			return s.printJSON(res)
		}
		s.printf("%s", clean(res.Text))
		if req.From = res.Next; res.Next == 0 {
			if !strings.HasSuffix(res.Text, "\n") {
				s.printf("\n")
			}
			if res.Beyond {
				s.note("the file goes on after the first MiB, which is all that is read of a note")
			}
			return nil
		}
	}
}

// printMemory prints the fields that are set and then the text.
func (s *state) printMemory(m *op.Memory) {
	field := func(name, value string) {
		if value != "" {
			s.printf("%s %s\n", s.screen.paint(faint, pad(name, 12)), value)
		}
	}
	s.printf("%s\n", s.screen.paint(yellow, string(m.ID)))
	field("also known", clean(strings.Join(m.Aliases, ", ")))
	field("tags", s.screen.paint(cyan, clean(tagged(m.Tags))))
	field("entities", entitiesText(m))
	for _, f := range textFields(m) {
		field(f[0], clean(f[1]))
	}
	field("score", fmt.Sprintf("%.3f, %s, importance %g, strength %.4g, confidence %g", m.Score, stageText(m), m.Importance, m.Strength, m.Confidence))
	field("created", s.when(m.CreatedAt))
	field("changed", s.whenSet(m.UpdatedAt, m.CreatedAt))
	field("used", s.times(m.UseCount, m.LastUsed))
	field("found", s.times(m.AccessCount, m.LastAccessed))
	s.printHistory(m, field)
	field("rev", m.Rev)
	s.printf("\n%s", s.screen.paragraph(clean(m.Content), nil, ""))
	switch {
	case m.Summary != "" && !m.NoteGone.IsZero():
		s.note("its note is gone, and this is what is left; emberd rekindle %s tells where the text may be", m.ID.Short())
	case m.Summary != "":
		s.note("this is what is left of it; emberd rekindle %s brings the text back", m.ID.Short())
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
func (s *state) printHistory(m *op.Memory, field func(name, value string)) {
	field("reviewed", s.whenSet(m.LastReviewAt, time.Time{}))
	field("archived", s.whenSet(m.ArchivedAt, time.Time{}))
	field("promoted", strings.TrimSpace(s.whenSet(m.PromotedAt, time.Time{})+" "+clean(m.PromotedTo)))
	field("note", clean(m.VaultPath))
	s.printSources(m, field)
	if len(m.ConsolidatedFrom) > 0 {
		field("merged from", strings.Join(shorts(m.ConsolidatedFrom), ", "))
	}
	field("merged into", m.ConsolidatedInto.Short())
	if m.SupersededBy != "" {
		field("superseded", strings.TrimSpace(s.whenSet(m.SupersededAt, time.Time{})+" by "+m.SupersededBy.Short()))
	}
	for _, k := range slices.Sorted(maps.Keys(m.Meta)) {
		field("meta", clean(k)+" = "+plain(m.Meta[k]))
	}
}

// times says how often something happened, and when last.
func (s *state) times(n int64, last time.Time) string {
	if n == 0 {
		return "not yet"
	}
	return fmt.Sprintf("%s, last %s", count(int(n), "time", "times"), s.when(last))
}

// whenSet is when for a time that may be unset or the same as another.
func (s *state) whenSet(t, other time.Time) string {
	if t.IsZero() || t.Equal(other) {
		return ""
	}
	return s.when(t)
}

// entitiesText lists what a memory is about, and says when nobody named it.
func entitiesText(m *op.Memory) string {
	text := clean(strings.Join(m.Entities, ", "))
	if m.EntitiesFound {
		text += " (found in the text)"
	}
	return text
}

func nonEmpty(parts ...string) []string {
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

func shorts(ids []memory.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Short()
	}
	return out
}

// plain writes a JSON value for people: a string without its quotes.
func plain(raw json.RawMessage) string {
	return clean(plainValue(raw))
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

type historyOptions struct {
	req op.HistoryRequest
	all bool
}

func (s *state) historyCommand() *cobra.Command {
	var o historyOptions
	cmd := &cobra.Command{
		Use:   "history [ID]",
		Short: "List what was changed, or every version of a memory",
		Long: `List what was changed, newest first: when, how, by whom, how many memories, and
the entry that undo takes.

With an id list every version of that memory: when and by whom it was changed,
and which fields from what to what; and which memories took whose place. The log
keeps versions that were superseded for 90 days. A memory that the trash has let
go of is named by its whole id.`,
		Example: `  emberd history
  emberd history 456789ab
  emberd history 456789ab --json | jq -r '.versions[].action'
  emberd undo TX`,
		Annotations:       exits(endings{exitNothing: "no memory with that id, or nothing was ever changed", exitNoDaemon: "", exitLocked: ""}),
		Args:              takes(0, 1, "at most one memory id"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkLimit(cmd, o.req.Limit); err != nil {
				return err
			}
			if o.all && cmd.Flags().Changed("limit") {
				return wrong(cmd, "--all and --limit exclude each other; leave one out")
			}
			if len(args) == 0 {
				return s.journal(cmd, &o)
			}
			if _, err := stm.ParseStamp(args[0]); err == nil {
				return wrong(cmd, "%s is a journal entry and no memory; emberd undo --dry-run %[1]s tells what it changed", args[0])
			}
			o.req.ID = args[0]
			return s.history(cmd, &o)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&o.req.Limit, "limit", "n", 20, "at most `N` entries or versions, 1 to 100")
	f.BoolVar(&o.all, "all", false, "list them all, page by page")
	f.StringVar(&o.req.Cursor, "cursor", "", "go on after `CURSOR`, the next_cursor of --json")
	return cmd
}

func (s *state) history(cmd *cobra.Command, o *historyOptions) error {
	if o.all {
		o.req.Limit = memory.MaxResults
	}
	res, err := reach(cmd.Context(), s, op.History, &o.req)
	if err != nil {
		return err
	}
	for o.all && res.NextCursor != "" {
		o.req.Cursor = res.NextCursor
		next, err := reach(cmd.Context(), s, op.History, &o.req)
		if err != nil {
			return err
		}
		next.Versions = append(res.Versions, next.Versions...)
		res = next
	}
	if s.json {
		return s.printJSON(res)
	}
	s.printVersions(res)
	s.printChain(res)
	return nil
}

// printChain prints what took whose place, the memory among them.
func (s *state) printChain(res *op.HistoryResult) {
	if len(res.Chain) == 0 {
		return
	}
	s.printf("\n%s\n", s.screen.paint(bold, "what took whose place, the oldest first"))
	for _, l := range res.Chain {
		mark, fate := " ", "counts now"
		if l.ID == res.ID {
			mark = ">"
		}
		if l.SupersededBy != "" {
			fate = "superseded by " + l.SupersededBy.Short() + " " + ago(s.now(), l.SupersededAt)
		}
		s.printf("%s %s  %s\n", mark, s.short(l.ID), s.gist(l.Text, len("> 12345678  ")))
		s.printf("            %s\n", s.screen.paint(faint, fate))
	}
}

func (s *state) printVersions(res *op.HistoryResult) {
	for _, v := range res.Versions {
		by := by(v.By)
		if by != "" {
			by = ", " + by
		}
		s.printVersion(&v, by)
		if v.Cut {
			s.printf("        %s\n", s.screen.paint(faint, "what it replaced is not kept any more"))
		}
	}
	if res.NextCursor != "" {
		s.note("%s of %s shown; --all shows the rest", grouped(len(res.Versions)), count(res.Total, "version", "versions"))
	}
}

// printVersion prints one version, with the entry on a line of its own where a
// terminal would break it.
func (s *state) printVersion(v *op.HistoryVersion, by string) {
	when, what := s.when(v.At), clean(v.Verb)+by
	gap := "  "
	if w := s.screen.width; w > 0 && uniseg.StringWidth(fmt.Sprintf("%s  %s by %s  %s", when, v.Action, what, v.Tx)) > w {
		gap = "\n        "
	}
	s.printf("%s  %s by %s%s%s\n", when, s.screen.paint(bold, v.Action), what, gap, s.screen.paint(faint, v.Tx))
	for _, f := range v.Fields {
		switch {
		case f.Name == "note_seen" && len(v.Fields) == 1: // emberd's own account
			s.printf("        %s\n", s.screen.paint(faint, "its note and the memory agree"))
		case stm.IsRelationKey(f.Name):
			s.printRelationField(&f)
		case stm.IsReviewKey(f.Name):
			s.printReviewField(&f)
		case f.Name == "quality":
			s.printField(op.FieldChange{Name: f.Name, From: overall(f.From), To: overall(f.To)})
		case f.Name == "sources":
			s.printSourceField(&f, stm.ParseFirstSource)
		case stm.IsSourceKey(f.Name):
			s.printSourceField(&f, func(raw []byte) (memory.Source, error) { return stm.ParseSource(f.Name, raw) })
		case f.Name != "note_seen" && f.Name != "updated_at": // the line above tells it
			s.printField(f)
		}
	}
}

// overall is the one number of a quality that counts; what has none stays as it is.
func overall(raw json.RawMessage) json.RawMessage {
	var q struct{ Overall json.Number }
	if json.Unmarshal(raw, &q) != nil || q.Overall == "" {
		return raw
	}
	return json.RawMessage(q.Overall)
}

// printField prints what a field was and is.
func (s *state) printField(f op.FieldChange) {
	const head = 8 + 12 + 1
	room := 0
	if s.screen.width > 0 {
		room = max(12, (s.screen.width-head-3)/2)
	}
	show := func(raw []byte) string { return cut(cmp.Or(flat(plainValue(raw)), "–"), room) }
	text := s.screen.paint(green, show(f.To))
	switch {
	case f.From != nil && (f.To == nil || string(f.To) == "null"):
		text = s.screen.paint(red, show(f.From)) + " → –"
	case f.From != nil:
		text = s.screen.paint(red, show(f.From)) + " → " + text
	}
	s.printf("        %s %s\n", s.screen.paint(faint, pad(clean(f.Name), 12)), text)
}

// printSourceField prints where a memory was learned, as one line of its chain.
func (s *state) printSourceField(f *op.FieldChange, parse func(raw []byte) (memory.Source, error)) {
	show := func(raw json.RawMessage) json.RawMessage {
		link, err := parse(raw)
		if err != nil {
			return raw // none, or not one of ours
		}
		said := clean(link.String()) // the line above tells who and when
		if n := link.Count(); n > 1 {
			said += fmt.Sprintf(", %d times", n)
		}
		text, err := json.Marshal(said)
		if err != nil {
			return raw
		}
		return text
	}
	s.printField(op.FieldChange{Name: "learned", From: show(f.From), To: show(f.To)})
}

// printRelationField prints a relation that the memory got or lost, as what it was and is.
func (s *state) printRelationField(f *op.FieldChange) {
	show := func(raw json.RawMessage) json.RawMessage {
		r, err := stm.ParseRelation("", f.Name, raw)
		if err != nil {
			return raw // none, or not one of ours
		}
		text, err := json.Marshal(described(&r) + " " + r.To.Short())
		if err != nil {
			return raw
		}
		return text
	}
	s.printField(op.FieldChange{Name: "relation", From: show(f.From), To: show(f.To)})
}

// printReviewField prints a review item that was filed or changed, as what it was and is.
func (s *state) printReviewField(f *op.FieldChange) {
	show := func(raw json.RawMessage) json.RawMessage {
		item, err := stm.ParseReviewItem(f.Name, raw)
		if err != nil {
			return raw // none, or not one of ours
		}
		state := item.Status
		switch {
		case state == memory.ItemClaimed:
			state += " by " + item.ClaimedBy
		case item.Decision != "":
			state += ": " + item.Decision
		}
		text, err := json.Marshal(fmt.Sprintf("%s, %s %s", state, item.Agent, item.Action))
		if err != nil {
			return raw
		}
		return text
	}
	s.printField(op.FieldChange{Name: "review", From: show(f.From), To: show(f.To)})
}

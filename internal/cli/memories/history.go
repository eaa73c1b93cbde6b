package memories

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

type historyOptions struct {
	req op.HistoryRequest
	all bool
}

func HistoryCommand(s *cli.App) *cobra.Command {
	var o historyOptions
	cmd := cli.Command("history [ID]", cli.ArgCount(0, 1, "at most one memory ID"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckLimit(cmd, o.req.Limit); err != nil {
				return err
			}
			if o.all && cmd.Flags().Changed("limit") {
				return cli.UsageError(cmd, "--all and --limit cannot be combined")
			}
			if len(args) == 0 {
				return journal(s, cmd, &o)
			}
			if _, err := stm.ParseStamp(args[0]); err == nil {
				return cli.UsageError(cmd,
					"%s is a change ID, not a memory ID; to see the changed memories, run: emberd undo --dry-run %[1]s",
					args[0])
			}
			o.req.ID = args[0]
			return history(s, cmd, &o)
		})
	f := cmd.Flags()
	cli.Bind(f, &o.req, "limit,n=20", "cursor")
	f.BoolVar(&o.all, "all", false, "")
	return cmd
}

func history(s *cli.App, cmd *cobra.Command, o *historyOptions) error {
	if o.all {
		o.req.Limit = memory.MaxResults
	}
	res, err := cli.Reach(cmd.Context(), s, op.History, &o.req)
	if err != nil {
		return err
	}
	for o.all && res.NextCursor != "" {
		o.req.Cursor = res.NextCursor
		next, err := cli.Reach(cmd.Context(), s, op.History, &o.req)
		if err != nil {
			return err
		}
		next.Versions = append(res.Versions, next.Versions...)
		res = next
	}
	return s.Answer(res, func() {
		printVersions(s, res)
		printChain(s, res)
	})
}

// printChain prints what took whose place, the memory among them.
func printChain(s *cli.App, res *op.HistoryResult) {
	if len(res.Chain) == 0 {
		return
	}
	s.Printf("\n%s\n", s.Screen.Paint(cli.Bold, "superseded memories, oldest first"))
	for _, l := range res.Chain {
		mark, fate := " ", "counts now"
		if l.ID == res.ID {
			mark = ">"
		}
		if l.SupersededBy != "" {
			fate = "superseded by " + l.SupersededBy.Short() + " " + cli.Ago(s.Now(), l.SupersededAt)
		}
		s.Printf("%s %s  %s\n", mark, s.Short(l.ID), s.Gist(l.Text, len("> 12345678  ")))
		s.Printf("            %s\n", s.Screen.Paint(cli.Faint, fate))
	}
}

func printVersions(s *cli.App, res *op.HistoryResult) {
	for _, v := range res.Versions {
		by := cli.By(v.By)
		if by != "" {
			by = ", " + by
		}
		printVersion(s, &v, by)
		if v.Cut {
			s.Printf("        %s\n", s.Screen.Paint(cli.Faint, "the log no longer contains the replaced version"))
		}
	}
	if res.NextCursor != "" {
		s.Note("%s of %s shown; use --all to see the rest", cli.Grouped(len(res.Versions)),
			cli.Count(res.Total, "version", "versions"))
	}
}

// printVersion prints one version, with the entry on a line of its own where a
// terminal would break it.
func printVersion(s *cli.App, v *op.HistoryVersion, by string) {
	when, what := s.When(v.At), cli.VerbText(v.Verb)+by
	gap := "  "
	if w := s.Screen.Width; w > 0 &&
		uniseg.StringWidth(fmt.Sprintf("%s  %s by %s  %s", when, v.Action, what, v.Tx)) > w {
		gap = "\n        "
	}
	s.Printf("%s  %s by %s%s%s\n", when, s.Screen.Paint(cli.Bold, v.Action), what, gap, s.Screen.Paint(cli.Faint, v.Tx))
	for _, f := range v.Fields {
		switch {
		case f.Name == "note_seen" && len(v.Fields) == 1: // emberd's own account
			s.Printf("        %s\n", s.Screen.Paint(cli.Faint, "the memory and its note have the same text"))
		case stm.IsRelationKey(f.Name):
			printParsed(s, &f, "relation", func(raw []byte) (string, error) {
				r, err := stm.ParseRelation("", f.Name, raw)
				return cli.Described(&r) + " " + r.To.Short(), err
			})
		case stm.IsReviewKey(f.Name):
			printParsed(s, &f, "review", func(raw []byte) (string, error) {
				return reviewText(stm.ParseReviewItem(f.Name, raw))
			})
		case f.Name == "quality":
			cli.PrintField(s, op.FieldChange{Name: f.Name, From: overall(f.From), To: overall(f.To)})
		case f.Name == "sources":
			printParsed(s, &f, "learned", func(raw []byte) (string, error) {
				return sourceText(stm.ParseFirstSource(raw))
			})
		case stm.IsSourceKey(f.Name):
			printParsed(s, &f, "learned", func(raw []byte) (string, error) {
				return sourceText(stm.ParseSource(f.Name, raw))
			})
		case f.Name != "note_seen" && f.Name != "updated_at": // the line above tells it
			cli.PrintField(s, f)
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

// printParsed prints what a field was and is, each in the words of says. What says cannot read,
// because it is not one of ours, stays as it is.
func printParsed(s *cli.App, f *op.FieldChange, name string, says func(raw []byte) (string, error)) {
	show := func(raw json.RawMessage) json.RawMessage {
		said, err := says(raw)
		if err != nil {
			return raw
		}
		return cli.JsonText(said)
	}
	cli.PrintField(s, op.FieldChange{Name: name, From: show(f.From), To: show(f.To)})
}

// sourceText says where a memory was learned, as one line of its chain.
func sourceText(link memory.Source, err error) (string, error) {
	said := cli.Clean(link.String()) // the line above tells who and when
	if n := link.Count(); n > 1 {
		said += fmt.Sprintf(", %d times", n)
	}
	return said, err
}

// reviewText says what a review item is about, and what became of it.
func reviewText(item memory.ReviewItem, err error) (string, error) {
	state := item.Status
	switch {
	case state == memory.ItemClaimed:
		state += " by " + item.ClaimedBy
	case item.Decision != "":
		state += ": " + item.Decision
	}
	return fmt.Sprintf("%s, %s %s", state, item.Agent, cli.ActionText(&item)), err
}

// journal lists what was changed, newest first.
func journal(s *cli.App, cmd *cobra.Command, o *historyOptions) error {
	req := op.JournalRequest{Limit: o.req.Limit, Cursor: o.req.Cursor}
	if o.all {
		req.Limit = memory.MaxResults
	}
	res, err := cli.Reach(cmd.Context(), s, op.Journal, &req)
	if err != nil {
		return err
	}
	for o.all && res.NextCursor != "" {
		req.Cursor = res.NextCursor
		next, err := cli.Reach(cmd.Context(), s, op.Journal, &req)
		if err != nil {
			return err
		}
		next.Entries = append(res.Entries, next.Entries...)
		res = next
	}
	return s.Found(res, len(res.Entries), func() { printJournal(s, res) })
}

// whoChanged names the client of an entry, and whether the entry was undone. What does not fit behind the columns
// that take used columns is on a line of its own.
func whoChanged(s *cli.App, e *op.JournalEntry, used int) string {
	after, style := "", cli.Style("")
	switch {
	case e.Undone:
		after, style = "undone", cli.Red
	case e.Undoes != "":
		after, style = "undid "+e.Undoes, cli.Faint
	}
	who, room := cli.By(e.By), s.Screen.Width-used
	switch {
	case s.Screen.Width > 0 && after == "":
		return cli.Cut(who, max(8, room))
	case after == "":
		return who
	case s.Screen.Width > 0 && uniseg.StringWidth(who)+len("  ")+len(after) > room:
		return cli.Cut(who, max(8, room)) + "\n" + "        " + s.Screen.Paint(style, after)
	}
	return who + "  " + s.Screen.Paint(style, after)
}

func printJournal(s *cli.App, res *op.JournalResult) {
	if len(res.Entries) == 0 {
		s.Note("no changes yet")
		return
	}
	const head = "TX                          WHEN         WHAT       MEMORIES  "
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, head+"WHO"))
	for _, e := range res.Entries {
		what := cli.Pad(cmp.Or(cli.VerbText(e.Verb), "–"), 11)
		who := whoChanged(s, &e, len(head))
		count := cli.Grouped(e.IDs)
		if len(e.Notes) > 0 {
			count = cli.Count(e.Changed())
		}
		s.Printf("%s  %s %s %7s  %s\n", s.Screen.Paint(cli.Yellow, e.Tx), cli.Pad(cli.Ago(s.Now(), e.At), 12), what,
			count, who)
	}
	if res.NextCursor != "" {
		s.Note("%s of %s shown; use --all to see the rest", cli.Grouped(len(res.Entries)),
			cli.Count(res.Total, "entry", "entries"))
	}
}

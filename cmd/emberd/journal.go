package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

// journal lists what was changed, newest first.
func (s *state) journal(cmd *cobra.Command, o *historyOptions) error {
	req := op.JournalRequest{Limit: o.req.Limit, Cursor: o.req.Cursor}
	if o.all {
		req.Limit = memory.MaxResults
	}
	res, err := reach(cmd.Context(), s, op.Journal, &req)
	if err != nil {
		return err
	}
	for o.all && res.NextCursor != "" {
		req.Cursor = res.NextCursor
		next, err := reach(cmd.Context(), s, op.Journal, &req)
		if err != nil {
			return err
		}
		next.Entries = append(res.Entries, next.Entries...)
		res = next
	}
	return s.found(res, len(res.Entries), func() { s.printJournal(res) })
}

func (s *state) printJournal(res *op.JournalResult) {
	if len(res.Entries) == 0 {
		s.note("nothing was changed yet")
		return
	}
	const head = "ENTRY                       WHEN         WHAT       MEMORIES  "
	s.printf("%s\n", s.screen.paint(faint, head+"WHO"))
	for _, e := range res.Entries {
		what := pad(clean(cmp.Or(e.Verb, "–")), 10)
		who := by(e.By)
		if s.screen.width > 0 {
			who = cut(who, max(8, s.screen.width-len(head)-len("  undone")))
		}
		switch {
		case e.Undone:
			who += "  " + s.screen.paint(red, "undone")
		case e.Undoes != "":
			who += "  " + s.screen.paint(faint, "took back "+e.Undoes)
		}
		s.printf("%s  %s %s %8s  %s\n", s.screen.paint(yellow, e.Tx), pad(ago(s.now(), e.At), 12), what, grouped(e.IDs), who)
	}
	if res.NextCursor != "" {
		s.note("%s of %s shown; --all shows the rest", grouped(len(res.Entries)), count(res.Total, "entry", "entries"))
	}
}

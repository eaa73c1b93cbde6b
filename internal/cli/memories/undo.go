package memories

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func UndoCommand(s *cli.App) *cobra.Command {
	var req op.UndoRequest
	cmd := cli.Command("undo [TX]", cli.ArgCount(0, 1, "at most one change ID"), s.CompleteEntries,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				req.Tx = args[0]
			}
			res, err := cli.Call(cmd.Context(), s, op.Undo, &req)
			if err != nil {
				return err
			}
			if err := printUndo(s, res, req.Force); err != nil {
				return err
			}
			if left := cli.LeftOf(res); left > 0 && left == len(res.Items) {
				return &cli.Exit{Code: cli.ExitConflict}
			}
			return nil
		})
	cli.Bind(cmd.Flags(), &req, "force", "dry-run")
	return cmd
}

func printUndo(s *cli.App, res *op.UndoResult, forced bool) error {
	return s.Answer(res, func() {
		left := cli.LeftOf(res)
		verb := undoVerb(res.DryRun, left > 0 && left == len(res.Items))
		s.Printf("%s %s of %s, %s\n", verb, cli.VerbText(res.Entry.Verb), cli.Count(res.Entry.Changed()),
			cli.Ago(s.Now(), res.Entry.At))
		for _, item := range res.Items[:min(cli.MaxListLen, len(res.Items))] {
			name := cli.Clean(item.Path)
			if name == "" {
				name = s.Short(item.ID)
			}
			s.Printf("  %s %s%s\n", cli.Pad(item.Action, 8), name, cli.Because(item.Reason))
		}
		if more := len(res.Items) - cli.MaxListLen; more > 0 {
			s.Printf("  and %s more\n", cli.Grouped(more))
		}
		if len(res.Entry.Notes) == 0 {
			s.NoteLeft(left, forced)
		}
		if res.Previous != "" {
			s.Note("to undo the previous change, run: emberd undo %s", res.Previous)
		}
		s.UndoHint(res.Tx)
	})
}

// undoVerb says what became of an undo, nothing when all of it was left.
func undoVerb(dryRun, nothing bool) string {
	switch {
	case dryRun && nothing:
		return "would not undo the"
	case dryRun:
		return "would undo"
	case nothing:
		return "did not undo the"
	}
	return "undid"
}

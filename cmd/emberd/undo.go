package main

import (
	"github.com/spf13/cobra"

	"emberd/op"
	"emberd/stm"
)

func (s *state) undoCommand() *cobra.Command {
	var req op.UndoRequest
	cmd := &cobra.Command{
		Use:   "undo [ENTRY]",
		Short: "Take back a change: a save, edit, relation, merge, import…",
		Long: `Take back a journal entry, as every command that changes names it, or by
default the newest of this device that somebody asked for and that still stands;
one of another device, or of what emberd took over from a note by itself, has to
be named. A memory that was changed again since is left as it is, unless
--force, and so is what a note says that is there: edit the note. An undo is an
entry too; name it to take it back.

The note of a promoted memory comes along: that of a promotion goes, if nobody
changed it, and that of an edit gets its earlier text and properties. Where
somebody went on in the note nothing is undone.`,
		Example: `  emberd undo
  emberd undo --dry-run 01a1fd06c976-0000-k7q2mzxa`,
		Annotations: exits(endings{
			exitNothing: "no such entry, or nothing to take back", exitNoDaemon: "",
			exitConflict: "all of it was changed again since; nothing was undone",
			exitDisk:     "", exitAgain: "",
		}),
		Args:              takes(0, 1, "at most one journal entry"),
		ValidArgsFunction: s.completeEntries,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				req.Tx = args[0]
			}
			res, err := call(cmd.Context(), s, op.Undo, &req)
			if err != nil {
				return err
			}
			if err := s.printUndo(res, req.Force); err != nil {
				return err
			}
			if left := leftOf(res); left > 0 && left == len(res.Items) {
				return &exit{code: exitConflict}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&req.Force, "force", false, "also take back what was changed again since")
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what would happen, change nothing")
	return cmd
}

// longestList is how many items of an answer are worth reading on a screen.
const longestList = 20

func (s *state) printUndo(res *op.UndoResult, forced bool) error {
	if s.json {
		return s.printJSON(res)
	}
	left := leftOf(res)
	verb := undoVerb(res.DryRun, left > 0 && left == len(res.Items))
	s.printf("%s %s of %s, %s\n", verb, res.Entry.Verb, count(res.Entry.IDs, "memory", "memories"), ago(s.now(), res.Entry.At))
	for _, item := range res.Items[:min(longestList, len(res.Items))] {
		s.printf("  %s %s%s\n", pad(item.Action, 8), s.short(item.ID), because(item.Reason))
	}
	if more := len(res.Items) - longestList; more > 0 {
		s.printf("  and %s more\n", grouped(more))
	}
	if left > 0 && !forced {
		s.note("%s left as it is; --force takes that back too", count(left, "memory was", "memories were"))
	}
	s.undoHint(res.Tx)
	return nil
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

// leftOf counts the memories that an undo left as they are.
func leftOf(res *op.UndoResult) int {
	left := 0
	for _, item := range res.Items {
		if item.Action == stm.Left {
			left++
		}
	}
	return left
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return "  " + clean(reason)
}

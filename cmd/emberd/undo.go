package main

import (
	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) undoCommand() *cobra.Command {
	var req op.UndoRequest
	cmd := &cobra.Command{
		Use:   "undo [ENTRY]",
		Short: "Take back a save, edit, forget or import",
		Long: `Take back a journal entry, as save, edit, forget and import name it, or by
default the newest that still stands. A memory that was changed again since is
left as it is, unless --force. An undo is an entry too; name it to take it back.`,
		Example: `  emberd undo
  emberd undo --dry-run`,
		Annotations: exits(endings{
			exitNothing: "no such entry, or nothing left to take back", exitNoDaemon: "", exitConflict: "",
			exitDisk: "", exitAgain: "",
		}),
		Args: takes(0, 1, "at most one journal entry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				req.Tx = args[0]
			}
			res, err := call(cmd.Context(), s, op.Undo, &req)
			if err != nil {
				return err
			}
			return s.printUndo(res)
		},
	}
	cmd.Flags().BoolVar(&req.Force, "force", false, "also take back what was changed again since")
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what would happen, change nothing")
	return cmd
}

// longestList is how many items of an answer are worth reading on a screen.
const longestList = 20

func (s *state) printUndo(res *op.UndoResult) error {
	if s.json {
		return s.printJSON(res)
	}
	verb := "undid"
	if res.DryRun {
		verb = "would undo"
	}
	s.printf("%s %s of %s, %s\n", verb, res.Entry.Verb, count(res.Entry.IDs, "memory", "memories"), ago(s.now(), res.Entry.At))
	left := 0
	for i, item := range res.Items {
		if i < longestList {
			s.printf("  %s %s%s\n", pad(item.Action, 8), s.short(item.ID), because(item.Reason))
		}
		if item.Action == "left" {
			left++
		}
	}
	if more := len(res.Items) - longestList; more > 0 {
		s.printf("  and %s more\n", grouped(more))
	}
	if left > 0 {
		s.note("%s left as it is; --force takes that back too", count(left, "memory was", "memories were"))
	}
	s.undoHint(res.Tx)
	return nil
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return "  " + clean(reason)
}

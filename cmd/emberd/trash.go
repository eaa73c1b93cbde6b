package main

import (
	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) trashCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trash",
		Short: "List what was forgotten, or bring it back",
		Example: `  emberd trash list
  emberd trash restore 456789ab`,
		Annotations: exits(endings{exitNothing: "", exitNoDaemon: ""}),
	}
	asGroup(cmd)
	cmd.AddCommand(s.trashListCommand(), s.trashRestoreCommand())
	return cmd
}

func (s *state) trashListCommand() *cobra.Command {
	var req op.TrashListRequest
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List what is in the trash, newest first",
		Example:     `  emberd trash list --limit 50`,
		Annotations: exits(endings{exitNothing: "the trash is empty", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(cmd, req.Limit); err != nil {
				return err
			}
			res, err := call(cmd.Context(), s, op.TrashList, &req)
			if err != nil {
				return err
			}
			return s.printTrash(res)
		},
	}
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", 20, "at most `N` memories, 1 to 100")
	cmd.Flags().StringVar(&req.Cursor, "cursor", "", "go on after `CURSOR`, the next_cursor of --json")
	return cmd
}

func (s *state) printTrash(res *op.TrashListResult) error {
	if s.json {
		if err := s.printJSON(res); err != nil {
			return err
		}
	} else {
		s.printTrashed(res)
	}
	if len(res.Items) == 0 {
		return &exit{code: exitNothing}
	}
	return nil
}

func (s *state) printTrashed(res *op.TrashListResult) {
	if len(res.Items) == 0 {
		s.note("the trash is empty")
		return
	}
	const head = "ID        FORGOTTEN    UNTIL       "
	s.printf("%s\n", s.screen.paint(faint, head+"TEXT"))
	for _, t := range res.Items {
		s.printf("%s  %s %s  %s\n", s.short(t.Memory.ID), pad(ago(s.now(), t.Forgotten), 12),
			t.Until.In(s.zone).Format("2006-01-02"), s.gist(t.Memory.Content, len(head)))
	}
	if more := res.Total - len(res.Items); res.NextCursor != "" && more > 0 {
		s.note("%s of %s shown; go on with --cursor %s", grouped(len(res.Items)), count(res.Total, "memory", "memories"), res.NextCursor)
	}
}

func (s *state) trashRestoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "restore ID…",
		Short:   "Bring memories back from the trash",
		Example: `  emberd trash restore 456789ab`,
		Annotations: exits(endings{
			exitNothing: "not in the trash; nothing was restored", exitNoDaemon: "", exitConflict: "",
			exitDisk: "", exitAgain: "",
		}),
		Args:              takes(1, -1, "a memory id, or several"),
		ValidArgsFunction: s.completeTrash,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), s, op.TrashRestore, &op.TrashRestoreRequest{IDs: args})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			for _, m := range res.Restored {
				s.printf("restored %s  %s\n", s.short(m.ID), s.gist(m.Content, len("restored 12345678  ")))
			}
			s.undoHint(res.Tx)
			return nil
		},
	}
}

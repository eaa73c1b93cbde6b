package main

import (
	"strings"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) archiveCommand() *cobra.Command {
	var req op.ArchiveRequest
	cmd := &cobra.Command{
		Use:   "archive ID…",
		Short: "Leave of memories one sentence each",
		Long: `Leave of memories one sentence each, as time does with what is not used. The
text goes to a note in the folder that vault.archive_folder names, and is read
back from there before the log lets go of it; a promoted memory's note has it
already. A search that means the memory brings the text back, and so does
emberd rekindle.`,
		Example: `  emberd archive 456789ab
  emberd archive --dry-run 456789ab 89ab0123`,
		Annotations: exits(endings{
			exitNothing: "no memory with that id, no vault, or one of them stays as it is", exitNoDaemon: "",
			exitDisk: "", exitAgain: "",
		}),
		Args:              takes(1, -1, "a memory id, or several"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ID = strings.Join(args, ",")
			res, err := call(cmd.Context(), s, op.Archive, &req)
			if err != nil {
				return err
			}
			if err := s.printArchived(res); err != nil {
				return err
			}
			if len(res.Skipped) > 0 {
				return &exit{code: exitNothing}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what would be left of them, change nothing")
	return cmd
}

func (s *state) printArchived(res *op.ArchiveResult) error {
	if s.json {
		return s.printJSON(res)
	}
	verb := "archived"
	if res.DryRun {
		verb = "would archive"
	}
	for _, m := range res.Archived {
		s.printf("%s %s  %s\n", verb, s.short(m.ID), flat(m.VaultPath))
		s.printf("%s", s.screen.paragraph(clean(m.Content), nil, "  "))
	}
	for _, skipped := range res.Skipped {
		s.note("%s stays as it is: %s", skipped.ID.Short(), clean(skipped.Reason))
	}
	s.undoHint(res.Tx)
	return nil
}

package organize

import (
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func archiveCommand(s *cli.App) *cobra.Command {
	var req op.ArchiveRequest
	cmd := cli.Command("archive ID…", cli.ArgCount(1, -1, "one or more memory IDs"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			req.ID = strings.Join(args, ",")
			res, err := cli.Call(cmd.Context(), s, op.Archive, &req)
			if err != nil {
				return err
			}
			if err := printArchived(s, res); err != nil {
				return err
			}
			if len(res.Skipped) > 0 {
				return &cli.Exit{Code: cli.ExitNothing}
			}
			return nil
		})
	cli.Bind(cmd.Flags(), &req, "dry-run")
	return cmd
}

func printArchived(s *cli.App, res *op.ArchiveResult) error {
	return s.Answer(res, func() {
		verb := "archived"
		if res.DryRun {
			verb = "would archive"
		}
		for _, m := range res.Archived {
			s.Printf("%s %s  %s\n", verb, s.Short(m.ID), cli.Flat(m.VaultPath))
			s.Printf("%s", s.Screen.Paragraph(cli.Clean(m.Content), nil, "  "))
		}
		for _, skipped := range res.Skipped {
			s.Note("memory %s was not archived: %s", skipped.ID.Short(), cli.Clean(skipped.Reason))
		}
		s.UndoHint(res.Tx)
	})
}

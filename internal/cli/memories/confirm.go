package memories

import (
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func ConfirmCommand(s *cli.App) *cobra.Command {
	return cli.Command("confirm ID…", cli.ArgCount(1, -1, "one or more memory IDs"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			req := &op.ConfirmRequest{ID: strings.Join(args, ",")}
			return cli.Show(cmd.Context(), s, op.Confirm, req, printConfirmed)
		})
}

func printConfirmed(s *cli.App, res *op.ConfirmResult) {
	for _, m := range res.Memories {
		s.Printf("confirmed %s  %s\n", s.Short(m.ID), s.Gist(m.Content, len("confirmed 12345678  ")))
	}
	if res.Tx == "" {
		s.Note("nothing changed, because %s did not need confirmation",
			cli.Either(len(res.Memories) == 1, "the memory", "the memories"))
	}
	s.UndoHint(res.Tx)
}

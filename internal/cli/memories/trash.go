package memories

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func TrashCommand(s *cli.App) *cobra.Command {
	var req op.TrashListRequest
	cmd := cli.Command("trash", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if err := cli.CheckLimit(cmd, req.Limit); err != nil {
			return err
		}
		return cli.List(cmd.Context(), s, op.TrashList, &req,
			func(res *op.TrashListResult) int { return len(res.Items) }, printTrashed)
	})
	cli.Bind(cmd.Flags(), &req, "limit,n=20", "cursor")
	return cmd
}

func printTrashed(s *cli.App, res *op.TrashListResult) {
	if res.Textless > 0 {
		defer s.Note("%s not listed: the text was lost with a log file; to "+
			"search backups for the text, run: emberd doctor log repair",
			cli.Count(res.Textless, "more memory is", "more memories are"))
	}
	if len(res.Items) == 0 {
		s.Note("the trash is empty")
		return
	}
	const head = "ID        DELETED      UNTIL       "
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, head+"TEXT"))
	for _, t := range res.Items {
		s.Printf("%s  %s %s  %s\n", s.Short(t.Memory.ID), cli.Pad(cli.Ago(s.Now(), t.Forgotten), 12),
			t.Until.In(s.Zone).Format("2006-01-02"), s.Gist(t.Memory.Content, len(head)))
	}
	if more := res.Total - len(res.Items); res.NextCursor != "" && more > 0 {
		s.Note("%s of %s shown; to continue, use --cursor %s", cli.Grouped(len(res.Items)),
			cli.Count(res.Total, "memory", "memories"), res.NextCursor)
	}
}

// TrashRestoreCommand builds emberd rekindle. It has no other name, since rekindle takes words, too.
func TrashRestoreCommand(s *cli.App) *cobra.Command {
	return cli.Command("restore ID…", cli.ArgCount(1, -1, "one or more memory IDs"), s.CompleteTrash,
		func(cmd *cobra.Command, args []string) error {
			return cli.Show(cmd.Context(), s, op.TrashRestore, &op.TrashRestoreRequest{IDs: args}, printRestored)
		})
}

func printRestored(s *cli.App, res *op.TrashRestoreResult) {
	for _, m := range res.Restored {
		s.Printf("restored %s  %s\n", s.Short(m.ID), s.Gist(m.Content, len("restored 12345678  ")))
		if !m.NoteGone.IsZero() {
			s.Note("note %s is missing or was changed; emberd searches for the note and "+
				"might create a review item; run: emberd review list --agent note", cli.Clean(m.VaultPath))
		}
	}
	s.UndoHint(res.Tx)
}

package memories

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func TouchCommand(s *cli.App) *cobra.Command {
	var req op.TouchRequest
	cmd := cli.Command("touch ID…", cli.ArgCount(1, -1, "one or more memory IDs"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			var failed []error
			for _, id := range args {
				req.ID = id
				res, err := cli.Call(cmd.Context(), s, op.Touch, &req)
				if err == nil {
					err = printTouched(s, res)
				}
				failed = append(failed, err)
			}
			return cli.Joined(failed)
		})
	cli.Bind(cmd.Flags(), &req, "boost:boost_strength")
	return cmd
}

func printTouched(s *cli.App, r *op.TouchResult) error {
	return s.Answer(r, func() {
		s.Printf("touched %s  score %.2f, was %.2f; %s; strength %.4g\n", s.Short(r.MemoryID), r.NewScore, r.OldScore,
			cli.Count(int(r.UseCount), "use", "uses"), r.Strength)
		if r.Held != "" {
			s.Note("strength unchanged: %s", r.Held)
		}
		cli.PrintPending(s, r.Pending)
		s.UndoHint(r.Tx)
	})
}

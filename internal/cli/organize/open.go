package organize

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

// openCommand opens a note.
func openCommand(s *cli.App) *cobra.Command {
	var onlyPrint bool
	cmd := cli.Command("open ID|NOTE", func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && cmd.Parent().Name() == "vault" {
			return cli.UsageError(cmd, "missing note; to open a note in Obsidian, run: emberd vault open "+
				"NOTE; to open a vault that you released, run: emberd vault reopen")
		}
		return cli.ArgCount(1, 1, "one memory ID or note")(cmd, args)
	}, s.CompleteEither,
		func(cmd *cobra.Command, args []string) error {
			res, err := cli.Call(cmd.Context(), s, op.Open, &op.OpenRequest{Ref: args[0]})
			if err != nil {
				return err
			}
			if s.JSON {
				return s.PrintJSON(res)
			}
			s.Printf("%s\n", res.URI)
			if onlyPrint || s.Screen.Width == 0 {
				return nil
			}
			return cli.Launch(res.URI)
		})
	cmd.Flags().BoolVar(&onlyPrint, "print", false, "")
	return cmd
}

package organize

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func OpenCommand(s *cli.App) *cobra.Command {
	var onlyPrint bool
	cmd := cli.Command("open ID|NOTE", cli.ArgCount(1, 1, "one memory id or note"), s.CompleteEither,
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
			return cli.Launch(cmd, res.URI)
		})
	cmd.Flags().BoolVar(&onlyPrint, "print", false, "")
	return cmd
}

package setup

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
)

func CompletionCommand(s *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish",
		Args:      cli.ArgCount(1, 1, "the name of one shell: bash, zsh or fish"),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(s.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(s.Stdout)
			case "fish":
				return root.GenFishCompletion(s.Stdout, true)
			}
			return cli.UsageError(cmd, "invalid shell %q; use bash, zsh or fish", args[0])
		},
	}
}

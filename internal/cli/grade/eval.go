// Package grade has the command that measures how well search answers what the user wrote: it
// makes questions of links, aliases and headings, asks them with other settings too, and
// proposes settings. It changes nothing unless the user asks for it.
package grade

import (
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
)

func EvalCommand(s *cli.App) *cobra.Command {
	group := &cobra.Command{
		Use: "eval",
	}
	cli.AsGroup(group)
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		what := args[0]
		if !slices.Contains([]string{"summaries", "lifecycle", "pairs", "merges", "cleanup", "evolution"}, what) {
			what = "run " + what
		}
		return memory.Errorf(memory.Invalid,
			"command emberd eval %s not found; use emberd-eval %s, which is built from the source code", args[0], what)
	}
	group.AddCommand(evalSelfCommand(s))
	return group
}

package agent

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/hookrun"
	"emberd/internal/hooks"
	"emberd/memory"
)

// HookCommand is here for help and completion, and for the commands that tell what hooks did: [hookrun.Main] runs
// what agents call before there is a tree of commands.
func HookCommand(s *cli.App) *cobra.Command {
	cmd := cli.Command("hook AGENT [EVENT]", cli.ArgCount(1, 2, "an agent name, optionally with an event name"),
		completeAgents, func(_ *cobra.Command, args []string) error {
			if s.Interactive() && !slices.Contains(hooks.Agents(), args[0]) {
				return memory.Errorf(memory.Invalid,
					"agent or command %.40q not found; agents: %s; to list the commands, run: emberd help hook",
					args[0], strings.Join(hooks.Agents(), ", "))
			}
			hookrun.Run(s, args)
			return nil
		})
	cmd.AddCommand(hookReportCommand(s), hookSessionsCommand(s), hookShowCommand(s), hookForgetCommand(s),
		hookOffCommand(s), hookOnCommand(s))
	return cmd
}

func completeAgents(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return hooks.Agents(), cobra.ShellCompDirectiveNoFileComp
}

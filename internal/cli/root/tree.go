// Package root builds the tree of commands and runs the one that the command line names. It is
// the one place that lists every command, its group and its order in the help.
package root

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/internal/cli/agent"
	"emberd/internal/cli/daemon"
	"emberd/internal/cli/data"
	"emberd/internal/cli/grade"
	"emberd/internal/cli/maintain"
	"emberd/internal/cli/memories"
	"emberd/internal/cli/model"
	"emberd/internal/cli/organize"
	"emberd/internal/cli/page"
	"emberd/internal/cli/search"
	"emberd/internal/cli/setup"
)

// The groups of the command list.
const (
	groupDaily   = "daily"
	groupVault   = "vault"
	groupMoving  = "moving"
	groupRunning = "running"
)

// Execute runs the command line of this process and returns its exit code.
func Execute(s *cli.App) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)       // the second signal ends the process at once
	cobra.EnableCommandSorting = false // the order of the daily round says more
	return s.Run(ctx, RootCommand(s), os.Args[1:])
}

// RootCommand builds the whole tree of commands.
func RootCommand(s *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:               "emberd",
		Version:           cli.BuildVersion(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	cli.AsGroup(root)
	root.SetUsageFunc(printUsage)
	root.SetHelpFunc(s.HelpOnly(printHelp))
	root.SetFlagErrorFunc(cli.FlagError)
	globalFlags(s, root.PersistentFlags())
	s.OpenOffline = daemon.OpenOffline
	root.AddGroup(
		&cobra.Group{ID: groupDaily, Title: "Every day:"},
		&cobra.Group{ID: groupVault, Title: "The vault:"},
		&cobra.Group{ID: groupMoving, Title: "Moving in and out:"},
		&cobra.Group{ID: groupRunning, Title: "Running it:"},
	)
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID(groupRunning)
	addCommands(s, root)
	root.InitDefaultHelpCmd()
	cli.Describe(root, helpTexts())
	s.CompleteRest(root)
	return root
}

func globalFlags(s *cli.App, f *pflag.FlagSet) {
	f.StringVar(&s.Home, "home", "", "keep data, state, socket and config file under `DIR`")
	f.StringVar(&s.ConfigFile, "config", "", "read settings from `FILE`")
	f.StringVar(&s.Socket, "socket", "", "reach the daemon at `PATH`")
	f.StringArrayVar(&s.Set, "set", nil, "overrule one setting, `KEY=VALUE`; repeatable")
	f.BoolVar(&s.JSON, "json", false, "print JSON: the result object, or a problem object on stderr")
}

func addCommands(s *cli.App, root *cobra.Command) {
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupDaily,
		memories.SaveCommand(s), memories.AddCommand(s), memories.VerifyCommand(s), memories.ReinforceCommand(s),
		search.QueryCommand(s), search.SearchCommand(s), search.FindCommand(s), search.WhyNotCommand(s),
		memories.ShowCommand(s), memories.ListCommand(s),
		memories.EditCommand(s), memories.ConfirmCommand(s), organize.RelateCommand(s),
		memories.TouchCommand(s), memories.ObserveCommand(s), agent.AnalyzeCommand(s), memories.ForgetCommand(s),
		organize.GcCommand(s), maintain.ClusterCommand(s), maintain.ConsolidateCommand(s),
		organize.ReviewCommand(s), maintain.CleanupCommand(s), memories.PurgeCommand(s),
		memories.UndoCommand(s), memories.TrashCommand(s), memories.HistoryCommand(s), agent.AuditCommand(s),
		memories.WhyCommand(s), memories.TimelineCommand(s), organize.GraphCommand(s), memories.EntitiesCommand(s),
		organize.OpenCommand(s), page.Command(s), maintain.StatusCommand(s), maintain.StatsCommand(s),
		maintain.HealthCommand(s))
	add(groupVault, organize.PromoteCommand(s), organize.ArchiveCommand(s), memories.RekindleCommand(s),
		organize.VaultCommand(s), organize.LinksCommand(s))
	add(groupMoving, data.ImportCommand(s), maintain.MigrateCommand(s), data.ExportCommand(s), data.BackupCommand(s),
		setup.KeeperCommand(s))
	add(groupRunning, setup.InitCommand(s), daemon.ServeCommand(s), daemon.ServiceCommand(s), maintain.DoctorCommand(s),
		maintain.LogCommand(s), maintain.CompactCommand(s), setup.ConfigCommand(s), organize.LifecycleCommand(s),
		model.EngineCommand(s), model.ModelCommand(s), model.EmbedCommand(s), agent.McpCommand(s),
		agent.HookCommand(s), agent.InstallClientCommand(s), agent.TokenCommand(s), setup.DemoCommand(s),
		grade.EvalCommand(s),
		cli.VersionCommand(s), setup.CompletionCommand(s), setup.ManCommand(s))
}

// help has the help of every command, in the form that [cli.Describe] reads.
//
//go:embed help/*.txt
var help embed.FS

// helpTexts joins the files of help.
func helpTexts() string {
	var all strings.Builder
	names, _ := fs.Glob(help, "help/*.txt") // the pattern is right
	for _, name := range names {
		text, _ := help.ReadFile(name) // a file of the program itself
		all.Write(append(text, '\n'))
	}
	return all.String()
}

func helpCommand() *cobra.Command {
	return cli.Command("help [COMMAND…]", nil, func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		var names []cobra.Completion
		if parent, _, err := cmd.Root().Find(args); err == nil {
			for _, c := range parent.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}, func(cmd *cobra.Command, args []string) error {
		about, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return cli.UnknownError(about, "command "+strings.Join(args, " "), about.SuggestionsFor(rest[0]))
		}
		return about.Help()
	})
}

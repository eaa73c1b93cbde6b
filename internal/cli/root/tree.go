// Package root builds the tree of commands and runs the one that the command line names. It is
// the one place that lists every command, its group and its order in the help.
package root

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"os/signal"
	"slices"
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
	return s.Run(ctx, tree(s, named(os.Args[1:])), os.Args[1:])
}

// RootCommand builds the whole tree of commands.
func RootCommand(s *cli.App) *cobra.Command { return tree(s, commands()) }

// tree builds the tree of some commands.
func tree(s *cli.App, of []command) *cobra.Command {
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
	for _, c := range of {
		cmd := c.build(s)
		cmd.GroupID = c.group
		root.AddCommand(cmd)
	}
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

// command is one that the user may name first. Only that one is built when it runs.
type command struct {
	group, name string
	build       func(*cli.App) *cobra.Command
}

// commands returns all commands in the order of the help.
func commands() []command {
	return []command{
		{groupDaily, "save", memories.SaveCommand},
		{groupDaily, "add", memories.AddCommand},
		{groupDaily, "verify", memories.VerifyCommand},
		{groupDaily, "reinforce", memories.ReinforceCommand},
		{groupDaily, "query", search.QueryCommand},
		{groupDaily, "search", search.SearchCommand},
		{groupDaily, "find", search.FindCommand},
		{groupDaily, "why-not", search.WhyNotCommand},
		{groupDaily, "show", memories.ShowCommand},
		{groupDaily, "list", memories.ListCommand},
		{groupDaily, "edit", memories.EditCommand},
		{groupDaily, "confirm", memories.ConfirmCommand},
		{groupDaily, "relate", organize.RelateCommand},
		{groupDaily, "touch", memories.TouchCommand},
		{groupDaily, "observe", memories.ObserveCommand},
		{groupDaily, "analyze", agent.AnalyzeCommand},
		{groupDaily, "forget", memories.ForgetCommand},
		{groupDaily, "gc", organize.GcCommand},
		{groupDaily, "cluster", maintain.ClusterCommand},
		{groupDaily, "consolidate", maintain.ConsolidateCommand},
		{groupDaily, "review", organize.ReviewCommand},
		{groupDaily, "cleanup", maintain.CleanupCommand},
		{groupDaily, "purge", memories.PurgeCommand},
		{groupDaily, "undo", memories.UndoCommand},
		{groupDaily, "trash", memories.TrashCommand},
		{groupDaily, "history", memories.HistoryCommand},
		{groupDaily, "audit", agent.AuditCommand},
		{groupDaily, "why", memories.WhyCommand},
		{groupDaily, "timeline", memories.TimelineCommand},
		{groupDaily, "graph", organize.GraphCommand},
		{groupDaily, "entities", memories.EntitiesCommand},
		{groupDaily, "open", organize.OpenCommand},
		{groupDaily, "page", page.Command},
		{groupDaily, "status", maintain.StatusCommand},
		{groupDaily, "stats", maintain.StatsCommand},
		{groupDaily, "health", maintain.HealthCommand},
		{groupVault, "promote", organize.PromoteCommand},
		{groupVault, "archive", organize.ArchiveCommand},
		{groupVault, "rekindle", memories.RekindleCommand},
		{groupVault, "vault", organize.VaultCommand},
		{groupVault, "links", organize.LinksCommand},
		{groupMoving, "import", data.ImportCommand},
		{groupMoving, "migrate", maintain.MigrateCommand},
		{groupMoving, "export", data.ExportCommand},
		{groupMoving, "backup", data.BackupCommand},
		{groupMoving, "keeper", setup.KeeperCommand},
		{groupRunning, "init", setup.InitCommand},
		{groupRunning, "serve", daemon.ServeCommand},
		{groupRunning, "service", daemon.ServiceCommand},
		{groupRunning, "doctor", maintain.DoctorCommand},
		{groupRunning, "log", maintain.LogCommand},
		{groupRunning, "compact", maintain.CompactCommand},
		{groupRunning, "config", setup.ConfigCommand},
		{groupRunning, "lifecycle", organize.LifecycleCommand},
		{groupRunning, "engine", model.EngineCommand},
		{groupRunning, "model", model.ModelCommand},
		{groupRunning, "embed", model.EmbedCommand},
		{groupRunning, "mcp", agent.McpCommand},
		{groupRunning, "hook", agent.HookCommand},
		{groupRunning, "install-client", agent.InstallClientCommand},
		{groupRunning, "token", agent.TokenCommand},
		{groupRunning, "demo", setup.DemoCommand},
		{groupRunning, "eval", grade.EvalCommand},
		{groupRunning, "version", cli.VersionCommand},
		{groupRunning, "completion", setup.CompletionCommand},
		{groupRunning, "man", setup.ManCommand},
	}
}

// named returns the command that args name, or all if it needs to know others or if args name none. The first word
// counts only where no flag is in front, whose value it could be.
func named(args []string) []command {
	all := commands()
	if len(args) == 0 || slices.Contains([]string{"completion", "man"}, args[0]) {
		return all
	}
	if args[0] == "--version" {
		return nil
	}
	if i := slices.IndexFunc(all, func(c command) bool { return c.name == args[0] }); i >= 0 {
		return all[i : i+1]
	}
	return all
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

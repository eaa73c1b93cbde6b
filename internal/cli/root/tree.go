// Package root builds the tree of commands and runs the one that the command line names. It is
// the one place that lists every command, its group and its order in the help.
package root

import (
	"context"
	_ "embed" // the help
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
)

// Execute runs the command line of this process and returns its exit code.
func Execute(s *cli.App) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)       // the second signal ends the process at once
	cobra.EnableCommandSorting = false // the order of the table says more
	of, others := named(os.Args[1:])
	return s.Run(ctx, tree(s, of, others), os.Args[1:])
}

// RootCommand builds the whole tree of commands.
func RootCommand(s *cli.App) *cobra.Command { return tree(s, commands(), otherNames()) }

// tree builds the tree of some commands and other names.
func tree(s *cli.App, of []command, others []otherName) *cobra.Command {
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
	root.AddGroup(groups()...)
	root.SetHelpCommand(helpCommand(s))
	for _, c := range of {
		root.AddCommand(c.command(s))
	}
	for _, n := range others {
		n.addTo(root, s)
	}
	root.InitDefaultHelpCmd()
	cli.Describe(root, helpTexts()...)
	s.CompleteRest(root)
	return root
}

func globalFlags(s *cli.App, f *pflag.FlagSet) {
	f.StringVar(&s.Home, "home", "", "store data, state, socket and config file in `DIR`")
	f.StringVar(&s.ConfigFile, "config", "", "use config file `FILE`")
	f.StringVar(&s.Socket, "socket", "", "connect to the daemon at socket `PATH`")
	f.StringArrayVar(&s.Set, "set", nil, "set one setting for this command, `KEY=VALUE`; can be repeated")
	f.BoolVar(&s.JSON, "json", false, "print results and errors as JSON")
}

// command builds a command with its modes and what the table has below it.
func (c *command) command(s *cli.App) *cobra.Command {
	cmd := c.build(s)
	cmd.GroupID, cmd.Hidden, cmd.Aliases = c.group, c.group == hidden, c.aliases
	for _, p := range c.below {
		cmd.AddCommand(p.build(s))
	}
	for _, p := range c.modes {
		cli.AddMode(cmd, p.name, p.build(s))
	}
	return cmd
}

// mode returns the builder of the mode that a flag selects, or nil.
func (c *command) mode(flag string) builder {
	for _, p := range c.modes {
		name, _, _ := strings.Cut(p.name, ",")
		if "--"+strings.TrimSuffix(name, "=") == flag {
			return p.build
		}
	}
	return nil
}

// addTo builds the command that a name stands for and puts it where the name says.
func (n *otherName) addTo(root *cobra.Command, s *cli.App) {
	words := strings.Fields(n.old)
	last := len(words) - 1
	cmd := n.command(s)
	cli.Rename(cmd, words[last])
	cli.StandFor(cmd, root.Name()+" "+n.now)
	above, _, err := root.Find(words[:last])
	if err != nil {
		panic(err) // the table has no row above this one
	}
	cmd.Hidden = cli.StandsFor(above) == ""
	above.AddCommand(cmd)
}

// command builds what a name stands for: a mode, or a command out of the tree of the one that its
// new path begins with.
func (n *otherName) command(s *cli.App) *cobra.Command {
	if n.build != nil {
		return n.build(s)
	}
	words := strings.Fields(n.now)
	all := commands()
	first := all[slices.IndexFunc(all, func(c command) bool { return c.name == words[0] })]
	if mode := first.mode(words[len(words)-1]); mode != nil {
		return mode(s)
	}
	cmd, _, err := first.command(s).Find(words[1:])
	if err != nil {
		panic(err) // the table names a command that is not there
	}
	if cmd.HasParent() {
		cmd.Parent().RemoveCommand(cmd)
	}
	cmd.GroupID, cmd.Aliases = "", nil
	return cmd
}

// named returns the command that args name with its other names, or all if it needs to know others
// or if args name none. The first word counts only where no flag is in front, whose value it could
// be.
func named(args []string) ([]command, []otherName) {
	all, others := commands(), otherNames()
	if len(args) == 0 || slices.Contains([]string{"completion", "man"}, args[0]) {
		return all, others
	}
	if args[0] == "--version" {
		return nil, nil
	}
	others = slices.DeleteFunc(others, func(n otherName) bool {
		first, _, _ := strings.Cut(n.old, " ")
		return first != args[0]
	})
	of := slices.DeleteFunc(all, func(c command) bool {
		return c.name != args[0] && !slices.Contains(c.aliases, args[0])
	})
	if len(of)+len(others) == 0 {
		return commands(), otherNames()
	}
	return of, others
}

// The help of every command, in the form that [cli.Describe] reads. Strings, since every start reads them: an
// embed.FS would copy the files.
var (
	//go:embed help/data.txt
	dataHelp string
	//go:embed help/maintain.txt
	maintainHelp string
	//go:embed help/memories.txt
	memoriesHelp string
	//go:embed help/organize.txt
	organizeHelp string
	//go:embed help/other.txt
	otherHelp string
	//go:embed help/root.txt
	rootHelp string
	//go:embed help/setup.txt
	setupHelp string
)

// helpTexts returns the files of help.
func helpTexts() []string {
	return []string{dataHelp, maintainHelp, memoriesHelp, organizeHelp, otherHelp, rootHelp, setupHelp}
}

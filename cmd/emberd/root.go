package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/spelling"
	"emberd/memory"
)

// The groups of the command list.
const (
	groupDaily   = "daily"
	groupVault   = "vault"
	groupMoving  = "moving"
	groupRunning = "running"
)

const usageTemplate = `Usage:
  {{.UseLine}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if not .Groups}}

Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of every command, see emberd --help:
  --json  --home DIR  --socket PATH  --config FILE  --set KEY=VALUE{{end}}
`

const helpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}

{{end}}{{.UsageString}}{{with index .Annotations "exit"}}
Exit codes:
{{.}}
{{end}}`

// rootCommand builds the whole tree of commands.
func (s *state) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "emberd",
		Short: "A memory that fades",
		Long: `emberd remembers what you tell it and lets fade what is not used.

Set it up with "emberd init", start the daemon in one terminal with "emberd
serve", then save and search in another. What is saved is on disk when the
command returns.`,
		Example: `  emberd init
  emberd serve
  emberd save "Use JWT tokens for authentication in all new APIs" --tag security
  emberd search authentication
  emberd demo`,
		Annotations:       map[string]string{"exit": allExits()},
		Version:           buildVersion(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	asGroup(root)
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpTemplate(helpTemplate)
	root.SetHelpFunc(s.helpOnly(root.HelpFunc()))
	root.SetFlagErrorFunc(flagError)
	s.globalFlags(root.PersistentFlags())
	root.AddGroup(
		&cobra.Group{ID: groupDaily, Title: "Every day:"},
		&cobra.Group{ID: groupVault, Title: "The vault:"},
		&cobra.Group{ID: groupMoving, Title: "Moving in and out:"},
		&cobra.Group{ID: groupRunning, Title: "Running it:"},
	)
	root.SetVersionTemplate("emberd {{.Version}}\n")
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID(groupRunning)
	s.addCommands(root)
	s.completeRest(root)
	return root
}

func (s *state) globalFlags(f *pflag.FlagSet) {
	f.StringVar(&s.home, "home", "", "keep data, state, socket and config file under `DIR`")
	f.StringVar(&s.configFile, "config", "", "read settings from `FILE`")
	f.StringVar(&s.socket, "socket", "", "reach the daemon at `PATH`")
	f.StringArrayVar(&s.set, "set", nil, "overrule one setting, `KEY=VALUE`; repeatable")
	f.BoolVar(&s.json, "json", false, "print JSON: the result object, or a problem object on stderr")
}

func (s *state) addCommands(root *cobra.Command) {
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupDaily,
		s.saveCommand(), s.addCommand(), s.verifyCommand(), s.reinforceCommand(), s.queryCommand(), s.searchCommand(), s.findCommand(), s.whyNotCommand(), s.showCommand(), s.listCommand(),
		s.editCommand(), s.confirmCommand(), s.relateCommand(),
		s.touchCommand(), s.observeCommand(), s.analyzeCommand(), s.forgetCommand(), s.gcCommand(), s.clusterCommand(), s.consolidateCommand(), s.reviewCommand(), s.cleanupCommand(), s.purgeCommand(),
		s.undoCommand(), s.trashCommand(), s.historyCommand(), s.auditCommand(), s.whyCommand(), s.timelineCommand(), s.graphCommand(), s.entitiesCommand(), s.openCommand(), s.statusCommand(), s.statsCommand(), s.healthCommand())
	add(groupVault, s.promoteCommand(), s.archiveCommand(), s.rekindleCommand(), s.vaultCommand(), s.linksCommand())
	add(groupMoving, s.importCommand(), s.migrateCommand(), s.exportCommand(), s.backupCommand(), s.keeperCommand())
	add(groupRunning, s.initCommand(), s.serveCommand(), s.serviceCommand(), s.doctorCommand(), s.logCommand(), s.compactCommand(), s.configCommand(), s.lifecycleCommand(), s.engineCommand(), s.modelCommand(), s.embedCommand(), s.mcpCommand(), s.installClientCommand(), s.tokenCommand(), s.demoCommand(), s.evalCommand(), s.versionCommand(), s.completionCommand(), s.manCommand())
}

func allExits() string {
	all := endings{}
	for _, c := range exitCodes() {
		all[c] = ""
	}
	return exits(all)["exit"]
}

// groupUse ends the usage of what only holds other commands. One with words and commands
// of its own, as eval, is no group.
const groupUse = " COMMAND"

func isGroup(cmd *cobra.Command) bool { return strings.HasSuffix(cmd.Use, groupUse) }

// asGroup makes a command that only holds others: alone it shows its help, and
// a word it does not know gets a suggestion.
func asGroup(cmd *cobra.Command) {
	cmd.Use += groupUse
	cmd.DisableFlagsInUseLine = true
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return noCommand(cmd, args[0])
	}
}

// noCommand is the error about a word that a group has no command for.
func noCommand(group *cobra.Command, word string) error {
	return unknown(group, "command "+word, group.SuggestionsFor(word))
}

// helpOnly shows the help of commands there are. Cobra shows that of the group when
// --help comes with another word, and calls that success. A command with others below it
// that takes arguments itself has its own help.
func (s *state) helpOnly(show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); isGroup(cmd) && len(words) > 0 {
			s.helpless = noCommand(cmd, words[0])
			return
		}
		show(cmd, args)
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "help [COMMAND…]",
		Short:       "Show the help of a command",
		Example:     `  emberd help import jsonl`,
		Annotations: exits(nil),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			if parent, _, err := cmd.Root().Find(args); err == nil {
				for _, c := range parent.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknown(about, "command "+strings.Join(args, " "), about.SuggestionsFor(rest[0]))
			}
			return about.Help()
		},
	}
}

// wrong is an error about how cmd was called.
func wrong(cmd *cobra.Command, format string, args ...any) error {
	return memory.Errorf(memory.Invalid, "%s; see %s --help", fmt.Sprintf(format, args...), cmd.CommandPath())
}

// unknown is an error about a misspelt name, with what it may mean.
func unknown(cmd *cobra.Command, what string, near []string) error {
	if len(near) == 0 {
		return wrong(cmd, "unknown %s", what)
	}
	return memory.Errorf(memory.Invalid, "unknown %s; did you mean %s?", what, strings.Join(near, " or "))
}

// flagError says what is wrong with a flag in the manner of all our errors.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := e.GetSpecifiedName()
		if near := nearFlags(cmd, name); len(near) > 0 || !strings.ContainsAny(name+e.GetSpecifiedShortnames(), " \t\n") {
			return unknown(cmd, "flag "+dashed(name), near)
		}
		return dashedText(cmd)
	}
	if _, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return dashedText(cmd)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return wrong(cmd, "%s needs a value", dashed(e.GetSpecifiedName()))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return wrong(cmd, "--%s does not take %s: %s", e.GetFlag().Name, jsonText(e.GetValue()), reason(e))
	}
	return wrong(cmd, "%v", err)
}

// dashedText is the error about a text that was read as a flag.
func dashedText(cmd *cobra.Command) error {
	return memory.Errorf(memory.Invalid, "a text that begins with - was taken for a flag; put -- before it, as in %s -- '- milk'", cmd.CommandPath())
}

// reason is what a flag's value says is wrong, without the names of Go's
// functions.
func reason(e *pflag.InvalidValueError) string {
	if m, ok := errors.AsType[*memory.Error](e); ok {
		return m.Message
	}
	switch e.GetFlag().Value.Type() {
	case "int", "float64":
		return "it is not a number"
	case "bool":
		return "it is neither true nor false"
	}
	return e.Unwrap().Error()
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// nearFlags returns the flags of cmd that a misspelt name may mean.
func nearFlags(cmd *cobra.Command, name string) []string {
	var near []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && len(name) > 2 && (strings.HasPrefix(f.Name, name) || spelling.Distance(f.Name, name) <= 2) {
			near = append(near, "--"+f.Name)
		}
	})
	return near
}

// takes checks the number of arguments and names them when it is wrong.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return wrong(cmd, "%s needs %s", cmd.CommandPath(), what)
		case most >= 0 && len(args) > most && most == 0:
			return wrong(cmd, "%s takes no argument, but %q was given", cmd.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return wrong(cmd, "%s takes %s, but %d arguments were given", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

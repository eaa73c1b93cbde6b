package root

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
)

// The help is printed without templates: text/template calls methods by name, so that the
// linker would keep every exported method of the program and its libraries.

// furtherHelp ends the help of emberd.
const furtherHelp = "\n" +
	"To try emberd first, run: emberd tour\n" +
	"To list all commands and their aliases, run: emberd help --all\n"

// printHelp prints what a command does, its usage and its exit codes. If a flag selects a mode, the
// help is that of the mode.
func printHelp(c *cobra.Command, _ []string) {
	c = cli.InMode(c)
	c.InitDefaultHelpFlag() // which a mode, that is not run by its name, has not yet
	if parent := c.Parent(); parent != nil && strings.HasPrefix(c.Name(), "-") {
		c.Flags().Lookup("help").Usage = "help for " + parent.Name() + " " + c.Name()
	}
	w := c.OutOrStdout()
	if about := strings.TrimSpace(cmp.Or(c.Long, c.Short)); about != "" {
		fmt.Fprintf(w, "%s\n\n", about)
	}
	fmt.Fprint(w, c.UsageString())
	if exits := c.Annotations["exit"]; exits != "" {
		fmt.Fprintf(w, "\nExit codes:\n%s\n", exits)
	}
	if !c.HasParent() {
		fmt.Fprint(w, furtherHelp)
	}
	if now := cli.StandsFor(c); now != "" {
		fmt.Fprintf(w, "\n"+
			"Alias of: %s\n", now)
	}
}

// printUsage prints how a command is called: its examples, commands and flags.
func printUsage(c *cobra.Command) error {
	w := c.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(w, "\n\nExamples:\n%s", c.Example)
	}
	if c.HasAvailableSubCommands() {
		printCommands(w, c)
	}
	if c.HasAvailableLocalFlags() {
		flags := c.LocalFlags().FlagUsagesWrapped(80)
		fmt.Fprintf(w, "\n\nFlags:\n%s", strings.TrimRight(flags, " \n"))
	}
	for i, mode := range cli.Modes(c) {
		if i == 0 {
			fmt.Fprint(w, "\n\nMore help:")
		}
		fmt.Fprintf(w, "\n  %s --help", mode.CommandPath())
	}
	if c.HasAvailableInheritedFlags() {
		fmt.Fprint(w, "\n"+
			"\n"+
			"Global flags (see emberd --help):\n"+
			"  --json  --home DIR  --socket PATH  --config FILE  --set KEY=VALUE")
	}
	_, err := fmt.Fprintln(w)
	return err
}

// printCommands lists the commands below c, by groups if there are any.
func printCommands(w io.Writer, c *cobra.Command) {
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, group := range groups {
		fmt.Fprintf(w, "\n\n%s", group.Title)
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() && below.GroupID == group.ID {
				fmt.Fprintf(w, "\n  %-*s %s", below.NamePadding(), below.Name(), below.Short)
			}
		}
	}
}

// helpCommand is emberd help: that of a command, or with --all one line for each.
func helpCommand(s *cli.App) *cobra.Command {
	var all bool
	cmd := cli.Command("help [COMMAND…]", nil, completeHelp, func(cmd *cobra.Command, args []string) error {
		if all {
			return printAll(s, cmd, args)
		}
		about, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return cli.UnknownError(about, "command "+strings.Join(args, " "), about.SuggestionsFor(rest[0]))
		}
		return about.Help()
	})
	cmd.Hidden = true
	cmd.Flags().BoolVar(&all, "all", false, "")
	return cmd
}

// completeHelp offers the commands below the one that is named so far.
func completeHelp(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	if parent, _, err := cmd.Root().Find(args); err == nil {
		for _, c := range parent.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// printAll lists every command with those below it, a line each, and then the other names.
func printAll(s *cli.App, cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cli.UsageError(cmd, "--all and %q cannot be combined", args[0])
	}
	root := cmd.Root()
	for _, group := range append(root.Groups(), &cobra.Group{Title: "Less often:"}) {
		s.Printf("%s\n", group.Title)
		for _, c := range root.Commands() {
			if c.GroupID == group.ID && cli.StandsFor(c) == "" {
				printLines(s, c)
			}
		}
		s.Printf("\n")
	}
	s.Printf("Other names:\n")
	printOthers(s, root)
	return nil
}

// pathWidth is the width of the paths that emberd help --all lists.
const pathWidth = 30

func printLines(s *cli.App, c *cobra.Command) {
	printLine(s, c, c.Short)
	for _, below := range c.Commands() {
		if cli.StandsFor(below) == "" {
			printLines(s, below)
		}
	}
}

// printOthers lists the other names below c.
func printOthers(s *cli.App, c *cobra.Command) {
	for _, below := range c.Commands() {
		_, now, _ := strings.Cut(cli.StandsFor(below), " ")
		for _, alias := range below.Aliases {
			s.Printf("  %s %s\n", cli.Pad(alias, pathWidth), below.Name())
		}
		if now != "" {
			printLine(s, below, now)
		}
		printOthers(s, below)
	}
}

func printLine(s *cli.App, c *cobra.Command, about string) {
	path := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	s.Printf("  %s %s\n", cli.Pad(path, pathWidth), about)
}

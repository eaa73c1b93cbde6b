package root

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// The help is printed without templates: text/template calls methods by name, so that the
// linker would keep every exported method of the program and its libraries.

// printHelp prints what a command does, its usage and its exit codes.
func printHelp(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	if about := strings.TrimSpace(cmp.Or(c.Long, c.Short)); about != "" {
		fmt.Fprintf(w, "%s\n\n", about)
	}
	fmt.Fprint(w, c.UsageString())
	if exits := c.Annotations["exit"]; exits != "" {
		fmt.Fprintf(w, "\nExit codes:\n%s\n", exits)
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
	if c.HasAvailableInheritedFlags() {
		fmt.Fprint(w, "\n\nFlags of every command, see emberd --help:\n"+
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

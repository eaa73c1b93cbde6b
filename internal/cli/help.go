package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Describe gives each command below root its help from texts. A text begins with the path of its
// command, and the line after that is the short help:
//
//	== emberd why
//	Tell why a memory scores what it does
//
//	Tell how the score of a memory comes about.
//
//	Examples:
//	  emberd why 456789ab
//
//	Flags:
//	  limit  at most `N` memories
//
//	Exit codes:
//	    1  no memory with that id
//	    3
//
// An exit code without words has its general meaning. A flag that the command does not list has
// the help that the section "flags" has for its name. Describe returns the paths that no command
// has, sorted.
func Describe(root *cobra.Command, texts string) []string {
	all := map[string]string{}
	for part := range strings.SplitSeq("\n"+texts, "\n== ") {
		path, text, _ := strings.Cut(part, "\n")
		all[path] = text
	}
	shared := flagTexts(all["flags"])
	delete(all, "")
	delete(all, "flags")
	var fill func(*cobra.Command)
	fill = func(cmd *cobra.Command) {
		if text, ok := all[cmd.CommandPath()]; ok {
			describe(cmd, text, shared)
			delete(all, cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			fill(sub)
		}
	}
	fill(root)
	return slices.Sorted(maps.Keys(all))
}

// describe splits the text of one command into its parts.
func describe(cmd *cobra.Command, text string, shared map[string]string) {
	text, exits, _ := strings.Cut(text, "\nExit codes:\n")
	text, flags, _ := strings.Cut(text, "\nFlags:\n")
	own := flagTexts(flags)
	help := func(f *pflag.Flag) { f.Usage = cmp.Or(f.Usage, own[f.Name], shared[f.Name]) }
	cmd.Flags().VisitAll(help)
	cmd.PersistentFlags().VisitAll(help)
	text, cmd.Example, _ = strings.Cut(text, "\nExamples:\n")
	cmd.Short, cmd.Long, _ = strings.Cut(text, "\n")
	cmd.Long = strings.Trim(cmd.Long, "\n")
	cmd.Example = strings.TrimRight(cmd.Example, "\n")
	cmd.Annotations = map[string]string{"exit": exitText(exits)}
}

// flagTexts reads lines of a flag's name and its help.
func flagTexts(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		name, help, _ := strings.Cut(strings.TrimSpace(line), "  ")
		all[name] = help
	}
	return all
}

// exitText lists how a command may end: as its own lines say, and as every command may.
func exitText(own string) string {
	meanings := map[ExitCode]string{ExitDone: "", ExitInput: "", ExitFault: "", ExitInterrupted: ""}
	for line := range strings.Lines(own) {
		code, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if n, err := strconv.Atoi(code); err == nil {
			meanings[ExitCode(n)] = text
		}
	}
	if _, asks := meanings[ExitNoDaemon]; asks { // the daemon may refuse the caller
		meanings[ExitRefused] += ""
	}
	var lines []string
	for _, c := range slices.Sorted(maps.Keys(meanings)) {
		lines = append(lines, fmt.Sprintf("  %3d  %s", c, cmp.Or(meanings[c], ExitMeanings[c])))
	}
	return strings.Join(lines, "\n")
}

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
//	== emberd show --why
//	Tell why a memory scores what it does
//
//	Tell how the score of a memory comes about.
//
//	Examples:
//	  emberd show --why 456789ab
//
//	Flags:
//	  limit  at most `N` memories
//
//	Exit codes:
//	    1  no memory with that id
//	    3
//
// An exit code without words has its general meaning. A flag that the command does not list has
// the help that the section "flags" has for its name, and one that it has for a mode the help that
// the mode has for it. A command under another name has the text of the command that it stands for.
// Describe returns the paths that no command has, sorted.
func Describe(root *cobra.Command, texts ...string) []string {
	all := map[string]string{}
	for _, some := range texts {
		for part := range strings.SplitSeq(strings.TrimPrefix(some, "== "), "\n== ") {
			path, text, _ := strings.Cut(part, "\n")
			all[path] = text
		}
	}
	d := describer{texts: all, shared: flagTexts(all["flags"]), used: map[string]bool{"": true, "flags": true}}
	d.tree(root)
	maps.DeleteFunc(all, func(path, _ string) bool { return d.used[path] })
	return slices.Sorted(maps.Keys(all))
}

// describer gives commands their help.
type describer struct {
	texts  map[string]string // by the path of the command
	shared map[string]string // of flags, by their names
	used   map[string]bool   // paths that a command has
}

// tree describes a command and all below it.
func (d *describer) tree(cmd *cobra.Command) {
	path := cmd.CommandPath()
	if now := StandsFor(cmd); now != "" && d.texts[path] == "" {
		path = now
	}
	if text, ok := d.texts[path]; ok {
		d.describe(cmd, path, text)
		d.used[path] = true
	}
	for _, sub := range cmd.Commands() {
		d.tree(sub)
	}
}

// describe splits the text of one command into its parts.
func (d *describer) describe(cmd *cobra.Command, path, text string) {
	text, exits, _ := strings.Cut(text, "\nExit codes:\n")
	text, flags, _ := strings.Cut(text, "\nFlags:\n")
	own := flagTexts(flags)
	help := func(f *pflag.Flag) {
		f.Usage = cmp.Or(f.Usage, own[f.Name], d.ofMode(path, f), d.shared[f.Name])
	}
	cmd.Flags().VisitAll(help)
	cmd.PersistentFlags().VisitAll(help)
	text, cmd.Example, _ = strings.Cut(text, "\nExamples:\n")
	cmd.Short, cmd.Long, _ = strings.Cut(text, "\n")
	cmd.Long = strings.Trim(cmd.Long, "\n")
	cmd.Example = strings.TrimRight(cmd.Example, "\n")
	annotate(cmd, "exit", exitText(exits))
}

// ofMode is the help of a flag that the command at path has for one of its modes only, or "".
func (d *describer) ofMode(path string, f *pflag.Flag) string {
	modes := f.Annotations[onlyWith]
	if len(modes) == 0 || strings.HasSuffix(path, " --"+modes[0]) {
		return ""
	}
	_, flags, _ := strings.Cut(d.texts[path+" --"+modes[0]], "\nFlags:\n")
	return "with --" + modes[0] + ": " + cmp.Or(flagTexts(flags)[f.Name], d.shared[f.Name])
}

func annotate(cmd *cobra.Command, key, value string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[key] = value
}

// standsFor annotates a command under another name with the path of the command that it stands for.
const standsFor = "emberd_stands_for"

// StandsFor returns the path of the command that cmd is another name of, or "".
func StandsFor(cmd *cobra.Command) string { return cmd.Annotations[standsFor] }

// StandFor makes cmd, and all below it, another name of the command at path.
func StandFor(cmd *cobra.Command, path string) {
	annotate(cmd, standsFor, path)
	for _, sub := range cmd.Commands() {
		StandFor(sub, path+" "+sub.Name())
	}
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

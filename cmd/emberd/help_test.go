package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/internal/cli/root"
	"emberd/internal/config"
	"emberd/memory"
)

// tree lists all commands.
func tree() []*cobra.Command {
	root := root.RootCommand(cli.New())
	root.InitDefaultHelpCmd()
	return commands(root)
}

func commands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		all = append(all, commands(sub)...)
	}
	return all
}

func TestEveryCommandHasExampleAndExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range tree() {
		path := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: its short text is %q, want a phrase without a full stop", path, c.Short)
		}
		if !strings.Contains(c.Example, "emberd") {
			t.Errorf("%s has no example", path)
		}
		for _, line := range []string{"    0  ", "    2  "} {
			if !strings.Contains(c.Annotations["exit"], line) {
				t.Errorf("%s does not document exit code%s", path, line)
			}
		}
		if c.HasSubCommands() && c.Args == nil {
			t.Errorf("%s takes any word without a suggestion", path)
		}
	}
}

// Help fits into 80 columns.
func TestHelpIsNarrow(t *testing.T) {
	t.Parallel()
	for _, c := range tree() {
		var out strings.Builder
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	}
}

// A setting that help names is one, and so it can be looked up.
func TestHelpNamesSettingsThatAre(t *testing.T) {
	t.Parallel()
	groups := map[string]bool{}
	c, err := config.Load(config.Source{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	settings := c.Effective()
	for _, s := range settings {
		group, _, _ := strings.Cut(s.Key, ".")
		groups[group] = true
	}
	for _, c := range tree() {
		for _, m := range regexp.MustCompile(`\b([a-z]+)\.[a-z]+(?:_[a-z]+)*\b`).FindAllStringSubmatch(c.Long, -1) {
			is := func(s config.Setting) bool { return s.Key == m[0] }
			if groups[m[1]] && !slices.ContainsFunc(settings, is) {
				t.Errorf("%s names the setting %s, which is none", c.CommandPath(), m[0])
			}
		}
	}
}

func TestFlagTextsAreAlike(t *testing.T) {
	t.Parallel()
	for _, c := range tree() {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: text %q, want a phrase without a full stop", c.CommandPath(), f.Name, f.Usage)
			}
			if f.Name == "limit" && f.Shorthand != "n" {
				t.Errorf("%s --limit has no -n, as others have", c.CommandPath())
			}
		})
	}
}

// Every code that can travel has an exit code chosen for it; only what is
// really our fault ends with 70.
func TestEveryErrorCodeHasAnExitCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[memory.Code]cli.ExitCode{
		memory.Invalid: cli.ExitInput, memory.TooLarge: cli.ExitInput, memory.Ambiguous: cli.ExitInput, memory.Forgotten: cli.ExitInput,
		memory.NotFound: cli.ExitNothing, memory.Conflict: cli.ExitConflict, memory.Secret: cli.ExitSecret,
		memory.Busy: cli.ExitAgain, memory.Unknown: cli.ExitAgain, memory.ReadOnly: cli.ExitDisk, memory.DiskFull: cli.ExitDisk,
		memory.Unavailable: cli.ExitNoDaemon, memory.Forbidden: cli.ExitRefused, memory.Incompatible: cli.ExitNoDaemon,
		memory.Internal: cli.ExitFault,
	} {
		if got := cli.CodeOf(memory.Errorf(code, "something")); got != want {
			t.Errorf("code %s exits with %d, want %d", code, got, want)
		}
		if cli.ExitMeanings[want] == "" {
			t.Errorf("exit code %d is not documented", want)
		}
	}
}

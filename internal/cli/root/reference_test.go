package root

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
)

// anotherName finds the last line of the help of an alias, which names the command that it stands for.
var anotherName = regexp.MustCompile(`Alias of: (emberd .+?)\.?\s*$`)

// TestCommandReference keeps docs/reference/commands.md equal to the help of the commands.
func TestCommandReference(t *testing.T) {
	page := filepath.Join("..", "..", "..", "docs", "reference", "commands.md")
	want := commandReference(RootCommand(cli.New()))
	if *clitest.Update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/reference/commands.md differs from the help of the commands; run: " +
			"go test ./internal/cli/root -run TestCommandReference -update")
	}
}

const referenceHead = `# Commands

The commands of emberd with their flags, exit codes and examples, as the help shows them. ` + "`emberd COMMAND --help`" + `
prints the same. ` + "`go test ./internal/cli/root -run TestCommandReference -update`" + ` writes this page.

Every command accepts the [flags at the end](#flags-of-every-command), and has the
[exit codes at the end](#exit-codes-of-most-commands) beside those in its own table.
`

// commandReference returns the page: each group with its commands, the commands that help does not list, other names.
func commandReference(root *cobra.Command) []byte {
	b := bytes.NewBufferString(referenceHead)
	common := commonExits(root)
	for _, g := range root.Groups() {
		fmt.Fprintf(b, "\n## %s\n", strings.TrimSuffix(g.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && c.IsAvailableCommand() {
				writeCommand(b, c, common)
			}
		}
	}
	fmt.Fprint(b, "\n## Not listed in the help\n")
	for _, c := range root.Commands() {
		if c.Hidden && newName(c) == "" {
			writeCommand(b, c, common)
		}
	}
	writeOtherNames(b, root)
	fmt.Fprint(b, "\n## Exit codes of most commands\n")
	writeExits(b, common)
	fmt.Fprint(b, "\n## Flags of every command\n")
	writeFlags(b, root.PersistentFlags())
	return b.Bytes()
}

// newName returns the command that a hidden alias stands for, or "" if c is not an alias.
func newName(c *cobra.Command) string {
	if m := anotherName.FindStringSubmatch(c.Long); c.Hidden && m != nil {
		return m[1]
	}
	return ""
}

// writeCommand writes the section of a command and of the commands below it.
func writeCommand(b *bytes.Buffer, c *cobra.Command, common []string) {
	fmt.Fprintf(b, "\n### %s\n\n    %s\n\n%s\n", c.CommandPath(), c.UseLine(), quoted(cmp.Or(c.Long, c.Short)))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, "\nAliases: `%s`.\n", strings.Join(c.Aliases, "`, `"))
	}
	writeFlags(b, c.LocalNonPersistentFlags())
	var own []string
	for _, line := range exitCodes(c) {
		if !slices.Contains(common, line) {
			own = append(own, line)
		}
	}
	writeExits(b, own)
	if c.HasExample() {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", unindented(c.Example))
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			writeCommand(b, below, common)
		}
	}
}

// exitCodes returns the exit codes of a command with their meanings, a line each.
func exitCodes(c *cobra.Command) (lines []string) {
	for line := range strings.SplitSeq(c.Annotations["exit"], "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// commonExits returns the exit codes that more than half of the commands have with the same meaning.
func commonExits(root *cobra.Command) (common []string) {
	count, all := map[string]int{}, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, line := range exitCodes(c) {
			count[line]++
		}
		all++
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
	for line, n := range count {
		if n > all/2 {
			common = append(common, line)
		}
	}
	slices.SortFunc(common, func(a, b string) int { return cmp.Compare(codeOf(a), codeOf(b)) })
	return common
}

// codeOf returns the number at the beginning of a line of exit codes.
func codeOf(line string) int {
	code, _, _ := strings.Cut(line, " ")
	n, _ := strconv.Atoi(code) // the help texts have numbers only
	return n
}

// writeExits writes a table of exit codes.
func writeExits(b *bytes.Buffer, lines []string) {
	head := "\n| exit code | meaning |\n|---|---|\n"
	for _, line := range lines {
		code, meaning, _ := strings.Cut(line, " ")
		fmt.Fprintf(b, "%s| %s | %s |\n", head, code, cell(meaning))
		head = ""
	}
}

// writeFlags writes a table of flags, except --help.
func writeFlags(b *bytes.Buffer, flags *pflag.FlagSet) {
	head := "\n| flag | effect |\n|---|---|\n"
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + value)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, "%s| `%s` | %s |\n", head, name, cell(text))
		head = ""
	})
}

// writeOtherNames lists the old names that still work.
func writeOtherNames(b *bytes.Buffer, root *cobra.Command) {
	var rows []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if to := newName(c); to != "" {
			rows = append(rows, fmt.Sprintf("| `%s` | `%s` |\n", c.CommandPath(), to))
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
	if len(rows) == 0 {
		return
	}
	slices.Sort(rows)
	fmt.Fprint(b, "\n## Other names\n\nThese names do the same as the command beside them.\n\n"+
		"| name | command |\n|---|---|\n"+strings.Join(rows, ""))
}

// quoted returns a help text as Markdown that shows it as it is.
func quoted(text string) string {
	return "```text\n" + strings.TrimSpace(text) + "\n```"
}

// unindented removes the indent that the help gives an example.
func unindented(text string) string {
	return regexp.MustCompile(`(?m)^  `).ReplaceAllString(strings.TrimRight(text, "\n"), "")
}

// cell returns a text as a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(strings.TrimSpace(text))
}

package root

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

// A text that no command has is a mistake: its command was renamed or removed.
func TestEveryHelpTextHasACommand(t *testing.T) {
	t.Parallel()
	tree := RootCommand(cli.New())
	if left := cli.Describe(tree, helpTexts()...); len(left) > 0 {
		t.Errorf("no command has the help texts of %q", left)
	}
}

// A command that runs is built alone, by its name in the table.
func TestNamesOfTheTable(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		if got := c.build(cli.New()).Name(); got != c.name {
			t.Errorf("the table says %s of command %s", c.name, got)
		}
	}
}

// A newcomer reads the whole first screen, so it may not grow.
func TestTheFirstScreenIsShort(t *testing.T) {
	t.Parallel()
	root := RootCommand(cli.New())
	seen := 0
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		seen++
		if !root.ContainsGroup(c.GroupID) {
			t.Errorf("%s is in no group", c.Name())
		}
	}
	if seen > 28 {
		t.Errorf("%d commands are visible", seen)
	}
}

// A short text is one line of a list. It says what the command does.
func TestShortTextsFitALine(t *testing.T) {
	t.Parallel()
	each(RootCommand(cli.New()), func(c *cobra.Command) {
		if n := len([]rune(c.Short)); n == 0 || n > 65 {
			t.Errorf("the short text of %s has %d characters", c.CommandPath(), n)
		}
	})
}

func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

func TestOnlyTheNamedCommandIsBuilt(t *testing.T) {
	t.Parallel()
	all := len(commands()) + len(otherNames())
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"search", "save"}, 1}, {[]string{"rm", "x"}, 1}, {[]string{"why", "x"}, 1}, {[]string{"trash"}, 3},
		{[]string{"vault", "check"}, 2}, {[]string{"--version"}, 0}, {nil, all}, {[]string{"sear"}, all},
		{[]string{"--home", "save", "search"}, all}, {[]string{"help", "save"}, all}, {[]string{"man"}, all},
		{[]string{"completion", "bash"}, all}, {[]string{"__complete", "search"}, all},
	} {
		of, others := named(tt.args)
		if got := len(of) + len(others); got != tt.want || tt.want == 1 && len(of) == 1 && of[0].name != tt.args[0] &&
			!slices.Contains(of[0].aliases, tt.args[0]) {
			t.Errorf("%q: got %d commands, want %d", tt.args, got, tt.want)
		}
		tree(cli.New(), of, others) // a name that is built alone finds what it stands below
	}
}

// ran is what a command line did, without what differs from one time to the next.
func ran(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	s := cli.New()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.Stdout.Reset(out)
	var said strings.Builder
	s.Stderr, s.Home = &said, filepath.Join(dir, "h")
	of, others := named(args)
	code = s.Run(t.Context(), tree(s, of, others), append(args, "--home", filepath.Join(dir, "h")))
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, strings.ReplaceAll(string(text), dir, "DIR"), strings.ReplaceAll(said.String(), dir, "DIR")
}

// Every other name has the help of the command that it stands for, but for the lines that name it, and
// ends as that does where no daemon answers.
func TestOtherNamesAreTheSameCommands(t *testing.T) {
	t.Parallel()
	for _, n := range otherNames() {
		old, now := strings.Fields(n.old), strings.Fields(n.now)
		if n.build != nil {
			continue // a command of its own, which trash.txtar has
		}
		_, oldHelp, _ := ran(t, append(old, "--help")...)
		_, nowHelp, _ := ran(t, append(now, "--help")...)
		if strings.Contains(n.now, "--why-not") { // its flag takes a value
			_, nowHelp, _ = ran(t, "search", "--why-not", "x", "--help")
		}
		oldHelp, last, ok := strings.Cut(oldHelp, "\nAlias of: ")
		if !ok || last != "emberd "+n.now+"\n" {
			t.Errorf("the help of %s ends with %q", n.old, last)
		}
		if got, want := unnamed(oldHelp), unnamed(nowHelp); got != want && n.old != "engine" && n.old != "trash" { // which has more below it
			t.Errorf("%s --help is\n%s\nwant that of %s:\n%s", n.old, got, n.now, want)
		}
	}
}

// unnamed is a help without its usage and examples, which begin with the command's name.
func unnamed(help string) string {
	about, _, _ := strings.Cut(help, "Usage:\n")
	_, rest, _ := strings.Cut(help, "\n\nExamples:\n")
	_, rest, _ = strings.Cut(rest, "\n\n")
	lines := strings.Split(rest, "\n")
	return about + strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  -h, --help") }), "\n")
}

// Without a daemon, both names end in the same way.
func TestOtherNamesEndAlike(t *testing.T) {
	t.Parallel()
	for _, args := range [][2]string{
		{"why 456789ab", "show 456789ab --why"}, {"why", "show --why"}, {"timeline 456789ab --days 3", "show 456789ab --timeline --days 3"},
		{"verify a b", "search --check a b"}, {"verify --limit 0 a", "search --check a --limit 0"},
		{"why-not tokens 456789ab", "search tokens --why-not 456789ab"}, {"query a --tag b", "search a --all-kinds --tag b"},
		{"add a --tag b", "save a --tag b --if-new"}, {"confirm 456789ab", "edit --confirm 456789ab"},
		{"purge 456789ab", "forget --permanently 456789ab"}, {"purge", "forget --permanently"},
		{"trash", "list --trash"}, {"trash list -n 3", "list --trash -n 3"}, {"entities ada", "list --entities ada"},
		{"stats --project x", "status --counts --project x"}, {"log check nowhere", "doctor log check nowhere"},
		{"engine status", "model status"}, {"engine list", "model runtime list"}, {"token list", "agent token list"},
		{"install-client nobody", "agent install nobody"}, {"keeper", "config primary-device"}, {"gc --yes --dry-run", "lifecycle gc --yes --dry-run"},
		{"relate a b", "graph relate a b"}, {"migrate", "import migrate"}, {"rm 456789ab", "forget 456789ab"},
	} {
		code, out, said := ran(t, strings.Fields(args[0])...)
		wantCode, wantOut, wantSaid := ran(t, strings.Fields(args[1])...)
		if code != wantCode || out != wantOut || told(said) != told(wantSaid) {
			t.Errorf("emberd %s ends with %d, %q, %q\nemberd %s ends with %d, %q, %q", args[0], code, out, said, args[1], wantCode, wantOut, wantSaid)
		}
	}
}

// told is what an error says, without the names of commands that it refers to.
func told(text string) string {
	before, _, _ := strings.Cut(text, "; run: emberd ")
	words := strings.SplitN(before, " requires ", 2)
	return words[len(words)-1]
}

// Flags that do not fit together are refused before anything is done.
func TestModesRefuseFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"show 456789ab --why --timeline":                   "--timeline and --why cannot be combined; run: emberd --home DIR/h show --help",
		"show 456789ab --why --no-track":                   "--why and --no-track cannot be combined",
		"show 456789ab --days 3":                           "--days requires --timeline",
		"list --trash --tag a":                             "--trash and --tag cannot be combined",
		"list --trash --entities":                          "cannot be combined",
		"forget 456789ab --backups":                        "--backups requires --permanently",
		"forget --permanently 456789ab --yes --if-match r": "--permanently and --if-match cannot be combined",
		"save a --if-new --key k":                          "--if-new and --key cannot be combined",
		"search a --check --offset 3":                      "--check and --offset cannot be combined",
		"status --counts --full":                           "--counts and --full cannot be combined",
		"edit 456789ab --confirm --tag a":                  "--confirm and --tag cannot be combined",
		"list some words":                                  "accepts no arguments",
	} {
		code, _, said := ran(t, strings.Fields(args)...)
		if code != int(cli.ExitInput) || !strings.Contains(said, want) {
			t.Errorf("emberd %s ends with %d: %s", args, code, said)
		}
	}
}

func TestSuggestionsNameVisibleCommands(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"serch": "search or serve", "lst": "list", "forgt": "forget"} {
		if code, _, said := ran(t, word); code != int(cli.ExitInput) || !strings.Contains(said, "did you mean "+want+"?") {
			t.Errorf("emberd %s ends with %d: %s", word, code, said)
		}
	}
}

// TestCommandsOfOperations checks that messages name commands as the table does. An operation may have
// no command; one that has another name is of a command that is there.
func TestCommandsOfOperations(t *testing.T) {
	t.Parallel()
	tree := RootCommand(cli.New())
	for name, path := range op.Commands() {
		words := strings.Fields(path)
		c, rest, err := tree.Find(words)
		if len(rest) > 0 && strings.HasPrefix(rest[0], "--") { // a mode
			modes := c.Commands()
			if i := slices.IndexFunc(modes, func(m *cobra.Command) bool { return m.Name() == rest[0] }); i >= 0 {
				c, rest = modes[i], rest[1:]
			}
		}
		switch renamed := path != strings.ReplaceAll(name, ".", " "); {
		case renamed && (err != nil || len(rest) > 0):
			t.Errorf("the command of %s is %q, which is not in the table", name, path)
		case err == nil && len(rest) == 0 && cli.StandsFor(c) != "":
			t.Errorf("the command of %s is %q, an earlier name of %q", name, path, cli.StandsFor(c))
		}
	}
}

package root

import (
	"testing"

	"emberd/internal/cli"
)

// A text that no command has is a mistake: its command was renamed or removed.
func TestEveryHelpTextHasACommand(t *testing.T) {
	t.Parallel()
	tree := RootCommand(cli.New())
	if left := cli.Describe(tree, helpTexts()); len(left) > 0 {
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

func TestOnlyTheNamedCommandIsBuilt(t *testing.T) {
	t.Parallel()
	all := len(commands())
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"search", "save"}, 1}, {[]string{"--version"}, 0}, {nil, all}, {[]string{"sear"}, all},
		{[]string{"--home", "save", "search"}, all}, {[]string{"help", "save"}, all}, {[]string{"man"}, all},
		{[]string{"completion", "bash"}, all}, {[]string{"__complete", "search"}, all},
	} {
		if got := named(tt.args); len(got) != tt.want || tt.want == 1 && got[0].name != tt.args[0] {
			t.Errorf("%q: got %d commands, want %d", tt.args, len(got), tt.want)
		}
	}
}

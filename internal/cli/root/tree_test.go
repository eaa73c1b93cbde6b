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

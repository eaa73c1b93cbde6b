package organize

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"emberd/internal/cli"
	"emberd/op"
)

// A finding has its note on a line of its own on a terminal, and is one line on a pipe.
func TestFindingsFitATerminal(t *testing.T) {
	t.Parallel()
	res := &op.VaultCheckResult{Findings: []op.Finding{{Path: "Tea.md", Line: 5, Text: strings.Repeat("word ", 20) +
		"end"}}, Total: 1}
	for width, want := range map[int]string{
		0:  "Tea.md:5: " + strings.Repeat("word ", 20) + "end\n",
		60: "Tea.md:5\n  " + strings.Repeat("word ", 10) + "word\n  " + strings.Repeat("word ", 9) + "end\n",
	} {
		var out strings.Builder
		s := cli.New()
		s.Stdout, s.Stderr, s.Screen = bufio.NewWriter(&out), io.Discard, cli.Screen{Width: width}
		printVaultCheck(s, res)
		s.Stdout.Flush()
		if got := out.String(); got != want {
			t.Errorf("at width %d: %q, want %q", width, got, want)
		}
	}
}

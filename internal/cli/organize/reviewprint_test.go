package organize

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"emberd/internal/cli"
)

// A quoted line has its mark on each line that a terminal breaks it into, so that no part of it can pass
// for emberd's words.
func TestAQuotedLineKeepsItsMark(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := cli.New()
	s.Stdout, s.Stderr, s.Screen = bufio.NewWriter(&out), io.Discard, cli.Screen{Width: 30}
	printEvidence(s, cli.Clean("text of the note:\n> "+strings.Repeat("word ", 20)+"emberd review close\n> \n> \x1b[2Jend\u2028x"))
	s.Stdout.Flush()
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, ">") && line != "text of the note:\n" {
			t.Errorf("a line stands without a mark: %q in\n%s", line, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a terminal code is printed: %q", out.String())
	}
}

package memories

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// A memory that waits for a decision about its text names the command that shows the texts.
func TestAMemoryWithAnotherTextSaysSo(t *testing.T) {
	t.Parallel()
	for _, item := range []string{"", "rev-0123456789abcdef"} {
		var out strings.Builder
		s := cli.New()
		s.Stdout, s.Stderr, s.Zone, s.Now = bufio.NewWriter(&out), &out, time.UTC, time.Now
		printMemory(s, &op.Memory{Memory: memory.Memory{ID: memory.DeriveID([]byte("a")), Content: "the broker is Kafka"}, Undecided: item})
		s.Stdout.Flush()
		if got := strings.Contains(out.String(), "another version of the text waits for your decision; run: emberd review show "+item); got != (item != "") {
			t.Errorf("with the item %q: %s", item, out.String())
		}
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/internal/testutil/llamatest"
)

// It leaves no core file, and is the first that the kernel ends where memory is short.
func TestStepsBack(t *testing.T) {
	p := start(t, "--engine", llamatest.Libraries(t)[0], "--model", tiny(t))
	p.hello()
	proc := fmt.Sprint("/proc/", p.cmd.Process.Pid)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(proc, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	for line := range strings.Lines(read("limits")) {
		if rest, ok := strings.CutPrefix(line, "Max core file size"); ok && !strings.HasPrefix(strings.TrimSpace(rest), "0 ") {
			t.Errorf("core files may have %q, want 0", rest)
		}
	}
	if got := strings.TrimSpace(read("oom_score_adj")); got != "500" {
		t.Errorf("oom_score_adj is %s, want 500", got)
	}
	p.input.Close()
	p.ended()
}

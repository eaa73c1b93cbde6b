package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What Codex 0.171 answers, shortened; the test of the real client asks it itself.
const codexAnswers = `while read -r line; do case $line in
*'"initialize"'*) echo '{"method":"configWarning","params":{}}'; echo '{"id":1,"result":{"userAgent":"emberd"}}';;
*hooks/list*) echo '{"id":2,"result":{"data":[{"cwd":"/x","hooks":[
{"eventName":"sessionStart","command":"/usr/bin/emberd hook codex","trustStatus":"untrusted"},
{"eventName":"stop","command":"/usr/bin/emberd hook codex","trustStatus":"modified"},
{"eventName":"preCompact","command":"/usr/bin/emberd hook codex","trustStatus":"trusted"},
{"eventName":"stop","command":"/bin/true","trustStatus":"untrusted"}]}]}}' | tr -d '\n'; echo;;
esac; done`

func TestCodexIsAskedWhichHooksItSkips(t *testing.T) {
	codex := All()[slices.IndexFunc(All(), func(c *Client) bool { return c.Name == "codex" })]
	for _, c := range []struct{ name, script, err string }{
		{"answers", codexAnswers, ""},
		{"refuses", `read -r line; echo '{"id":1,"error":{"message":"no such method"}}'`, "no such method"},
		{"writes no JSON", `echo hello; cat`, "invalid JSON"},
		{"ends at once", `exit 3`, "initialize"},
		{"is not installed", "", "codex"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin := t.TempDir()
			path := bin + ":" + os.Getenv("PATH")
			if c.script == "" {
				path = bin
			} else if err := os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", path)
			skipped, err := codex.UntrustedHooks(t.Context(), t.TempDir())
			switch {
			case c.err == "" && (err != nil || !slices.Equal(skipped, []string{"sessionStart", "stop"})):
				t.Errorf("it skips %q, %v, want sessionStart and stop", skipped, err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("the error is %v, want one of %q", err, c.err)
			}
		})
	}
}

package cli_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"emberd/internal/cli"
)

// The address has to be printed if there is a program that opens links, but no browser.
func TestABrowserThatFailsIsAnError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("xdg-open opens links on Linux only")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for text, fails := range map[string]bool{"#!/bin/sh\nexit 3\n": true, "#!/bin/sh\n": false} {
		if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := cli.Launch("http://127.0.0.1:1/"); (err != nil) != fails {
			t.Errorf("%q: %v", text, err)
		}
	}
}

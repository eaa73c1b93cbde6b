// Package clitest compares what commands draw with golden files, and makes folders in which
// a daemon's socket has a short path. Only tests import it.
package clitest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
)

// Update is the flag -update: tests then write their golden files.
var Update = flag.Bool("update", false, "rewrite the golden files")

// Same compares a screen with the file testdata/screens/NAME.txt, and writes that file
// with -update.
func Same(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "screens", name+".txt")
	if *Update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9]+m")

// Text returns lines without their colours, and fails for a line wider than the screen.
func Text(t *testing.T, width int, lines []string) string {
	t.Helper()
	var b strings.Builder
	for _, line := range lines {
		line = escape.ReplaceAllString(line, "")
		if n := uniseg.StringWidth(line); n > width {
			t.Errorf("%d columns on a screen of %d: %s", n, width, line)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Midday returns the time at which tests draw screens.
func Midday() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

// longest is how many bytes the path of the folder for temporary files may have for ShortDir to use it.
const longest = len("/dev/shm")

// ShortDir returns a temporary folder in which the path of a socket is short enough to be
// bound.
func ShortDir(t *testing.T) string {
	t.Helper()
	top := os.TempDir()
	if len(top) > longest {
		top = "/tmp"
	}
	return shortIn(t, top)
}

// DiskDir is ShortDir below /tmp, for what /dev/shm is no place for: systemd has it writable for every service.
func DiskDir(t *testing.T) string {
	t.Helper()
	return shortIn(t, "/tmp")
}

func shortIn(t *testing.T, top string) string {
	t.Helper()
	dir, err := os.MkdirTemp(top, "em")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

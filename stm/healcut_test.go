package stm_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/stm/logcheck"
	"emberd/stm/wal"
)

// TestACheckTellsACutFromACrash cuts a sealed file in the middle of a line.
func TestACheckTellsACutFromACrash(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.livesOfThreeSegments()
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	name := ts.segments()[1]
	mangleFile(name, func(b []byte) []byte { return b[:len(b)/2] })
	got, err := logcheck.CheckDecided(t.Context(), durable.OS{}, filepath.Join(ts.root, "data"),
		filepath.Join(ts.root, "state"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Files {
		for _, g := range f.Findings {
			if f.Path == name && g.Harmless {
				t.Errorf("harmless, it says: %s", g.Reason)
			}
		}
	}
	cut := func(g logcheck.Finding) bool { return strings.Contains(g.Reason, "because the file was truncated") }
	if !slices.ContainsFunc(got.Files, func(f logcheck.File) bool { return slices.ContainsFunc(f.Findings, cut) }) {
		t.Error("nothing says that a file was cut")
	}
}

package watcher

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// marks collects one mark for every path, all at noon.
func marks(paths ...string) *debouncer {
	var s debouncer
	for _, p := range paths {
		s.mark(p, noon)
	}
	return &s
}

// numbered returns n paths.
func numbered(n int, format string) []string {
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf(format, i)
	}
	return paths
}

func TestWhenMarksHaveSettled(t *testing.T) {
	everywhere := numbered(burst+1, "folder %d/note.md")
	tests := map[string]struct {
		settler *debouncer
		last    time.Duration // after noon, of one more mark
		want    time.Duration
	}{
		"nothing follows":         {marks("a.md"), 0, quiet},
		"more events for a save":  {marks("a.md"), 40 * time.Millisecond, 40*time.Millisecond + quiet},
		"a file that never rests": {marks("a.md"), patience - 1, patience},
		"many files":              {marks(everywhere...), 0, burstQuiet},
		"many for long":           {marks(everywhere...), burstPatience - 1, burstPatience},
		"a crowded folder":        {marks(numbered(crowd+1, "%d.md")...), 0, burstQuiet},
		"everything":              {marks("."), 0, burstQuiet},
	}
	for name, test := range tests {
		test.settler.mark("a.md", noon.Add(test.last))
		if got := test.settler.due().Sub(noon); got != test.want {
			t.Errorf("%s: settled after %v, want %v", name, got, test.want)
		}
	}
	if due := new(debouncer).due(); !due.IsZero() {
		t.Errorf("with no marks something is due at %v", due)
	}
}

func TestCrowdsAndStormsCollapse(t *testing.T) {
	todo := marks(append(numbered(crowd+1, "inbox/%d.md"), "other/a.md")...).take()
	if !slices.Equal(todo.folders, []string{"inbox"}) || !slices.Equal(todo.paths, []string{"other/a.md"}) || todo.all {
		t.Errorf("a crowd became %+v, want a listing of inbox beside other/a.md", todo)
	}
	todo = marks(numbered(storm+100, "folder %d/note.md")...).take()
	if !todo.all || len(todo.paths)+len(todo.folders) > 0 {
		t.Errorf("a storm became %d paths and %d folders, all %v; want everything", len(todo.paths), len(todo.folders), todo.all)
	}
}

// Whatever is marked, in whatever order, is covered by what is taken, and the
// settler never holds more than its bounds.
func TestEveryMarkIsCovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s debouncer
		var marked []string
		folders := rapid.IntRange(1, 60).Draw(t, "folders")
		for range rapid.IntRange(1, 6000).Draw(t, "marks") {
			p := fmt.Sprintf("%d/%d.md", len(marked)%folders, len(marked)/folders)
			s.mark(p, noon)
			marked = append(marked, p)
			if s.names+s.crowds > storm {
				t.Fatalf("the settler holds %d names and %d folders", s.names, s.crowds)
			}
		}
		todo := s.take()
		for _, p := range marked {
			if !covers(todo, p) {
				t.Fatalf("%s was marked and is not in the work", p)
			}
		}
		if again := s.take(); !again.empty() {
			t.Fatalf("taken twice: %+v", again)
		}
	})
}

func covers(todo work, p string) bool {
	return todo.all || slices.Contains(todo.paths, p) ||
		slices.ContainsFunc(todo.folders, func(dir string) bool { return strings.HasPrefix(path.Dir(p), dir) })
}

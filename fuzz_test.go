package emberd_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFuzzTargets checks that make fuzz-all runs every fuzz target of the module: a target is in
// testdata/fuzz-targets.txt once, with the class that decides how long it runs.
func TestFuzzTargets(t *testing.T) {
	list, err := os.ReadFile("testdata/fuzz-targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		class, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case class == "#":
		case class != "stranger" && class != "own":
			t.Errorf("class %q of %s; use stranger or own", class, target)
		case listed[target]:
			t.Errorf("%s is listed twice", target)
		default:
			listed[target] = true
		}
	}
	declared := fuzzTargets(t)
	for _, target := range declared {
		if !listed[target] {
			t.Errorf("%s is not in testdata/fuzz-targets.txt; add it with its class", target)
		}
		delete(listed, target)
	}
	for target := range maps.Keys(listed) {
		t.Errorf("%s of testdata/fuzz-targets.txt not found", target)
	}
}

// fuzzTargets returns all fuzz targets of the module, each as its folder and its name.
func fuzzTargets(t *testing.T) []string {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	var targets []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(src, -1) {
			targets = append(targets, "./"+filepath.ToSlash(filepath.Dir(path))+" "+string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(targets))
}

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAFileOfThePreviousVersion loads testdata/previous.yaml, in which the version before the
// settings were halved wrote every setting that it had: nothing of it keeps a daemon from
// starting, and each removed setting gets a warning that says what takes its place.
func TestAFileOfThePreviousVersion(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "previous.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := readYAML("previous.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	c := setup{file: string(data)}.load(t)
	var gone []string
	for _, e := range entries {
		if r := removedAs(e.key); r != nil {
			gone = append(gone, e.key)
			if !slices.ContainsFunc(c.Warnings, func(w string) bool {
				return strings.HasSuffix(w, ": "+e.key+" is ignored: "+r.say())
			}) {
				t.Errorf("no warning about %s in %q", e.key, c.Warnings)
			}
		} else if explain(t, c, e.key).Origin != FromFile {
			t.Errorf("%s of the file has no effect and no warning", e.key)
		}
	}
	if len(gone) != len(removedKeys()) || len(c.Warnings) != len(gone) {
		t.Errorf("%d warnings about %d settings, and %d are removed", len(c.Warnings), len(gone), len(removedKeys()))
	}
}

func TestRemovedSettings(t *testing.T) {
	for _, r := range removedKeys() {
		if find(keys(), r.name) >= 0 || r.now == "" && find(numbers(), r.name) < 0 {
			t.Errorf("%s is a setting, or nothing takes its place", r.name)
		}
		for _, name := range append([]string{variable(r.name)}, r.also...) {
			c := setup{env: []string{name + "=nonsense"}}.load(t)
			if want := []string{name + " is ignored: " + r.say()}; !slices.Equal(c.Warnings, want) {
				t.Errorf("%s: warned %q, want %q", name, c.Warnings, want)
			}
		}
		c := setup{flags: []string{r.name + "=nonsense"}}.load(t)
		if want := []string{"--set " + r.name + " is ignored: " + r.say()}; !slices.Equal(c.Warnings, want) {
			t.Errorf("--set %s: warned %q, want %q", r.name, c.Warnings, want)
		}
		if _, err := c.Explain(r.name); err == nil || err.Error() != r.name+" is no longer a setting: "+r.say() {
			t.Errorf("Explain(%s): %v", r.name, err)
		}
	}
	for _, k := range numbers() {
		if removedAs(k.name) == nil {
			t.Errorf("%s of tuning was a setting, and has no warning", k.name)
		}
	}
}

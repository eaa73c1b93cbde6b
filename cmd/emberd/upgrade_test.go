package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// oldVar names a program of an earlier version, whose version is oldVersion: make upgrade builds one.
const (
	oldVar     = "EMBERD_TEST_OLD"
	oldVersion = "v0.1.0"
)

// TestUpgrade replaces the program of an earlier version while its daemon works on a home of 0.1, as a package does, and
// restarts the daemon. Everything that was in the home, and everything saved before and after the replacement, is there.
func TestUpgrade(t *testing.T) {
	old := os.Getenv(oldVar)
	if old == "" {
		t.Skipf("%s names no program of an earlier version; run: make upgrade", oldVar)
	}
	t.Parallel()
	archives, err := filepath.Glob(filepath.Join(homes, "*.tar.gz"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no homes in %s: %v", homes, err)
	}
	h := unpackHome(t, slices.Min(archives))
	program := filepath.Join(h.top, "emberd")
	replaceProgram(t, old, program)
	h.program = program
	h.start(t)
	kept := h.ids(t)
	saved := []string{h.save(t, "The ferry to Sifnos leaves from gate E8.")}

	current, err := exec.LookPath("emberd")
	if err != nil {
		t.Fatal(err)
	}
	replaceProgram(t, current, program)
	if versions := h.run(t, "version"); strings.Count(versions, oldVersion) != 1 {
		t.Errorf("after the replacement, only the daemon may have the version %s:\n%s", oldVersion, versions)
	}
	saved = append(saved, h.save(t, "The spare key hangs behind the boiler."))

	h.stop(t)
	h.start(t)
	if versions := h.run(t, "version"); strings.Contains(versions, oldVersion) {
		t.Errorf("after the restart, something has the version %s:\n%s", oldVersion, versions)
	}
	for n, want := range []string{"gate E8", "behind the boiler"} {
		if got := h.run(t, "show", saved[n], "--no-track"); !strings.Contains(got, want) {
			t.Errorf("memory %s after the restart:\n%s\nwant %q", saved[n], got, want)
		}
	}
	h.wait(t, "all memories and notes have vectors", func() bool {
		out, err := h.command("status", "--full").Output()
		return err == nil && bytes.Contains(out, []byte("47 of 47"))
	})
	if got, want := h.ids(t), slices.Sorted(slices.Values(append(kept, saved...))); !slices.Equal(got, want) {
		t.Errorf("memories after the restart: got %d, want %d:\n%s\n%s", len(got), len(want), got, want)
	}
	if got := h.run(t, "search", "apple tree", "--notes"); !strings.Contains(got, "planted an apple tree") {
		t.Errorf("the search of notes after the restart:\n%s", got)
	}
	h.checkFiles(t)
	h.checkTokens(t)
	h.checkChanges(t)
	h.stop(t)
}

// replaceProgram puts a program in the place of another in one step, as dpkg and rpm do.
func replaceProgram(t *testing.T, from, to string) {
	t.Helper()
	from, err := filepath.Abs(from)
	if err == nil {
		err = os.Symlink(from, to+".new")
	}
	if err == nil {
		err = os.Rename(to+".new", to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ids returns the sorted IDs of all memories of the home.
func (h *home) ids(t *testing.T) []string {
	t.Helper()
	list := h.run(t, "list", "--all", "--status", "all", "--json")
	ids := regexp.MustCompile(`"id":\s*"([0-9a-f]{8}-[0-9a-f-]{27})"`).FindAllStringSubmatch(list, -1)
	if len(ids) == 0 {
		t.Fatalf("emberd list printed no IDs:\n%s", list)
	}
	var all []string
	for _, id := range ids {
		all = append(all, id[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// save saves a memory and returns its ID.
func (h *home) save(t *testing.T, text string) string {
	t.Helper()
	var saved struct {
		Memory struct {
			ID string `json:"id"`
		} `json:"memory"`
	}
	out := h.run(t, "save", text, "--json")
	if err := json.Unmarshal([]byte(out), &saved); err != nil || saved.Memory.ID == "" {
		t.Fatalf("emberd save printed no ID: %v\n%s", err, out)
	}
	return saved.Memory.ID
}

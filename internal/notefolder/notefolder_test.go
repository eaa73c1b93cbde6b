package notefolder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
)

// export writes notes as one run, and returns what became of them.
func export(t *testing.T, dir string, notes map[string]string) Report {
	t.Helper()
	f := begun(t, dir, notes)
	for name, text := range notes {
		if err := f.Write(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.End(); err != nil {
		t.Fatal(err)
	}
	return f.Done
}

func begun(t *testing.T, dir string, notes map[string]string) *Folder {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	var names []string
	for name := range notes {
		names = append(names, name)
	}
	if err := f.Begin(names); err != nil {
		t.Fatal(err)
	}
	return f
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantFiles compares the folder, its list aside, with files written as "name: text".
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Name() == ListName {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Name()+": "+string(text))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

func wantReport(t *testing.T, got Report, written, unchanged, removed int, kept ...string) {
	t.Helper()
	if got.Written != written || got.Unchanged != unchanged || got.Removed != removed || !slices.Equal(got.Kept, kept) {
		t.Errorf("report %+v, want %d written, %d unchanged, %d removed, %q kept", got, written, unchanged, removed, kept)
	}
}

// Notes that are spared stay whatever the run is about, and no other gets their names.
func TestSparedNotesStay(t *testing.T) {
	dir := t.TempDir()
	export(t, dir, map[string]string{"a.md": "one", "b.md": "two", "c.md": "three", "d.md": "four"})
	put(t, dir, "c.md", "three, edited")
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	spare := func(name string, note []byte) bool { return name == "b.md" || string(note) == "three, edited" }
	if err := f.Spare(spare); err != nil {
		t.Fatal(err)
	}
	if f.Free("B.md") || f.Free("c.md") || !f.Free("a.md") {
		t.Error("the names of the spared notes are free, or another is not")
	}
	if err := f.Begin([]string{"a.md"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Write("a.md", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := f.End(); err != nil {
		t.Fatal(err)
	}
	wantReport(t, f.Done, 1, 0, 1)
	wantFiles(t, dir, "a.md: 1", "b.md: two", "c.md: three, edited")
	wantReport(t, export(t, dir, map[string]string{"b.md": "2"}), 1, 0, 1, "c.md")
}

func TestAgainAndAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	wantReport(t, export(t, dir, map[string]string{"a.md": "one", "b.md": "two", "c.md": "three"}), 3, 0, 0)
	put(t, dir, "b.md", "two, edited")
	put(t, dir, "mine.md", "mine")
	wantReport(t, export(t, dir, map[string]string{"a.md": "one", "b.md": "2", "d.md": "four"}), 1, 1, 1, "b.md")
	wantFiles(t, dir, "a.md: one", "b.md: two, edited", "d.md: four", "mine.md: mine")
	wantReport(t, export(t, dir, map[string]string{"b.md": "two, edited"}), 0, 1, 2)
	wantReport(t, export(t, dir, map[string]string{"b.md": "3"}), 1, 0, 0)
	put(t, dir, "b.md", "edited again")
	wantReport(t, export(t, dir, nil), 0, 0, 0, "b.md")
	wantFiles(t, dir, "b.md: edited again", "mine.md: mine")
}

// What others have is not free, in no spelling, nor through a link.
func TestNamesOfOthers(t *testing.T) {
	dir := t.TempDir()
	export(t, dir, map[string]string{"a.md": "one"})
	put(t, dir, "Übung.md", "mine")
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	f := begun(t, dir, nil)
	for name, want := range map[string]bool{"a.md": true, "b.md": true, "Übung.md": false, "übung.md": false, "U\u0308bung.md": false,
		"link.md": false, "../x.md": false, "x/y.md": false, ".hidden.md": false, ListName: false} {
		if got := f.Free(name); got != want {
			t.Errorf("%q is free: %t, want %t", name, got, want)
		}
	}
	if err := f.Begin([]string{"link.md"}); err == nil {
		t.Error("a name that is taken was begun")
	}
}

// A note that was put behind a link since it was written is somebody's.
func TestALinkInThePlaceOfANote(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "x")
	export(t, dir, map[string]string{"a.md": "one"})
	put(t, filepath.Dir(outside), "x", "one")
	path := filepath.Join(dir, "a.md")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	wantReport(t, export(t, dir, map[string]string{"a.md": "two"}), 0, 0, 0, "a.md")
	if text, err := os.ReadFile(outside); err != nil || string(text) != "one" {
		t.Errorf("behind the link: %q, %v", text, err)
	}
}

func TestARunThatWasBrokenOff(t *testing.T) {
	dir := t.TempDir()
	notes := map[string]string{"a.md": "one", "b.md": "two"}
	f := begun(t, dir, notes)
	if err := f.Write("a.md", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := f.flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Write("b.md", []byte("two")); err != nil { // which waits for ever
		t.Fatal(err)
	}
	wantReport(t, export(t, dir, notes), 1, 1, 0) // the other run never ended
	wantFiles(t, dir, "a.md: one", "b.md: two")
}

func TestFoldersOfOthers(t *testing.T) {
	for name, list := range map[string]string{"no list": "", "no JSON": "{", "another kind": `{"emberd":"export","format":1}`, "a later one": `{"emberd":"vault","format":2}`} {
		dir := t.TempDir()
		put(t, dir, "a.md", "mine")
		if list != "" {
			put(t, dir, ListName, list)
		}
		_, err := Open(dir)
		if memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), "choose") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

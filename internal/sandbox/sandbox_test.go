package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// What a process may do under rules is tried in cmd/emberd, by a process that is under them.
func TestReaches(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"data/deep", "data2", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"in": "data", "data/out": "elsewhere"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := &Policy{Write: []string{filepath.Join(dir, "in")}}
	for path, want := range map[string]bool{
		"data/file": true, "data/deep/file": true, "in/deep/file": true, "data/../data2/file": false,
		"data2/file": false, "elsewhere/file": false, "data/out/file": false, "file": false,
		"nowhere/file": true, // which is not for the sandbox to say
	} {
		if got := r.Reaches(filepath.Join(dir, path)); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

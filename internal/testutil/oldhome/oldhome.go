// Package oldhome unpacks the homes of testdata/homes, which earlier versions of emberd made, for
// tests.
package oldhome

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Unpack writes the folders and files of an archive, with their times, below a folder that exists.
func Unpack(t testing.TB, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(packed); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = write(r, head, filepath.Join(dir, filepath.FromSlash(head.Name)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func write(r io.Reader, head *tar.Header, name string) error {
	if head.Typeflag == tar.TypeDir {
		return os.MkdirAll(name, 0o700)
	}
	data, err := io.ReadAll(r)
	if err == nil {
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Chtimes(name, head.ModTime, head.ModTime)
}

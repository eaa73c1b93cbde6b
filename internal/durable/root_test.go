package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

func rootAt(t *testing.T, dir string) durable.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return durable.NewRoot(root)
}

// exchanger is what Root and the disk in memory have and OS has not.
type exchanger interface {
	durable.FS
	Exchange(a, b string) error
}

func TestExchange(t *testing.T) {
	for name, disk := range map[string]exchanger{"root": rootAt(t, t.TempDir()), "crashdisk": crashdisk.New()} {
		t.Run(name, func(t *testing.T) {
			save(t, disk, "a", "first")
			save(t, disk, "b", "second")
			err := disk.Exchange("a", "b")
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("this file system cannot exchange names")
			}
			must(t, err)
			if a, b := content(t, disk, "a"), content(t, disk, "b"); a != "second" || b != "first" {
				t.Errorf("after the exchange: a is %q and b is %q, want them the other way round", a, b)
			}
			wantCause(t, disk.Exchange("a", "missing"), fs.ErrNotExist)
			wantCause(t, disk.Exchange("missing", "a"), fs.ErrNotExist)
		})
	}
}

func TestRootStaysInside(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "a"), []byte("not ours"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, "out")))
	must(t, os.Symlink("inside", filepath.Join(dir, "link")))
	disk := rootAt(t, dir)
	save(t, disk, "inside", "ours")
	for _, name := range []string{"out/a", "../a", filepath.Join(outside, "a")} {
		if f, err := disk.OpenRead(name); err == nil {
			t.Errorf("%s: opened %v, want it refused", name, f)
		}
		if err := disk.Rename("inside", name); err == nil {
			t.Errorf("%s: renamed out of the root", name)
		}
		if err := disk.Exchange("inside", name); err == nil {
			t.Errorf("%s: exchanged with a file out of the root", name)
		}
	}
	_, err := disk.OpenRead("link")
	wantCause(t, err, syscall.ELOOP)
	_, err = disk.CreateAppend("link")
	wantCause(t, err, fs.ErrExist)
	if got, err := os.ReadFile(filepath.Join(outside, "a")); string(got) != "not ours" || err != nil {
		t.Errorf("outside: got %q, %v, want it untouched", got, err)
	}
}

func TestRootExportsAndImports(t *testing.T) {
	disk, outside := rootAt(t, t.TempDir()), filepath.Join(t.TempDir(), "kept")
	save(t, disk, "a", "text")
	must(t, disk.SyncFile("a"))
	must(t, disk.Export("a", outside))
	_, err := disk.Lstat("a")
	wantCause(t, err, fs.ErrNotExist)
	if got, err := os.ReadFile(outside); string(got) != "text" || err != nil {
		t.Errorf("outside: got %q, %v, want the text", got, err)
	}
	must(t, disk.Import(outside, "b"))
	if got := content(t, disk, "b"); got != "text" {
		t.Errorf("back inside: got %q, want the text", got)
	}
	wantCause(t, disk.Export("missing", outside), fs.ErrNotExist)
}

func TestRootLinks(t *testing.T) {
	disk := rootAt(t, t.TempDir())
	save(t, disk, "a", "mine")
	save(t, disk, "b", "theirs")
	wantCause(t, disk.Link("a", "b"), fs.ErrExist)
	must(t, disk.Link("a", "c"))
	if got := content(t, disk, "c"); got != "mine" {
		t.Errorf("got %q, want %q", got, "mine")
	}
}

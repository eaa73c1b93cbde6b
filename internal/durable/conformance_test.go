package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

// at is an FS under test and a directory in it to play in.
type at struct {
	durable.FS
	dir string
}

func (a at) path(name string) string { return filepath.Join(a.dir, name) }

// conformance is what every FS does, by what it does.
var conformance = map[string]func(t *testing.T, disk at){
	"create is exclusive": func(t *testing.T, disk at) {
		save(t, disk, disk.path("a"), "first")
		_, err := disk.CreateAppend(disk.path("a"))
		wantCause(t, err, fs.ErrExist)
		if got := content(t, disk, disk.path("a")); got != "first" {
			t.Errorf("after a refused create: got %q, want %q", got, "first")
		}
	},
	"create wants its directory": func(t *testing.T, disk at) {
		_, err := disk.CreateAppend(disk.path("missing/a"))
		wantCause(t, err, fs.ErrNotExist)
		save(t, disk, disk.path("file"), "")
		_, err = disk.CreateAppend(disk.path("file/a"))
		wantCause(t, err, syscall.ENOTDIR)
		_, err = disk.CreateAppend("")
		wantCause(t, err, fs.ErrNotExist)
	},
	"modes are private": func(t *testing.T, disk at) {
		save(t, disk, disk.path("a"), "12345")
		must(t, disk.Mkdir(disk.path("d")))
		a, err := disk.Lstat(disk.path("a"))
		must(t, err)
		d, err := disk.Lstat(disk.path("d"))
		must(t, err)
		if a.Mode() != 0o600 || a.Size() != 5 || a.Name() != "a" {
			t.Errorf("file: got %v, want mode 0600, 5 bytes, name a", fs.FormatFileInfo(a))
		}
		if d.Mode() != fs.ModeDir|0o700 || !d.IsDir() {
			t.Errorf("directory: got mode %v, want %v", d.Mode(), fs.ModeDir|0o700)
		}
	},
	"writes append": func(t *testing.T, disk at) {
		f, err := disk.CreateAppend(disk.path("a"))
		must(t, err)
		for _, part := range []string{"one ", "", "two ", "three"} {
			if n, err := io.WriteString(f, part); n != len(part) || err != nil {
				t.Fatalf("write %q: got %d, %v, want all of it", part, n, err)
			}
		}
		must(t, f.Truncate(4))
		_, err = io.WriteString(f, "2")
		must(t, err)
		must(t, f.Truncate(7))
		if got, want := content(t, disk, disk.path("a")), "one 2\x00\x00"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		wantCause(t, f.Truncate(-1), syscall.EINVAL)
		if f.Name() != disk.path("a") {
			t.Errorf("name: got %q, want %q", f.Name(), disk.path("a"))
		}
		must(t, f.Close())
	},
	"reads know the end": func(t *testing.T, disk at) {
		save(t, disk, disk.path("a"), "0123456789")
		f, err := disk.OpenRead(disk.path("a"))
		must(t, err)
		buf := make([]byte, 4)
		if n, err := f.ReadAt(buf, 8); n != 2 || err != io.EOF || string(buf[:n]) != "89" {
			t.Errorf("ReadAt 8: got %q, %v, want the last two bytes and io.EOF", buf[:n], err)
		}
		if n, err := f.ReadAt(buf, 100); n != 0 || err != io.EOF {
			t.Errorf("ReadAt past the end: got %d, %v, want 0, io.EOF", n, err)
		}
		if _, err := f.ReadAt(buf, -1); err == nil || err == io.EOF {
			t.Errorf("ReadAt -1: got %v, want an error of its own", err)
		}
		if n, err := f.Read(nil); n != 0 || err != nil {
			t.Errorf("empty read: got %d, %v, want 0, nil", n, err)
		}
		info, err := f.Stat()
		must(t, err)
		if info.Size() != 10 || info.Name() != "a" {
			t.Errorf("stat: got %v, want a with 10 bytes", fs.FormatFileInfo(info))
		}
		must(t, f.Close())
	},
	"only files are read": func(t *testing.T, disk at) {
		_, err := disk.OpenRead(disk.dir)
		wantCause(t, err, durable.ErrNotRegular)
		_, err = disk.OpenRead(disk.path("missing"))
		wantCause(t, err, fs.ErrNotExist)
	},
	"directories list in order": func(t *testing.T, disk at) {
		for _, name := range []string{"b", "a", "c"} {
			must(t, disk.Mkdir(disk.path(name)))
		}
		wantListing(t, disk, "a b c")
		wantCause(t, disk.Mkdir(disk.path("b")), fs.ErrExist)
		_, err := disk.ReadDir(disk.path("missing"))
		wantCause(t, err, fs.ErrNotExist)
	},
	"rename replaces files only": func(t *testing.T, disk at) {
		save(t, disk, disk.path("a"), "new")
		save(t, disk, disk.path("b"), "old")
		must(t, disk.Mkdir(disk.path("d")))
		must(t, disk.Rename(disk.path("a"), disk.path("b")))
		if got := content(t, disk, disk.path("b")); got != "new" {
			t.Errorf("got %q, want %q", got, "new")
		}
		wantCause(t, disk.Rename(disk.path("b"), disk.path("d")), fs.ErrExist)
		wantCause(t, disk.Rename(disk.path("d"), disk.path("b")), syscall.ENOTDIR)
		wantCause(t, disk.Rename(disk.path("a"), disk.path("c")), fs.ErrNotExist)
		wantListing(t, disk, "b d")
	},
	"exclusive rename keeps what is there": func(t *testing.T, disk at) {
		save(t, disk, disk.path("a"), "mine")
		save(t, disk, disk.path("b"), "theirs")
		wantCause(t, disk.RenameNoReplace(disk.path("a"), disk.path("b")), fs.ErrExist)
		if got := content(t, disk, disk.path("b")); got != "theirs" {
			t.Errorf("got %q, want %q", got, "theirs")
		}
		wantListing(t, disk, "a b")
		must(t, disk.RenameNoReplace(disk.path("a"), disk.path("c")))
		wantListing(t, disk, "b c")
	},
	"remove": func(t *testing.T, disk at) {
		must(t, disk.Mkdir(disk.path("d")))
		save(t, disk, disk.path("d/a"), "still read")
		wantCause(t, disk.Remove(disk.path("d")), syscall.ENOTEMPTY)
		f, err := disk.OpenRead(disk.path("d/a"))
		must(t, err)
		must(t, disk.Remove(disk.path("d/a")))
		must(t, disk.Remove(disk.path("d")))
		wantCause(t, disk.Remove(disk.path("d")), fs.ErrNotExist)
		if data, err := io.ReadAll(f); string(data) != "still read" || err != nil {
			t.Errorf("removed but open: got %q, %v, want its content", data, err)
		}
		must(t, f.Close())
	},
	"an open file follows its rename": func(t *testing.T, disk at) {
		f, err := disk.CreateAppend(disk.path("a"))
		must(t, err)
		must(t, disk.Rename(disk.path("a"), disk.path("b")))
		_, err = io.WriteString(f, "x")
		must(t, err)
		must(t, f.Close())
		if got := content(t, disk, disk.path("b")); got != "x" {
			t.Errorf("got %q, want %q", got, "x")
		}
	},
	"closed is closed": func(t *testing.T, disk at) {
		f, err := disk.CreateAppend(disk.path("a"))
		must(t, err)
		must(t, f.Close())
		_, err = io.WriteString(f, "x")
		wantCause(t, err, fs.ErrClosed)
		wantCause(t, f.Sync(), fs.ErrClosed)
		wantCause(t, f.Truncate(0), fs.ErrClosed)
		wantCause(t, f.Close(), fs.ErrClosed)
		r, err := disk.OpenRead(disk.path("a"))
		must(t, err)
		must(t, r.Close())
		_, err = r.Read(make([]byte, 1))
		wantCause(t, err, fs.ErrClosed)
	},
	"files sync by name": func(t *testing.T, disk at) {
		save(t, disk, disk.path("a"), "x")
		must(t, disk.SyncFile(disk.path("a")))
		must(t, disk.Mkdir(disk.path("d")))
		wantCause(t, disk.SyncFile(disk.path("d")), durable.ErrNotRegular)
		wantCause(t, disk.SyncFile(disk.path("missing")), fs.ErrNotExist)
	},
	"directories sync": func(t *testing.T, disk at) {
		must(t, disk.SyncDir(disk.dir))
		wantCause(t, disk.SyncDir(disk.path("missing")), fs.ErrNotExist)
		save(t, disk, disk.path("a"), "")
		wantCause(t, disk.SyncDir(disk.path("a")), syscall.ENOTDIR)
	},
	"free space": func(t *testing.T, disk at) {
		if free, err := disk.Free(disk.dir); err != nil || free == 0 {
			t.Errorf("got %d, %v, want some", free, err)
		}
		_, err := disk.Free(disk.path("missing"))
		wantCause(t, err, fs.ErrNotExist)
	},
}

func TestConformance(t *testing.T) {
	for name, test := range conformance {
		t.Run(name, func(t *testing.T) {
			t.Run("os", func(t *testing.T) { test(t, at{durable.OS{}, t.TempDir()}) })
			t.Run("root", func(t *testing.T) { test(t, at{rootAt(t, t.TempDir()), "."}) })
			t.Run("crashdisk", func(t *testing.T) { test(t, at{crashdisk.New(), "/"}) })
		})
	}
}

func wantCause(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func wantListing(t *testing.T, disk at, want string) {
	t.Helper()
	if got := listing(t, disk, disk.dir); got != want {
		t.Errorf("directory: got %q, want %q", got, want)
	}
}

// TestDisksAgree runs the same random operations on a real directory and on a disk in memory:
// each fails on both or on neither, for the same reason, and leaves the same tree.
func TestDisksAgree(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(parent, "")
		must(t, err)
		disks := []at{{durable.OS{}, dir}, {crashdisk.New(), "/"}}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			op := rapid.SampledFrom(operations).Draw(t, "op")
			a, b := anyName.Draw(t, "a"), anyName.Draw(t, "b")
			want, got := cause(op(disks[0], a, b)), cause(op(disks[1], a, b))
			if got != want {
				t.Fatalf("%s, %s: crashdisk %v, os %v", a, b, got, want)
			}
			if want, got := tree(t, disks[0], ""), tree(t, disks[1], ""); !slices.Equal(got, want) {
				t.Fatalf("%s, %s: crashdisk has %q, os %q", a, b, got, want)
			}
		}
	})
}

var anyName = rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a"})

var operations = []func(disk at, a, b string) error{
	func(disk at, a, b string) error {
		f, err := disk.CreateAppend(disk.path(a))
		if err != nil {
			return err
		}
		_, err = io.WriteString(f, "by "+b)
		return errors.Join(err, f.Close())
	},
	func(disk at, a, _ string) error { return disk.Mkdir(disk.path(a)) },
	func(disk at, a, _ string) error { return disk.Remove(disk.path(a)) },
	func(disk at, a, b string) error { return move(disk, disk.Rename, a, b) },
	func(disk at, a, b string) error { return move(disk, disk.RenameNoReplace, a, b) },
	func(disk at, a, _ string) error { _, err := disk.Lstat(disk.path(a)); return err },
	func(disk at, a, _ string) error { _, err := disk.ReadDir(disk.path(a)); return err },
	func(disk at, a, _ string) error {
		f, err := disk.OpenRead(disk.path(a))
		if err != nil {
			return err
		}
		return f.Close()
	},
}

// move renames, but for a directory into another one, which crashdisk does not do.
func move(disk at, rename func(oldname, newname string) error, a, b string) error {
	info, err := disk.Lstat(disk.path(a))
	if err == nil && info.IsDir() && filepath.Dir(a) != filepath.Dir(b) {
		return nil
	}
	return rename(disk.path(a), disk.path(b))
}

// cause is what callers can tell an error by.
func cause(err error) error {
	known := []error{syscall.ENOTDIR, syscall.ENOTEMPTY, durable.ErrNotRegular, fs.ErrExist, fs.ErrNotExist}
	for _, want := range known {
		if errors.Is(err, want) {
			return want
		}
	}
	return err
}

// tree lists all files with their content and all directories under dir.
func tree(t rapid.TB, disk at, dir string) []string {
	entries, err := disk.ReadDir(disk.path(dir))
	must(t, err)
	var all []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			all = append(append(all, name+"/"), tree(t, disk, name)...)
			continue
		}
		all = append(all, name+"="+content(t, disk, disk.path(name)))
	}
	return all
}

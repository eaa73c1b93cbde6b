// Package unpack takes files out of archives that come from elsewhere: gzipped tar files and
// zip files, told apart by their first bytes.
//
// # What holds
//
// Nothing an archive says is believed. The number of its entries, the size of each and of all
// of them are bounded while they are unpacked, whatever its headers say, and so a small archive
// cannot fill the disk. A name is relative, clean, has no ".." and comes once, whatever the case
// of its letters. Only plain files and symbolic links are made; links are relative and lead to
// what was taken out as well. Everything is written below an [os.Root], which no name and no
// link leads out of, into a directory that was not there before and that is removed again when
// anything fails. Files have mode 0600 and directories 0700, whatever the archive says, and
// each file is synced to the disk; the directories are the caller's to sync.
//
// An archive is read to its end, so that one that was cut short or damaged is found out by its
// checksums even where what was asked for came first.
//
// Each error is one sentence. The functions may be called from several goroutines.
package unpack

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"strings"
)

// The bounds, unless [Options] has others. Builds of llama.cpp with the kernels of a graphics
// card come to more than a gigabyte.
const (
	MostEntries = 20_000
	MostFile    = 4 << 30
	MostBytes   = 8 << 30
)

// mostName is the most bytes that a name or the target of a link has.
const mostName = 1024

// Options say what to take out of an archive, and how much it may hold.
type Options struct {
	// Shown is what errors call the archive; its path if empty.
	Shown string
	// Folder is the folder of the archive to take from; names are relative to it. "" is the
	// archive's top.
	Folder string
	// Keep says which names, slash-separated and relative to Folder, are taken; nil takes
	// all.
	Keep func(name string) bool
	// MostEntries bounds the entries of the archive; [MostEntries] if 0.
	MostEntries int
	// MostFile and MostBytes bound the bytes of one file and of all files, also of those
	// that are not taken; the constants of their names if 0.
	MostFile, MostBytes int64
}

// An Entry is a file or a symbolic link of an archive.
type Entry struct {
	Name string // slash-separated and clean
	Size int64  // bytes
	Link string // what a symbolic link points at; empty for a file
}

// List names the files and links of an archive that o takes, after reading all of it.
func List(ctx context.Context, archive string, o Options) ([]Entry, error) {
	var found []Entry
	err := walk(ctx, archive, &o, func(e Entry, _ io.Reader) error {
		found = append(found, e)
		return nil
	})
	if err != nil {
		return nil, explain(err, cmp.Or(o.Shown, archive))
	}
	return found, nil
}

// Unpack makes the new directory dir with what o takes out of the archive, and returns that. A
// dir that is there already is fs.ErrExist. Nothing is left after an error.
func Unpack(ctx context.Context, archive, dir string, o Options) ([]Entry, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	taken, err := unpack(ctx, archive, dir, &o)
	if err != nil {
		return nil, errors.Join(explain(err, cmp.Or(o.Shown, archive)), os.RemoveAll(dir))
	}
	return taken, nil
}

// Read hands the files and links that o takes to f, one after the other, with the content of a
// file, which f reads to its end or not. What is not taken is not looked at: it counts towards
// no bound but the number of entries, and may be damaged; but a tar file is unpacked as a whole
// to find its entries, so that MostBytes holds for all of it. An error of f is returned as it is.
func Read(ctx context.Context, archive string, o Options, f func(e Entry, content io.Reader) error) error {
	var own error
	err := walkOver(ctx, archive, &o, func(e Entry, content io.Reader) error {
		own = f(e, content)
		return own
	})
	if err == nil || own != nil {
		return own
	}
	return explain(err, cmp.Or(o.Shown, archive))
}

func unpack(ctx context.Context, archive, dir string, o *Options) ([]Entry, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var taken []Entry
	err = walk(ctx, archive, o, func(e Entry, content io.Reader) error {
		taken = append(taken, e)
		if e.Link != "" {
			return nil
		}
		return write(root, e.Name, content)
	})
	if err != nil {
		return nil, err
	}
	if err := link(root, taken); err != nil {
		return nil, err
	}
	return taken, nil
}

// write makes one file. A directory of the archive where its name should go, or a file where
// its directory should, is an error of the system, and one of the archive.
func write(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// link makes the links once all files are there, so that none is written through one, and sees
// where each leads.
func link(root *os.Root, taken []Entry) error {
	for _, e := range taken {
		if e.Link == "" {
			continue
		}
		if err := root.MkdirAll(path.Dir(e.Name), 0o700); err != nil {
			return err
		}
		if err := root.Symlink(e.Link, e.Name); err != nil {
			return err
		}
	}
	for _, e := range taken {
		if e.Link == "" {
			continue
		}
		if info, err := root.Stat(e.Name); err != nil || !info.Mode().IsRegular() {
			return flawed("holds the link %.100q to %.100q, which is no file that was taken out", e.Name, e.Link)
		}
	}
	return nil
}

// cleanName is the name of an entry as a path below the directory, or why it has none. It may
// end in a slash, as names of directories do, and begin with "./".
func cleanName(name string) (string, error) {
	clean := path.Clean(strings.TrimSuffix(name, "/"))
	switch {
	case len(name) > mostName:
		return "", flawed("holds a name of %d bytes, %d are the most", len(name), mostName)
	case name == "" || strings.ContainsAny(name, "\\\x00"):
		return "", flawed("holds the name %.100q, which is none", name)
	case path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") || hasDots(name):
		return "", flawed("holds the name %.100q, which leads out of it", name)
	}
	return clean, nil
}

// hasDots reports whether a name goes up anywhere, even where it comes back.
func hasDots(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// checkLink says why a link is not made.
func checkLink(name, target string) error {
	switch {
	case target == "" || len(target) > mostName || strings.ContainsAny(target, "\\\x00"):
		return flawed("holds the link %.100q to %.100q, which is no name", name, target)
	case path.IsAbs(target):
		return flawed("holds the link %.100q to the absolute name %.100q", name, target)
	}
	if to := path.Join(path.Dir(name), target); to == ".." || strings.HasPrefix(to, "../") {
		return flawed("holds the link %.100q to %.100q, which leads out of it", name, target)
	}
	return nil
}

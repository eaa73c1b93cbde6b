package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/fetch"
	"emberd/internal/unpack"
)

// below are the places where the libraries are in the directories that people name: the
// directory itself, an installed or unpacked build, and a package of npm.
var below = []string{".", "lib", "lib64", "bin", "build/bin", "bins/*", "package/bins/*", "llama-*"}

// findLibraries is the one directory at or below dir that holds libllama.
func findLibraries(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	_, first := libraries(dir)
	if _, err := os.ReadDir(dir); err != nil || first == nil {
		return dir, first
	}
	var found []string
	for _, place := range below[1:] {
		// The only error is a bad pattern, which none is, apart from one in dir itself.
		matches, _ := filepath.Glob(filepath.Join(dir, place))
		for _, m := range matches {
			if _, err := libraries(m); err == nil {
				found = append(found, m)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", first
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s holds several builds of llama.cpp: name one of %s", dir, strings.Join(found, ", "))
}

// copyLibraries makes the new directory to with what belongs to llama.cpp in another one. Links
// between them stay; what a link leads to elsewhere is copied.
func copyLibraries(ctx context.Context, from, to string, progress Progress) error {
	names, err := libraries(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return fetch.Explain(err, filepath.Dir(to))
	}
	var done int64
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		target, err := os.Readlink(filepath.Join(from, name))
		if err == nil && slices.Contains(names, target) {
			if err := os.Symlink(target, filepath.Join(to, name)); err != nil {
				return err
			}
			continue
		}
		n, err := copyFile(ctx, filepath.Join(from, name), filepath.Join(to, name))
		if err != nil {
			return fmt.Errorf("copy %s: %w", filepath.Join(from, name), fetch.Explain(err, filepath.Dir(to)))
		}
		done += n
		progress("copying", done, 0)
	}
	return nil
}

func copyFile(ctx context.Context, from, to string) (int64, error) {
	info, err := os.Stat(from)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return 0, errors.New("it is not a file")
	}
	src, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(dst, interruptible{ctx.Err, src})
	if err == nil {
		err = dst.Sync()
	}
	return n, errors.Join(err, dst.Close())
}

// interruptible is a file that can no longer be read when its first part has an error.
type interruptible struct {
	err func() error
	io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.err(); err != nil {
		return 0, err
	}
	return i.Reader.Read(p)
}

// unpack takes the libraries out of the copy of an archive, which goes then.
func (e *Engines) unpack(ctx context.Context, archive string, engine *Engine, progress Progress) error {
	defer e.sweep(archive)
	progress("unpacking", 0, 0)
	all, err := unpack.List(ctx, archive, unpack.Options{Shown: engine.Source, Keep: func(name string) bool {
		return isMain(path.Base(name)) || path.Base(name) == "llama.dll"
	}})
	if err != nil {
		return err
	}
	var folders []string
	for _, entry := range all {
		if folder := path.Dir(entry.Name); isMain(path.Base(entry.Name)) && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	switch len(folders) {
	case 0:
		return noLibrary(engine.Source, len(all) > 0)
	case 1:
	default:
		return fmt.Errorf("%s holds several builds of llama.cpp, in %s: unpack it and name the directory of one", engine.Source, strings.Join(folders, ", "))
	}
	_, err = unpack.Unpack(ctx, archive, engine.Dir, unpack.Options{Shown: engine.Source, Folder: folders[0], Keep: isPart})
	return fetch.Explain(err, e.folder)
}

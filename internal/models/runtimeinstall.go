package models

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/unpack"
)

// maxArchive is the maximum size of an archive. Builds with the kernels of a graphics card have
// several hundred megabytes.
const maxArchive = 4 << 30

// Check returns why a source cannot be installed, without using the network: a bad name or digest,
// or a path that does not exist.
func (r *Runtimes) Check(s Source) error {
	if s.Place == "" {
		return problemf(ErrInput, "missing runtime; use a directory, an archive or a URL")
	}
	if s.Name != "" && !validRuntimeName(s.Name) {
		return problemf(ErrInput, "invalid runtime name %q; use up to 64 letters, digits, dots, dashes and underscores",
			s.Name)
	}
	isDir := false
	if !isURL(s.Place) {
		info, err := os.Stat(s.Place)
		if errors.Is(err, fs.ErrNotExist) {
			return problemf(ErrInput, "file or directory %s not found; check its path", s.Place)
		}
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", s.Place, err)
		}
		isDir = info.IsDir()
	}
	switch {
	case isDir && s.SHA256 != "":
		return errors.New("--sha256 requires an archive, but the runtime is a directory; " +
			"omit --sha256, or install the runtime from an archive")
	case s.Link && !isDir:
		return errors.New("--link requires a directory; use the directory that contains libllama")
	}
	_, err := s.clean()
	return err
}

// Install adds a runtime from a directory with libraries or a build or package above it, from an
// archive, or from the address of one, and returns it. If the same runtime is installed under the
// name already, Install returns that; if another one is, the error is [ErrTaken] unless the source
// has Replace. No library is loaded before the digest of its archive is one that is pinned or that
// the source names, or the source has Trust; else the error is [ErrUntrusted]. progress may be nil.
func (r *Runtimes) Install(ctx context.Context, s Source, progress Progress) (*Runtime, error) {
	if err := r.Check(s); err != nil {
		return nil, err
	}
	s, err := s.clean()
	if err != nil {
		return nil, err
	}
	st, err := openStage(r.folder)
	if err != nil {
		return nil, err
	}
	defer st.close()
	if err := checkOwner(r.folder); err != nil { // before anything is loaded from there
		return nil, err
	}
	rt, err := r.gather(ctx, s, st, progress)
	if err != nil {
		return nil, err
	}
	if err := check(rt.Dir, r.machine); err != nil {
		return nil, err
	}
	if rt.Linked == "" {
		if rt.Files, err = filesOf(ctx, rt.Dir); err != nil {
			return nil, err
		}
	}
	if !rt.Known && s.SHA256 == "" && !s.Trust {
		return nil, errUntrusted(rt)
	}
	if err := r.try(ctx, rt); err != nil {
		return nil, err
	}
	rt.Name = cmp.Or(s.Name, defaultName(rt))
	if there, err := r.existing(ctx, rt, s.Replace); there != nil || err != nil {
		return there, err
	}
	placed, err := r.place(st, rt)
	return placed, explainWrite(err, r.folder)
}

func errUntrusted(rt *Runtime) error {
	what := rt.Source
	if rt.SHA256 != "" {
		what += " (SHA-256 " + rt.SHA256 + ")"
	}
	return problemf(ErrUntrusted, "the libraries of %s are not a known build, so emberd does not load "+
		"them; if you trust their source, run the command again with --yes", what)
}

// gather brings the libraries into the stage.
func (r *Runtimes) gather(ctx context.Context, s Source, st *stage, progress Progress) (*Runtime, error) {
	rt := &Runtime{Source: shownSource(s.Place), Added: time.Now().UTC().Truncate(time.Second),
		Dir: filepath.Join(st.dir, "files")}
	if err := os.Mkdir(rt.Dir, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(s.Place); err == nil && info.IsDir() && !isURL(s.Place) {
		found, err := findLibraries(s.Place)
		if err != nil {
			return nil, err
		}
		rt.Source = found
		if s.Link {
			rt.Linked, rt.Dir = found, found
			return rt, nil
		}
		return rt, copyLibraries(ctx, found, rt.Dir, progress)
	}
	archive := filepath.Join(st.dir, "archive")
	t := transfer{source: s.Place, to: archive, sha256: s.SHA256, maxSize: maxArchive, silence: maxSilence,
		progress: progress}
	var err error
	if rt.SHA256, _, err = t.run(ctx); err != nil {
		return nil, err
	}
	rt.Known = isKnownRuntime(rt.SHA256)
	if isURL(s.Place) && s.SHA256 == "" && !rt.Known {
		return nil, fmt.Errorf("the SHA-256 of %s is %s, which is not on the list of known builds; "+
			"to accept it, use --sha256 with the value from the publisher", rt.Source, rt.SHA256)
	}
	return rt, explainWrite(unpackLibraries(ctx, archive, rt), r.folder)
}

// buildFolders are the places of the libraries below the directories that users name: those of an
// installed or unpacked build, and of an npm package.
var buildFolders = []string{"lib", "lib64", "bin", "build/bin", "bins/*", "package/bins/*", "llama-*"}

// findLibraries returns the one directory at or below dir that has libllama.
func findLibraries(dir string) (string, error) {
	_, first := libraries(dir)
	if first == nil {
		return dir, nil
	}
	var found []string
	for _, folder := range buildFolders {
		// The only error is a bad pattern, which none is, apart from one in dir itself.
		matches, _ := filepath.Glob(filepath.Join(dir, folder))
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
	return "", fmt.Errorf("%s contains several builds of llama.cpp; use one of %s", dir, strings.Join(found, ", "))
}

// copyLibraries copies the files of llama.cpp from one directory to another. Links between them
// stay; the target of another link is copied.
func copyLibraries(ctx context.Context, from, to string, progress Progress) error {
	names, err := libraries(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		target, err := os.Readlink(filepath.Join(from, name))
		if err == nil && slices.Contains(names, target) {
			err = os.Symlink(target, filepath.Join(to, name))
		} else {
			t := transfer{source: filepath.Join(from, name), to: filepath.Join(to, name), maxSize: maxArchive,
				silence: maxSilence, progress: progress}
			_, _, err = t.run(ctx)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", filepath.Join(from, name), err)
		}
	}
	return nil
}

// unpackLibraries takes the files of llama.cpp out of the copy of an archive.
func unpackLibraries(ctx context.Context, archive string, rt *Runtime) error {
	var folders []string
	o := unpack.Options{Shown: rt.Source, Keep: func(name string) bool { return isMain(path.Base(name)) }}
	err := unpack.Read(ctx, archive, o, func(e unpack.Entry, _ io.Reader) error {
		if folder := path.Dir(e.Name); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(folders) == 0:
		return errNoLibrary(rt.Source)
	case len(folders) > 1:
		return fmt.Errorf(
			"%s contains several builds of llama.cpp, in %s; unpack the archive and use the directory of one build",
			rt.Source, strings.Join(folders, ", "))
	}
	links := map[string]string{}
	o.Keep = func(name string) bool { return path.Dir(name) == folders[0] && isPart(path.Base(name)) }
	err = unpack.Read(ctx, archive, o, func(e unpack.Entry, content io.Reader) error {
		name := path.Base(e.Name)
		if e.Link != "" {
			links[name] = e.Link
			return nil
		}
		return writeFile(filepath.Join(rt.Dir, name), content)
	})
	if err != nil {
		return err
	}
	// Links come last, so that no file is written through one.
	for name, target := range links {
		if !isPart(target) {
			return fmt.Errorf("archive %s contains the link %.100q to %.100q, which is not a file of the build",
				rt.Source, name, target)
		}
		if err := os.Symlink(target, filepath.Join(rt.Dir, name)); err != nil {
			return err
		}
	}
	for name := range links {
		if info, err := os.Stat(filepath.Join(rt.Dir, name)); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("archive %s contains the link %.100q, whose target is not a file of the build", rt.Source,
				name)
		}
	}
	return nil
}

// writeFile makes a new file, synced to the disk.
func writeFile(name string, content io.Reader) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// filesOf returns the files of a directory with their digests.
func filesOf(ctx context.Context, dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, entry := range entries {
		f := File{Name: entry.Name()}
		name := filepath.Join(dir, f.Name)
		if entry.Type()&fs.ModeSymlink != 0 {
			f.Link, err = os.Readlink(name)
		} else {
			f.SHA256, f.Size, err = digestOf(ctx, name, nil)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// try has the libraries loaded once, and keeps what they report.
func (r *Runtimes) try(ctx context.Context, rt *Runtime) error {
	hello, err := r.probe(ctx, rt.Dir)
	if err != nil {
		return fmt.Errorf("cannot test the libraries of %s: %w", rt.Source, err)
	}
	if hello.Failed != nil {
		return fmt.Errorf("cannot use the libraries of %s: %w", rt.Source, hello.Failed)
	}
	rt.Release, rt.System = hello.Engine.Release, hello.Engine.System
	rt.Backends, rt.Warning = hello.Engine.Backends, hello.Engine.Warning
	return nil
}

// defaultName returns the release or, if that is unknown, a name made of the digests.
func defaultName(rt *Runtime) string {
	switch {
	case rt.Linked != "":
		return "system"
	case validRuntimeName(rt.Release):
		return rt.Release
	}
	sum := sha256.New()
	for _, f := range rt.Files {
		fmt.Fprintln(sum, f.Name, f.SHA256, f.Link)
	}
	return "engine-" + hex.EncodeToString(sum.Sum(nil)[:4])
}

// existing returns the same runtime if it is installed under the name already, and an error if
// another one is that must not be replaced.
func (r *Runtimes) existing(ctx context.Context, rt *Runtime, replace bool) (*Runtime, error) {
	if _, err := os.Lstat(filepath.Join(r.folder, rt.Name)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	there, err := r.Verify(ctx, rt.Name)
	switch {
	case err == nil && there.Linked == rt.Linked && slices.Equal(there.Files, rt.Files):
		return there, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case replace:
		return nil, nil
	}
	return nil, problemf(ErrTaken,
		"runtime %s already exists with different files; use --replace to replace it, or --name to choose another name",
		rt.Name)
}

// place gives the prepared runtime its name.
func (r *Runtimes) place(st *stage, rt *Runtime) (*Runtime, error) {
	data, err := json.MarshalIndent(rt, "", "  ")
	if err != nil {
		return nil, err
	}
	files := filepath.Join(st.dir, "files")
	if err := durable.ReplaceFile(durable.OS{}, filepath.Join(files, recordName), append(data, '\n')); err != nil {
		return nil, err // which also syncs the directory
	}
	root, err := os.OpenRoot(r.folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	disk, staged := durable.NewRoot(root), filepath.Join(stageName, "files")
	err = disk.Rename(staged, rt.Name)
	if _, there := root.Lstat(rt.Name); err != nil && there == nil {
		// Both are there and change places; the old one goes with the stage.
		if err = disk.Exchange(staged, rt.Name); errors.Is(err, errors.ErrUnsupported) {
			err = errors.Join(root.RemoveAll(rt.Name), disk.Rename(staged, rt.Name))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot move runtime %s to its folder: %w", rt.Name, err)
	}
	if err := disk.SyncDir("."); err != nil {
		return nil, err
	}
	return r.read(rt.Name)
}

package engines

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/fetch"
)

// mostArchive is the most bytes that an archive may have. Builds with the kernels of a graphics
// card come to several hundred megabytes.
const mostArchive = 4 << 30

// A Source is where an engine comes from: one of Dir, Archive and URL. [From] tells them apart.
type Source struct {
	Dir     string // a directory with the libraries, or one of an npm package or a build above it
	Archive string // a .tar.gz, .tgz or .zip file
	URL     string // the http or https address of one
	SHA256  string // of the archive, none of a directory; needed for a URL, unless it is one of [KnownArchives]
	Name    string // what to call the engine; its release if empty
	Link    bool   // leave the libraries of Dir where they are, and follow their upgrades
	Replace bool   // take the place of another engine of this name
}

// From is the source that a person means by a path or an address.
func From(what string) (Source, error) {
	if fetch.IsURL(what) {
		return Source{URL: what}, nil
	}
	info, err := os.Stat(what)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Source{}, fmt.Errorf("there is no file or directory %s: check its path", what)
	case err != nil:
		return Source{}, fmt.Errorf("%s cannot be examined: %w", what, err)
	case info.IsDir():
		return Source{Dir: what}, nil
	}
	return Source{Archive: what}, nil
}

// Install adds an engine and returns it. Where just this engine is there already under the
// name, that one is returned; where another one is, [ErrTaken] is, unless the source says to
// replace it.
func (e *Engines) Install(ctx context.Context, s Source, progress Progress) (*Engine, error) {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	if err := CheckName(s.Name); err != nil {
		return nil, err
	}
	unlock, err := e.lock()
	if err != nil {
		return nil, err
	}
	if err := checkOwner(e.folder); err != nil { // before anything is loaded from there
		unlock()
		return nil, err
	}
	var archive *fetch.File
	if s.Dir == "" {
		unlock() // a download takes minutes, in which others may choose and remove
		if archive, err = e.bring(ctx, &s, progress); err != nil {
			return nil, err
		}
		if unlock, err = e.waitForLock(ctx); err != nil {
			return nil, err
		}
	}
	defer unlock()
	return e.add(ctx, s, archive, progress)
}

// add is the part of Install that changes what others see.
func (e *Engines) add(ctx context.Context, s Source, archive *fetch.File, progress Progress) (*Engine, error) {
	stage := filepath.Join(e.folder, stageName)
	if err := os.RemoveAll(stage); err != nil { // of a process that was killed
		return nil, err
	}
	defer os.RemoveAll(stage)
	engine, err := e.prepare(ctx, s, archive, progress)
	if err != nil {
		return nil, err
	}
	if err := e.try(ctx, engine, progress); err != nil {
		return nil, err
	}
	engine.Name = cmp.Or(s.Name, defaultName(engine))
	if there, err := e.taken(ctx, engine, s.Replace); there != nil || err != nil {
		return there, err
	}
	placed, err := e.place(engine, stage)
	return placed, fetch.Explain(err, e.folder)
}

// prepare fills the stage, and says what will be written of the engine.
func (e *Engines) prepare(ctx context.Context, s Source, archive *fetch.File, progress Progress) (*Engine, error) {
	engine := &Engine{Added: time.Now().UTC().Truncate(time.Second), Dir: filepath.Join(e.folder, stageName)}
	var err error
	switch {
	case s.Dir != "" && s.SHA256 != "":
		return nil, errors.New("a directory has no SHA-256: leave it out, or name the archive that the directory came from")
	case s.Dir != "" && s.Link:
		err = e.link(s.Dir, engine)
	case s.Dir != "":
		err = e.copyFrom(ctx, s.Dir, engine, progress)
	default:
		engine.Source, engine.SHA256 = s.shown(), archive.SHA256
		_, engine.Known = known(archive.SHA256)
		err = e.unpack(ctx, e.downloadOf(&s), engine, progress)
	}
	if err != nil {
		return nil, err
	}
	if err := check(engine.Dir, e.machine); err != nil {
		return nil, err
	}
	if engine.Linked == "" {
		engine.Files, err = filesOf(ctx, engine.Dir)
	}
	return engine, err
}

func (e *Engines) link(dir string, engine *Engine) error {
	found, err := findLibraries(dir)
	if err != nil {
		return err
	}
	engine.Source, engine.Linked, engine.Dir = found, found, found
	return os.Mkdir(filepath.Join(e.folder, stageName), 0o700)
}

func (e *Engines) copyFrom(ctx context.Context, dir string, engine *Engine, progress Progress) error {
	found, err := findLibraries(dir)
	if err != nil {
		return err
	}
	engine.Source = found
	return copyLibraries(ctx, found, engine.Dir, progress)
}

// shown is the address or the archive, for people.
func (s *Source) shown() string { return fetch.Shown(cmp.Or(s.URL, s.Archive)) }

// downloadOf is where the copy of an archive goes.
func (e *Engines) downloadOf(s *Source) string {
	address := sha256.Sum256([]byte(cmp.Or(s.URL, s.Archive)))
	return filepath.Join(e.folder, downloadName, hex.EncodeToString(address[:8]))
}

// bring makes a copy of an archive that nobody changes while it is looked at and unpacked.
func (e *Engines) bring(ctx context.Context, s *Source, progress Progress) (*fetch.File, error) {
	doing := "downloading"
	switch {
	case s.Link:
		return nil, errors.New("only a directory can be linked: name the one that holds libllama")
	case s.URL == "" && s.Archive == "":
		return nil, errors.New("no engine was named: name a directory, an archive or an address")
	case s.URL == "":
		doing = "copying"
		full, err := filepath.Abs(s.Archive)
		if err != nil {
			return nil, err
		}
		s.Archive = full
	}
	defer os.Remove(filepath.Join(e.folder, downloadName)) // if nothing is in it
	return fetch.Fetch(ctx, fetch.Options{
		Source: cmp.Or(s.URL, s.Archive), To: e.downloadOf(s), SHA256: s.SHA256, Most: mostArchive, Retries: fetch.Retries,
		Progress: func(done, total int64) { progress(doing, done, total) },
		Check: func(_, digest string) error {
			if _, ok := known(digest); s.URL != "" && s.SHA256 == "" && !ok {
				return fmt.Errorf("%s has the SHA-256 %s, which is not one that emberd knows: give the one its publisher tells with --sha256", s.shown(), digest)
			}
			return nil
		},
	})
}

// stale is how old a copy of an archive is that some process must have left. Those of others
// that are about to unpack theirs are younger.
const stale = 24 * time.Hour

// sweep removes an archive that was unpacked, and what broke off earlier and nobody came back
// for. What stays is swept another time.
func (e *Engines) sweep(archive string) {
	_ = os.Remove(archive)
	folder := filepath.Dir(archive)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		if partly, ok := strings.CutSuffix(name, ".partial"); ok {
			_, _ = fetch.Forget(partly) // unless it is under way
		} else if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > stale {
			_ = os.Remove(name)
		}
	}
	_ = os.Remove(folder) // if nothing is in it any more
}

// try has the libraries loaded once, and keeps what they told.
func (e *Engines) try(ctx context.Context, engine *Engine, progress Progress) error {
	if e.probe == nil {
		return errors.New("engines cannot be tried here, and so not installed")
	}
	progress("trying", 0, 0)
	hello, err := e.probe(ctx, engine.Dir)
	if err != nil {
		return fmt.Errorf("try the libraries of %s: %w", engine.Source, err)
	}
	if hello.Failed != nil {
		return fmt.Errorf("the libraries of %s cannot be used: %w", engine.Source, hello.Failed)
	}
	engine.Release, engine.System = hello.Engine.Release, hello.Engine.System
	engine.Backends, engine.Warning = hello.Engine.Backends, hello.Engine.Warning
	return nil
}

// defaultName is the release, if that tells anything.
func defaultName(engine *Engine) string {
	switch {
	case engine.Linked != "":
		return "system"
	case validName(engine.Release):
		return engine.Release
	}
	sum := sha256.New()
	for _, f := range engine.Files {
		fmt.Fprintln(sum, f.Name, f.SHA256, f.Link)
	}
	return "engine-" + hex.EncodeToString(sum.Sum(nil)[:4])
}

// taken looks at what has the name already: the same engine, which is returned, or another one.
func (e *Engines) taken(ctx context.Context, engine *Engine, replace bool) (*Engine, error) {
	if _, err := os.Lstat(filepath.Join(e.folder, engine.Name)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	there, err := e.Verify(ctx, engine.Name)
	if err == nil && there.Linked == engine.Linked && slices.Equal(there.Files, engine.Files) {
		return there, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if replace {
		return nil, nil
	}
	return nil, fmt.Errorf("%w: %s is installed already, with other files; --replace takes its place, --name calls this one something else", ErrTaken, engine.Name)
}

// place gives the prepared engine its name.
func (e *Engines) place(engine *Engine, stage string) (*Engine, error) {
	if err := record(stage, engine); err != nil { // which syncs the directory as well
		return nil, err
	}
	root, err := os.OpenRoot(e.folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	disk := durable.NewRoot(root)
	err = disk.Rename(stageName, engine.Name)
	if _, there := root.Lstat(engine.Name); err != nil && there == nil {
		// Both are there, and change places; the old one goes with the stage.
		if err = disk.Exchange(stageName, engine.Name); errors.Is(err, errors.ErrUnsupported) {
			err = errors.Join(root.RemoveAll(engine.Name), disk.Rename(stageName, engine.Name))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("put engine %s into place: %w", engine.Name, err)
	}
	if err := disk.SyncDir("."); err != nil {
		return nil, err
	}
	return e.read(engine.Name)
}

// Package engines keeps llama.cpp's libraries below a folder, one directory for each build, and
// says which of them is used.
//
//	FOLDER/NAME/            the libraries, and engine.json, which lists them with their digests
//	FOLDER/current          the name of the engine that a person chose, if one did
//	FOLDER/.new, .download  an installation under way, or what a killed one left
//	FOLDER/.lock            held by flock(2) while something is put here, chosen or removed
//
// # What holds
//
// Native code is run from here, so nothing of it is taken on trust. An engine is prepared in a
// directory of its own, seen to be for this system and processor, loaded once by the caller's
// [Probe] in another process, synced to the disk, and only then given its name: half an
// installation is never an engine. An archive is unpacked from a copy of its own, so that the
// bytes with the SHA-256 are those that are unpacked. An engine counts for [Engines.Current]
// and [Engines.Intact] as long as its directory holds just the files that were installed, in
// their sizes, and nobody but its owner and root can write there or to a directory on the way;
// [Engines.Verify] compares their SHA-256 too. A linked engine stays where a package manager
// keeps it and upgrades it; of that only the rules for who may write hold.
//
// Nothing is downloaded but from an address that a person gave, and only with a digest that
// the person gave, too, or that is one of [KnownArchives].
//
// # Sharing
//
// Engines may be used by several goroutines and processes: the disk is read each time, and
// what changes it takes the lock.
package engines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/fetch"
	"emberd/internal/llamawire"
	"emberd/internal/spelling"
)

// The causes that a caller may want to tell apart.
var (
	ErrNone    = errors.New("no engine is installed; emberd engine install takes one from a directory, an archive or an address")
	ErrUnknown = errors.New("no engine is called")
	ErrTaken   = errors.New("another engine has this name")
	ErrName    = errors.New("is no name for an engine")
	ErrBusy    = errors.New("engines are being changed by another process: wait until it is done")
)

// names of the folder's own.
const (
	recordName   = "engine.json"
	currentName  = "current"
	stageName    = ".new"
	downloadName = ".download"
	lockName     = ".lock"
)

// A Probe loads the libraries of a directory in a process of its own and tells what they say.
// An error is that nothing could be asked; what the libraries cannot do is in Hello.Failed.
type Probe func(ctx context.Context, dir string) (llamawire.Hello, error)

// Progress is told what is being done and how far it is: bytes, of a total that is 0 where it
// is not known.
type Progress func(what string, done, total int64)

// Engines are the engines of one folder.
type Engines struct {
	folder  string
	probe   Probe
	machine machine
}

// Open returns the engines of a folder, which need not exist. A nil probe will do for all but
// installing.
func Open(folder string, probe Probe) *Engines {
	if absolute, err := filepath.Abs(folder); err == nil {
		folder = absolute
	}
	return &Engines{folder: folder, probe: probe, machine: machine{runtime.GOOS, runtime.GOARCH}}
}

// A Listed is an engine in a list.
type Listed struct {
	Engine
	Chosen  bool   // [Engines.Use] chose it
	Used    bool   // it is what [Engines.Current] returns
	Problem string // why it cannot be used, one sentence; empty if it can
}

// List lists the engines, the newest release first. A directory that was not installed is listed,
// too, and has a Problem.
func (e *Engines) List() ([]Listed, error) {
	entries, err := os.ReadDir(e.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list engines: %w", err)
	}
	chosen, err := e.chosen()
	if err != nil {
		return nil, err
	}
	var all []Listed
	for _, entry := range entries {
		if entry.IsDir() && validName(entry.Name()) {
			all = append(all, e.look(entry.Name(), chosen))
		}
	}
	slices.SortStableFunc(all, func(a, b Listed) int {
		return cmp.Or(compareReleases(b.Release, a.Release), cmp.Compare(a.Name, b.Name))
	})
	used := slices.IndexFunc(all, func(l Listed) bool { return l.Problem == "" && (chosen == "" || l.Chosen) })
	if used >= 0 {
		all[used].Used = true
	}
	return all, nil
}

func (e *Engines) look(name, chosen string) Listed {
	l := Listed{Engine: Engine{Name: name, Dir: filepath.Join(e.folder, name)}, Chosen: name == chosen}
	engine, err := e.read(name)
	if err == nil {
		l.Engine = *engine
		err = e.intact(engine)
	}
	if err != nil {
		l.Problem = err.Error()
	}
	return l
}

// Find is the engine of that name, intact or not.
func (e *Engines) Find(name string) (*Engine, error) {
	if !validName(name) {
		return nil, e.unknown(name)
	}
	engine, err := e.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(filepath.Join(e.folder, name)); err != nil {
			return nil, e.unknown(name)
		}
	}
	return engine, err
}

// unknown is ErrUnknown, with a name that was perhaps meant.
func (e *Engines) unknown(name string) error {
	entries, err := os.ReadDir(e.folder)
	if err != nil {
		entries = nil // then there is nothing to propose
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && validName(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	if best := spelling.Meant(name, names); best != "" {
		return fmt.Errorf("%w %q; did you mean %s?", ErrUnknown, name, best)
	}
	return fmt.Errorf("%w %q; emberd engine list shows those there are", ErrUnknown, name)
}

// Current is the engine to use: the chosen one or, if none is, the newest release of those that
// are intact. That there is none is [ErrNone]; a chosen one that is not intact is an error, and
// no other takes its place unasked.
func (e *Engines) Current() (*Engine, error) {
	all, err := e.List()
	if err != nil {
		return nil, err
	}
	if used := slices.IndexFunc(all, func(l Listed) bool { return l.Used }); used >= 0 {
		return &all[used].Engine, nil
	}
	chosen, err := e.chosen()
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if l.Chosen || chosen == "" {
			return nil, errors.New(l.Problem)
		}
	}
	if chosen != "" {
		return nil, fmt.Errorf("the engine %s was chosen and is not there any more: emberd engine use chooses another one", chosen)
	}
	return nil, ErrNone
}

// chosen is the name in the file current, "" without one.
func (e *Engines) chosen() (string, error) {
	data, err := durable.ReadAll(durable.OS{}, filepath.Join(e.folder, currentName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read which engine was chosen: %w", err)
	}
	name := strings.TrimSpace(string(data))
	if !validName(name) {
		return "", fmt.Errorf("%s does not hold the name of an engine: emberd engine use writes it anew", filepath.Join(e.folder, currentName))
	}
	return name, nil
}

// Intact is the engine of that name if it is what was installed, checked as for [Engines.Current].
func (e *Engines) Intact(name string) (*Engine, error) {
	engine, err := e.Find(name)
	if err != nil {
		return nil, err
	}
	if err := e.intact(engine); err != nil {
		return nil, err
	}
	return engine, nil
}

// Use chooses an engine, which must be intact; "" takes the choice back.
func (e *Engines) Use(name string) error {
	unlock, err := e.lock()
	if err != nil {
		return err
	}
	defer unlock()
	current := filepath.Join(e.folder, currentName)
	if name == "" {
		return removeFile(current)
	}
	if _, err := e.Intact(name); err != nil {
		return err
	}
	return fetch.Explain(durable.ReplaceFile(durable.OS{}, current, []byte(name+"\n")), e.folder)
}

// Remove removes an engine, intact or not. Of a linked one only the link goes. A process that
// has loaded it keeps what it loaded.
func (e *Engines) Remove(name string) error {
	unlock, err := e.lock()
	if err != nil {
		return err
	}
	defer unlock()
	dir := filepath.Join(e.folder, name)
	if info, err := os.Lstat(dir); !validName(name) || err != nil || !info.IsDir() {
		return e.unknown(name)
	}
	if chosen, err := e.chosen(); err == nil && chosen == name {
		if err := removeFile(filepath.Join(e.folder, currentName)); err != nil {
			return err
		}
	}
	// Out of the way at once: what is half removed is no engine.
	gone := filepath.Join(e.folder, stageName)
	if err := errors.Join(os.RemoveAll(gone), os.Rename(dir, gone)); err != nil {
		return fmt.Errorf("remove engine %s: %w", name, err)
	}
	return errors.Join(os.RemoveAll(gone), durable.OS{}.SyncDir(e.folder))
}

func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lock makes the folder and takes its lock.
func (e *Engines) lock() (unlock func(), err error) {
	if err := durable.MkdirAll(durable.OS{}, e.folder); err != nil {
		return nil, fetch.Explain(err, e.folder)
	}
	l, err := durable.AcquireLock(filepath.Join(e.folder, lockName))
	if errors.Is(err, durable.ErrLocked) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, fetch.Explain(err, e.folder)
	}
	return func() { _ = l.Close() }, nil // the lock ends with the descriptor in any case
}

// waitForLock is lock, once others are done.
func (e *Engines) waitForLock(ctx context.Context) (unlock func(), err error) {
	for {
		unlock, err := e.lock()
		if !errors.Is(err, ErrBusy) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// nameRule keeps names to what is one on every disk.
var nameRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// ownNames are the folder's own, and what embedding.engine says that is no engine's name.
var ownNames = []string{currentName, "auto", "none"}

// CheckName is ErrName for what an engine cannot be called. No name is fine: it is called
// after its release then.
func CheckName(name string) error {
	if name != "" && !validName(name) {
		return fmt.Errorf("%q %w: take up to 64 letters, digits, dots, dashes and underscores", name, ErrName)
	}
	return nil
}

// validName reports whether an engine may have the name. Many disks take a and A for one.
func validName(name string) bool {
	return nameRule.MatchString(name) && !slices.Contains(ownNames, strings.ToLower(name))
}

package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/llamawire"
	"emberd/internal/text"
	"emberd/internal/text/spelling"
)

const (
	recordName  = "engine.json"
	currentName = "current"
)

// A Probe loads the libraries of a directory in another process and returns what they report.
// Hello.Failed states what the libraries cannot do; an error means that the probe failed.
type Probe func(ctx context.Context, dir string) (llamawire.Hello, error)

// Runtimes are the installed builds of llama.cpp of one folder. Users call them engines.
type Runtimes struct {
	folder  string
	probe   Probe
	machine machine
}

// OpenRuntimes returns the runtimes of a folder, which need not exist. Only Install needs a probe.
func OpenRuntimes(folder string, probe Probe) *Runtimes {
	return &Runtimes{absolute(folder), probe, machine{runtime.GOOS, runtime.GOARCH}}
}

// A Runtime is the content of the engine.json of an installed build.
type Runtime struct {
	Name     string    `json:"name"`
	Release  string    `json:"release,omitempty"` // such as v0.5.0 or b8390; empty if unknown
	System   string    `json:"system,omitempty"`  // what llama.cpp reported about the processor
	Backends []string  `json:"backends,omitempty"`
	Warning  string    `json:"warning,omitempty"` // older than the tested releases, or unknown
	Source   string    `json:"source"`            // without secrets
	SHA256   string    `json:"sha256,omitempty"`  // of the archive
	Known    bool      `json:"known,omitempty"`   // whether the archive is pinned
	Linked   string    `json:"linked,omitempty"`  // the directory where the libraries stay
	Files    []File    `json:"files,omitempty"`   // by name; none of a linked runtime
	Added    time.Time `json:"installed"`

	// Dir is the absolute path of the directory with the libraries.
	Dir string `json:"-"`
}

// A File is one file of a runtime.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"` // bytes
	SHA256 string `json:"sha256,omitempty"`
	Link   string `json:"link,omitempty"` // target of a symbolic link
}

// Bytes returns the size of the runtime's files.
func (r *Runtime) Bytes() (n int64) {
	for _, f := range r.Files {
		n += f.Size
	}
	return n
}

// A Listed is a runtime in a list.
type Listed struct {
	Runtime
	Problem string // why it cannot be used, one sentence; empty if it can
}

// List returns the runtimes, the newest release first. A directory that was not installed is
// listed with a Problem.
func (r *Runtimes) List() (all []Listed, err error) {
	names, err := r.names()
	if err != nil {
		return nil, fmt.Errorf("cannot list the runtimes: %w", err)
	}
	for _, name := range names {
		l := Listed{Runtime: Runtime{Name: name, Dir: filepath.Join(r.folder, name)}}
		rt, err := r.read(name)
		if err == nil {
			l.Runtime = *rt
			err = r.checkIntact(rt)
		}
		if err != nil {
			l.Problem = err.Error()
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b Listed) int {
		return cmp.Or(compareReleases(b.Release, a.Release), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

func (r *Runtimes) names() (names []string, err error) {
	entries, err := os.ReadDir(r.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() && validRuntimeName(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Current returns the runtime to use: the chosen one or, without a choice, the newest intact
// release. Without any runtime the error is [ErrNone]. A chosen runtime that is not intact is an
// error; no other replaces it.
func (r *Runtimes) Current() (*Runtime, error) {
	chosen, err := r.chosen()
	if err != nil {
		return nil, err
	}
	if chosen != "" {
		rt, err := r.Intact(chosen)
		if errors.Is(err, ErrUnknown) {
			return nil, fmt.Errorf("the selected runtime %s no longer exists; run: emberd model runtime use NAME",
				chosen)
		}
		return rt, err
	}
	all, err := r.List()
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if l.Problem == "" {
			return &l.Runtime, nil
		}
	}
	if len(all) > 0 {
		return nil, errors.New(all[0].Problem)
	}
	return nil, problemf(ErrNone, "no runtime installed; run: emberd model runtime install PATH|URL")
}

// chosen returns the name in the file current, "" without one.
func (r *Runtimes) chosen() (string, error) {
	file := filepath.Join(r.folder, currentName)
	data, err := durable.ReadAll(durable.OS{}, file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the selected runtime: %w", err)
	}
	name := strings.TrimSpace(string(data))
	if !validRuntimeName(name) {
		return "", fmt.Errorf("%s does not contain the name of a runtime; run: emberd model runtime use NAME", file)
	}
	return name, nil
}

// Intact returns the runtime of a name if it is what was installed, checked as in [Runtimes.Current].
func (r *Runtimes) Intact(name string) (*Runtime, error) {
	rt, err := r.find(name)
	if err == nil {
		err = r.checkIntact(rt)
	}
	if err != nil {
		return nil, err
	}
	return rt, nil
}

// find returns the runtime of a name, intact or not.
func (r *Runtimes) find(name string) (*Runtime, error) {
	if _, err := os.Lstat(filepath.Join(r.folder, name)); !validRuntimeName(name) || errors.Is(err, fs.ErrNotExist) {
		return nil, r.errUnknown(name)
	}
	return r.read(name)
}

// errUnknown returns ErrUnknown with the name that the user probably wanted.
func (r *Runtimes) errUnknown(name string) error {
	names, err := r.names()
	if best := spelling.Meant(name, names); err == nil && best != "" {
		return problemf(ErrUnknown, "runtime %q not found; did you mean %s?", name, best)
	}
	return problemf(ErrUnknown, "runtime %q not found; run: emberd model runtime list", name)
}

// Use chooses a runtime, which must be intact, and returns it.
func (r *Runtimes) Use(name string) (*Runtime, error) {
	rt, err := r.Intact(name)
	if err != nil {
		return nil, err
	}
	err = durable.ReplaceFile(durable.OS{}, filepath.Join(r.folder, currentName), []byte(name+"\n"))
	return rt, explainWrite(err, r.folder)
}

// Remove removes a runtime, intact or not; of a linked one only the link. A process that has
// loaded it keeps it.
func (r *Runtimes) Remove(name string) error {
	dir := filepath.Join(r.folder, name)
	if info, err := os.Lstat(dir); !validRuntimeName(name) || err != nil || !info.IsDir() {
		return r.errUnknown(name)
	}
	st, err := openStage(r.folder)
	if err != nil {
		return err
	}
	defer st.close()
	if chosen, err := r.chosen(); err == nil && chosen == name {
		if err := removeFile(filepath.Join(r.folder, currentName)); err != nil {
			return err
		}
	}
	if err := os.Rename(dir, filepath.Join(st.dir, "removed")); err != nil {
		return fmt.Errorf("cannot remove runtime %s: %w", name, err)
	}
	return durable.OS{}.SyncDir(r.folder)
}

// read reads engine.json of the runtime of a name.
func (r *Runtimes) read(name string) (*Runtime, error) {
	dir := filepath.Join(r.folder, name)
	data, err := durable.ReadAll(durable.OS{}, filepath.Join(dir, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("emberd did not install %[1]s (%[3]w); to install it under another name, run: emberd "+
			"model runtime install %[1]s; to remove it, run: emberd model runtime remove %[2]s", dir, name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the description of runtime %s: %w", name, err)
	}
	var rt Runtime
	if err := json.Unmarshal(data, &rt); err != nil || rt.Linked != "" && !filepath.IsAbs(rt.Linked) {
		return nil, fmt.Errorf("cannot read the description of runtime %s in %s; install the runtime again", name,
			recordName)
	}
	rt.Name, rt.Dir = name, cmp.Or(rt.Linked, dir)
	return &rt, nil
}

// checkIntact returns in one sentence why a runtime is not what was installed, by names and sizes.
func (r *Runtimes) checkIntact(rt *Runtime) error {
	if err := checkOwner(r.folder); err != nil { // or others could put another runtime there
		return err
	}
	if rt.Linked == "" {
		if err := checkFiles(rt); err != nil {
			return err
		}
	}
	if err := check(rt.Dir, r.machine); err != nil {
		return fmt.Errorf("runtime %s: %w", rt.Name, err)
	}
	return nil
}

// checkFiles compares the directory with the record. An extra file counts, too: ggml loads every
// file that is named like a backend.
func checkFiles(rt *Runtime) error {
	entries, err := os.ReadDir(rt.Dir)
	if err != nil {
		return fmt.Errorf("cannot read runtime %s: %w", rt.Name, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if name != recordName && !slices.ContainsFunc(rt.Files, func(f File) bool { return f.Name == name }) {
			return errChanged(rt, name, "is not one of the installed files")
		}
	}
	for _, f := range rt.Files {
		name := filepath.Join(rt.Dir, f.Name)
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return errChanged(rt, f.Name, "is missing")
		case err != nil:
			return fmt.Errorf("cannot read runtime %s: %w", rt.Name, err)
		case f.Link != "":
			if target, err := os.Readlink(name); err != nil || target != f.Link {
				return errChanged(rt, f.Name, "is not the installed link")
			}
		case !info.Mode().IsRegular():
			return errChanged(rt, f.Name, "is not the installed file")
		case info.Size() != f.Size:
			return errChanged(rt, f.Name, fmt.Sprintf("has %d bytes instead of %d", info.Size(), f.Size))
		}
	}
	return nil
}

func errChanged(rt *Runtime, file, how string) error {
	return fmt.Errorf("runtime %s differs from the installed files: %s %s; install the runtime again with --replace",
		rt.Name, file, how)
}

// Verify reads all files of a runtime and compares their SHA-256 with what was installed. A linked
// runtime has nothing to compare with and is only checked as in [Runtimes.Current].
func (r *Runtimes) Verify(ctx context.Context, name string) (*Runtime, error) {
	rt, err := r.Intact(name)
	if err != nil {
		return nil, err
	}
	for _, f := range rt.Files {
		if f.Link != "" {
			continue
		}
		digest, _, err := digestOf(ctx, filepath.Join(rt.Dir, f.Name), nil)
		if err != nil {
			return nil, err
		}
		if digest != f.SHA256 {
			return nil, errChanged(rt, f.Name, "has different content")
		}
	}
	return rt, nil
}

// runtimeName matches names that are valid on every disk.
var runtimeName = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// validRuntimeName excludes the folder's own names and the keywords of embedding.engine. Many disks
// treat a and A as one name.
func validRuntimeName(name string) bool {
	return runtimeName().MatchString(name) && !slices.Contains([]string{currentName, "auto", "none"},
		strings.ToLower(name))
}

// compareReleases compares two releases of llama.cpp by age. The numbered builds, b8390, came
// before those with a version, v0.5.0; anything else counts as older than both.
func compareReleases(a, b string) int {
	return slices.Compare(releaseKey(a), releaseKey(b))
}

func releaseKey(release string) []int {
	if build, ok := strings.CutPrefix(release, "b"); ok {
		if n, err := strconv.Atoi(build); err == nil {
			return []int{1, n}
		}
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(release, "v"), "-") // 0.5.0-dev
	key := []int{2}
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		key = append(key, n)
	}
	return key
}

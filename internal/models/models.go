// Package models keeps embedding models and the libraries of llama.cpp that run them in a folder,
// and pins the digests of published ones.
//
//	FOLDER/NAME.gguf             a model, or a link to one
//	FOLDER/NAME.json             its source and SHA-256, if emberd installed it
//	FOLDER/engines/NAME/         a runtime: libraries, and engine.json, which lists their digests
//	FOLDER/engines/current       the name of the runtime that the user chose, if any
//	.new, .lock                  in both folders: the installation in progress, and its lock
//
// # Guarantees
//
// A name stands for a complete, verified installation or for nothing. A file is copied or
// downloaded into .new, compared with its digest, checked there, synced and then renamed. A model
// must be a file that a runtime accepts (see package gguf). The libraries of a runtime must be for
// this system and processor, and the caller's [Probe] must have loaded them in another process.
// An archive is copied before it is unpacked, so the bytes with the digest are those unpacked.
//
// Libraries are native code, so only files that nobody but their owner and root can change are
// used. [Runtimes.Current] and [Runtimes.Intact] return a runtime only while its directory has
// exactly the installed files, in their sizes; [Runtimes.Verify] also compares their SHA-256. A
// linked runtime stays where a package manager upgrades it; for that only the rules about owners
// hold.
//
// Nothing is downloaded except from an address that the user gave, or for a pinned model that the
// user named, and only with a digest that the user gave or that is [Pinned].
//
// # Sharing
//
// Several goroutines and processes may use a folder: each call reads the disk, and only one
// process at a time installs.
package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/gguf"
	"emberd/internal/text"
	"emberd/internal/text/spelling"
)

// The built-in ways to run a model file, as embedding.providers names them.
const (
	Llama = "llama"
	Go    = "go"
)

const extension = ".gguf"

// Models are the model files of one folder.
type Models struct{ folder string }

// Open returns the models of a folder, which need not exist.
func Open(folder string) *Models { return &Models{folder: absolute(folder)} }

func absolute(folder string) string {
	if full, err := filepath.Abs(folder); err == nil {
		return full
	}
	return folder
}

// A Model is a model file of the folder.
type Model struct {
	Name      string // the file's name without its ending
	Path      string // absolute
	Size      int64  // bytes
	SHA256    string // as installed or, from Verify and Install, as it is; empty if unknown
	Source    string // without secrets; empty if the user put the file there
	Installed time.Time
	Known     *KnownModel // the pinned model that it was installed as, or is by its digest

	// What the file states, if it can be read.
	Title     string // its maker's name for it
	Licence   string
	Dim       int
	MaxTokens int
	Pooling   string // mean, cls or last
	Weights   string // the format of its numbers, such as Q8_0

	Engines []string // that can run it, [Llama] first; none if there is a Problem
	Problem string   // why nothing can run it, one sentence with what to do
}

// A note is the content of the JSON file beside a model.
type note struct {
	Source    string    `json:"source"`
	SHA256    string    `json:"sha256"`
	Size      int64     `json:"size"`
	Known     string    `json:"known,omitempty"`          // name in the pinned list
	Weights   string    `json:"weights_sha256,omitempty"` // of the folder that it was converted from
	Installed time.Time `json:"installed"`
}

// List returns the models by name. It reads the header of each file, which takes milliseconds.
func (m *Models) List() ([]Model, error) {
	names, err := m.names()
	if err != nil {
		return nil, fmt.Errorf("cannot list the models: %w", err)
	}
	var all []Model
	for _, name := range names {
		model, err := m.Find(name)
		if errors.Is(err, ErrUnknown) { // removed in the meantime
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, *model)
	}
	return all, nil
}

// names returns the names of the models of the folder, sorted.
func (m *Models) names() (names []string, err error) {
	entries, err := os.ReadDir(m.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if name, found := strings.CutSuffix(entry.Name(), extension); found && validName(name) && !entry.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// Find returns the model of a name. A model that nothing can run has a Problem, which is not an
// error.
func (m *Models) Find(name string) (*Model, error) {
	if !validName(name) {
		return nil, m.errUnknown(name)
	}
	model := &Model{Name: name, Path: m.path(name)}
	info, err := os.Stat(model.Path)
	if err != nil {
		return m.unreadable(model, err)
	}
	model.Size = info.Size()
	if n, err := m.note(name); err == nil && n.Size == model.Size {
		model.Source, model.SHA256, model.Installed = n.Source, n.SHA256, n.Installed
		model.Known = knownModel(n.Known, n.SHA256)
	}
	if err := model.judge(model.Path); err != nil {
		model.Problem = err.Error()
	}
	return model, nil
}

// unreadable returns a model that is a broken link, and otherwise an error.
func (m *Models) unreadable(model *Model, why error) (*Model, error) {
	missing := errors.Is(why, fs.ErrNotExist)
	if _, err := os.Readlink(model.Path); err == nil {
		what := "a file that emberd cannot read"
		if missing {
			what = "a missing file"
		}
		model.Problem = fmt.Sprintf("%s is a link to %s; correct the link, or run: emberd model remove %s", model.Path,
			what, model.Name)
		return model, nil
	}
	if missing {
		return nil, m.errUnknown(model.Name)
	}
	return nil, fmt.Errorf("cannot read model %s: %w", model.Name, why)
}

// judge reads the header of the file at a path, and returns why nothing can run it.
func (model *Model) judge(path string) error {
	f, err := gguf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var facts *gguf.Facts
	native, err := f.Native()
	if err == nil {
		facts, model.Engines = native, append(model.Engines, Llama)
	}
	if own, err := f.BERT(); err == nil && runsInGo(f, own) {
		facts, model.Engines = own, append(model.Engines, Go)
	}
	if facts == nil {
		return err
	}
	model.Licence = facts.Licence
	model.Title, model.Dim, model.MaxTokens = facts.Name, facts.Dim, facts.Context
	model.Pooling, model.Weights = facts.Pooling.String(), facts.Weights.String()
	return nil
}

// runsInGo reports whether bert.Preflight accepts a file, without reading all of it for its
// digest as that does. A test holds the two together.
func runsInGo(f *gguf.File, facts *gguf.Facts) bool {
	return facts.Tokenizer == "bert" && facts.Pooling != gguf.Last && f.Readable() == nil
}

// errUnknown returns ErrUnknown with the name that the user probably wanted.
func (m *Models) errUnknown(name string) error {
	names, err := m.names()
	if best := spelling.Meant(name, names); err == nil && best != "" {
		return problemf(ErrUnknown, "model %q not found; did you mean %s?", name, best)
	}
	return problemf(ErrUnknown, "model %q not found; run: emberd model list", name)
}

// Verify reads all of a model's file and returns the model with its digest. A digest or size that
// differs from the installed one is an error, and so is a file that nothing can run. A file that
// the user put there has no digest to compare with: it is the published one only if it is Known.
func (m *Models) Verify(ctx context.Context, name string, progress Progress) (*Model, error) {
	model, err := m.Find(name)
	if err != nil {
		return nil, err
	}
	const again = "the file changed after the installation; " +
		"to install the model again, use emberd model install --replace"
	want := model.SHA256
	n, err := m.note(name)
	if err == nil && n.Size != model.Size && model.Size > 0 {
		return model, fmt.Errorf("model %s has %d bytes instead of %d: %s", name, model.Size, n.Size, again)
	}
	if model.Problem != "" {
		return model, errors.New(model.Problem)
	}
	if model.SHA256, _, err = digestOf(ctx, model.Path, progress); err != nil {
		return model, err
	}
	if want != "" && model.SHA256 != want {
		return model, fmt.Errorf("model %s has the SHA-256 %s instead of %s: %s", name, model.SHA256, want, again)
	}
	model.Known = knownModel("", model.SHA256)
	if model.Known == nil && n != nil && n.SHA256 == model.SHA256 {
		model.Known = knownWeights(n.Weights)
	}
	return model, nil
}

// Remove removes a model; of a link only the link. It refuses the file inUse, which may be empty,
// with [ErrInUse].
func (m *Models) Remove(name, inUse string) error {
	path := m.path(name)
	if info, err := os.Lstat(path); !validName(name) || err != nil || info.IsDir() {
		return m.errUnknown(name)
	}
	if inUse != "" && same(path, inUse) {
		return problemf(ErrInUse, "model %s is in use; select another model first, or use --force to remove it anyway",
			name)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("cannot remove model %s: %w", name, err)
	}
	return errors.Join(removeFile(m.notePath(name)), durable.OS{}.SyncDir(m.folder))
}

// same reports whether two paths are one file.
func same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (m *Models) path(name string) string { return filepath.Join(m.folder, name+extension) }

func (m *Models) notePath(name string) string { return filepath.Join(m.folder, name+".json") }

func (m *Models) note(name string) (*note, error) {
	data, err := durable.ReadAll(durable.OS{}, m.notePath(name))
	if err != nil {
		return nil, err
	}
	var n note
	if err := json.Unmarshal(data, &n); err != nil {
		return nil, fmt.Errorf("cannot read the description of model %s: %w", name, err)
	}
	return &n, nil
}

// modelName matches names that are valid on every disk and in a config file.
var modelName = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$`)

func validName(name string) bool { return modelName().MatchString(name) }

// Package models keeps embedding models in a folder, and knows some that are worth having.
//
//	FOLDER/NAME.gguf    a model, which may be a link to one
//	FOLDER/NAME.json    where it came from and its SHA-256, if emberd installed it
//
// # What holds
//
// The name of a model means the whole file or none: it arrives beside its place, is compared
// with its SHA-256, judged by package gguf as the engines would judge it, and only then gets
// its name (see package fetch). What no engine can run is not kept. A file that a person put
// into the folder is a model like any other; there is just nothing to compare it with, unless
// it is one of the [Catalogue].
//
// Nothing is downloaded but from an address that a person gave, with the digest that it must
// have, or a model of the catalogue that a person asked for by its name.
//
// Models may be used by several goroutines and processes: the disk is read each time.
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
	"regexp"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/fetch"
	"emberd/internal/gguf"
	"emberd/internal/spelling"
)

// The causes that a caller may want to tell apart.
var (
	ErrUnknown = errors.New("no model is called")
	ErrTaken   = errors.New("another model has this name")
	ErrInUse   = errors.New("the model is in use")
	ErrName    = errors.New("is no name for a model")
)

const (
	extension = ".gguf"
	// mostBytes is the most that a model file may have. The largest embedding models that
	// are common have a few gigabytes.
	mostBytes = 16 << 30
)

// The engines, as embedding.providers calls them.
const (
	Llama = "llama"
	Go    = "go"
)

// Models are the model files of one folder.
type Models struct{ folder string }

// Open returns the models of a folder, which need not exist.
func Open(folder string) *Models {
	if absolute, err := filepath.Abs(folder); err == nil {
		folder = absolute
	}
	return &Models{folder: folder}
}

// A Model is a model file of the folder.
type Model struct {
	Name      string // the file's name without its ending
	Path      string // absolute
	Size      int64  // bytes
	SHA256    string // as it was installed or, from Verify and Install, as it is; else empty
	Source    string // where it came from, without secrets; empty if nobody wrote it down
	Installed time.Time
	Known     *Known // the model of the catalogue that it was installed as, or is by its digest

	// What the file says of itself, if it can be read.
	Title     string // as its maker calls it
	Dim       int
	MaxTokens int
	Pooling   string // mean, cls or last
	Weights   string // how its numbers are written, such as Q8_0

	Engines []string // that can run it, [Llama] first; none where Problem says why
	Problem string   // one sentence, with what to do
}

// A note is what is written beside a model.
type note struct {
	Source    string    `json:"source"`
	SHA256    string    `json:"sha256"`
	Size      int64     `json:"size"`
	Known     string    `json:"known,omitempty"` // its name in the catalogue
	Installed time.Time `json:"installed"`
}

// List lists the models by name. Each file's header is read, which takes some milliseconds.
func (m *Models) List() ([]Model, error) {
	entries, err := os.ReadDir(m.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list models: %w", err)
	}
	var all []Model
	for _, entry := range entries {
		name, found := strings.CutSuffix(entry.Name(), extension)
		if !found || !validName(name) || entry.IsDir() {
			continue
		}
		model, err := m.Find(name)
		if errors.Is(err, ErrUnknown) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, *model)
	}
	return all, nil
}

// Find is the model of that name. One that no engine can run has a Problem, and is no error.
func (m *Models) Find(name string) (*Model, error) {
	if !validName(name) {
		return nil, m.unknown(name)
	}
	model := &Model{Name: name, Path: m.path(name)}
	info, err := os.Stat(model.Path)
	if err != nil {
		return m.unfound(model, err)
	}
	model.Size = info.Size()
	if n, err := m.note(name); err == nil && n.Size == model.Size {
		model.Source, model.SHA256, model.Installed = n.Source, n.SHA256, n.Installed
		model.Known = known(n.Known, n.SHA256)
	}
	if err := model.judge(model.Path); err != nil {
		model.Problem = err.Error()
	}
	return model, nil
}

// unfound is a model whose file nothing was learnt of: it is a link that leads nowhere, or there
// is none.
func (m *Models) unfound(model *Model, why error) (*Model, error) {
	_, err := os.Readlink(model.Path)
	switch missing := errors.Is(why, fs.ErrNotExist); {
	case err == nil && missing:
		model.Problem = fmt.Sprintf("%s is a link to a file that is not there: remove it with emberd model remove %s", model.Path, model.Name)
		return model, nil
	case err == nil:
		if failed, ok := errors.AsType[*fs.PathError](why); ok {
			why = failed.Err // its path is told already
		}
		model.Problem = fmt.Sprintf("%s is a link to what cannot be examined (%v): mend that, or remove it with emberd model remove %s", model.Path, why, model.Name)
		return model, nil
	case missing:
		return nil, m.unknown(model.Name)
	}
	return nil, fmt.Errorf("find model %s: %w", model.Name, why)
}

// judge reads the header of the file at a path, and says why no engine can run it.
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
	model.Title, model.Dim, model.MaxTokens = facts.Name, facts.Dim, facts.Context
	model.Pooling, model.Weights = facts.Pooling.String(), facts.Weights.String()
	return nil
}

// runsInGo is what bert.Preflight says of a file, which reads all of it for its digest. A test
// holds the two together.
func runsInGo(f *gguf.File, facts *gguf.Facts) bool {
	return facts.Tokenizer == "bert" && facts.Pooling != gguf.Last && f.Readable() == nil
}

// unknown is ErrUnknown, with a name that was perhaps meant.
func (m *Models) unknown(name string) error {
	entries, err := os.ReadDir(m.folder)
	if err != nil {
		entries = nil // then there is nothing to propose
	}
	var names []string
	for _, entry := range entries {
		if there, found := strings.CutSuffix(entry.Name(), extension); found {
			names = append(names, there)
		}
	}
	if best := spelling.Meant(name, names); best != "" {
		return fmt.Errorf("%w %q; did you mean %s?", ErrUnknown, name, best)
	}
	return fmt.Errorf("%w %q; emberd model list shows those there are", ErrUnknown, name)
}

// Verify reads all of a model's file, and returns the model with the digest that it has. It is
// an error if that is not the one that was installed, or if no engine can run the file. Of a
// file that a person put there nobody wrote down a digest; then Source is empty, and the file
// is what was published only if it is Known.
func (m *Models) Verify(ctx context.Context, name string, progress func(done, total int64)) (*Model, error) {
	model, err := m.Find(name)
	if err != nil {
		return nil, err
	}
	want := model.SHA256
	if n, err := m.note(name); err == nil && n.Size != model.Size && model.Size > 0 {
		return model, fmt.Errorf("model %s has %d bytes and had %d when it was installed: install it again with emberd model install --replace", name, model.Size, n.Size)
	}
	if model.Problem != "" {
		return model, errors.New(model.Problem)
	}
	if model.SHA256, err = digestOf(ctx, model.Path, model.Size, progress); err != nil {
		return model, err
	}
	if want != "" && model.SHA256 != want {
		return model, fmt.Errorf("model %s has the SHA-256 %s and had %s when it was installed: install it again with emberd model install --replace", name, model.SHA256, want)
	}
	model.Known = known("", model.SHA256)
	return model, nil
}

// Remove removes a model, of a link the link alone, and what a download of that name that broke
// off has left. It is refused for the file that inUse names, [ErrInUse], which may be empty.
func (m *Models) Remove(name, inUse string) error {
	if !validName(name) {
		return m.unknown(name)
	}
	path := m.path(name)
	info, err := os.Lstat(path)
	there := err == nil && !info.IsDir()
	if there && inUse != "" && same(path, inUse) {
		return fmt.Errorf("%w: embedding.model is %s; emberd model use chooses another one", ErrInUse, inUse)
	}
	partly, err := fetch.Forget(path)
	switch {
	case err != nil:
		return err
	case !there && partly:
		return nil
	case !there:
		return m.unknown(name)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove model %s: %w", name, err)
	}
	return errors.Join(removeFile(m.notePath(name)), durable.OS{}.SyncDir(m.folder))
}

// same reports whether two paths mean one file.
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
		return nil, fmt.Errorf("read what model %s is: %w", name, err)
	}
	return &n, nil
}

// nameRule keeps names to what is one on every disk and in a config file.
var nameRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$`)

func validName(name string) bool { return nameRule.MatchString(name) }

// known is the model of the catalogue of that name or, if it has none, digest.
func known(name, sha256 string) *Known {
	all := Catalogue()
	i := slices.IndexFunc(all, func(k Known) bool { return k.Name == name || k.SHA256 == cmp.Or(sha256, "-") })
	if i < 0 {
		return nil
	}
	return &all[i]
}

package embedding

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"emberd/internal/gguf"
)

// knownFile is a model's file as it was read last, which may be another one by now.
type knownFile struct {
	path  string
	check func(path string) (*gguf.Facts, error) // whether an engine can use it

	mu      sync.Mutex  // never held while the file is read
	seen    os.FileInfo // the file that these two are of, nil if none
	facts   *gguf.Facts
	refused error // why it cannot be used
}

// awaits reports whether vectors of an identity came from this file, by whatever engine:
// its disk may only not be there yet.
func (f *knownFile) awaits(id Identity) bool {
	return (id.Provider == Go || id.Provider == Llama) && id.Path == f.path
}

// identity reads the file's description and its checksum, unless that was done.
func (f *knownFile) identity(provider string, maxTokens int, prefix string) (Identity, error) {
	facts, err := f.describe()
	if err != nil {
		return Identity{}, err
	}
	id := Identity{
		Provider: provider, Model: facts.Name, SHA256: facts.SHA256, Path: f.path, Pooling: facts.Pooling.String(),
		MaxTokens: min(maxTokens, facts.Context), Dim: facts.Dim, Prefix: prefix,
	}
	if id.Model == "" {
		id.Model = filepath.Base(f.path)
	}
	return id, nil
}

func (f *knownFile) describe() (*gguf.Facts, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, f.unread(err)
	}
	f.mu.Lock()
	facts, refused, known := f.facts, f.refused, f.seen != nil && untouched(f.seen, info)
	f.mu.Unlock()
	if known {
		return facts, refused
	}
	facts, refused = f.check(f.path)
	if _, ok := errors.AsType[*gguf.RefusedError](refused); refused != nil && !ok {
		return nil, f.unread(refused)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen, f.facts, f.refused = info, facts, refused
	return facts, refused
}

// isOf reports whether the file, when it was read last, was that of an identity.
func (f *knownFile) isOf(id Identity) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.facts != nil && f.facts.SHA256 == id.SHA256
}

// touched reports whether the file is not what was read last.
func (f *knownFile) touched() bool {
	info, err := os.Stat(f.path)
	f.mu.Lock()
	defer f.mu.Unlock()
	return err != nil || f.seen == nil || !untouched(f.seen, info)
}

// refuse remembers that the file as it was read last cannot be used.
func (f *knownFile) refuse(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = why
}

// found records the checksum of the file that a caller just read.
func (f *knownFile) found(sha256 string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.facts != nil && f.facts.SHA256 != sha256 {
		f.seen, f.facts = nil, nil // it was replaced in the meantime
	}
}

// replaced is the error of a file that is not the one of an identity any more.
func (f *knownFile) replaced(id Identity) error {
	return fmt.Errorf("%w: another file replaced %s after the model %s computed the earlier embeddings", ErrChanged,
		f.path, id.Model)
}

// untouched reports whether a file is what it was before.
func untouched(before, now os.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// unread is the error of a file that cannot be read just now.
func (f *knownFile) unread(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the model file %s %w: not found; restore it, or set another file in embedding.model", f.path,
			ErrAway)
	}
	if lost, ok := errors.AsType[*fs.PathError](err); ok {
		err = lost.Err // its path is told already
	}
	return fmt.Errorf("the model file %s %w: %w; fix the cause, or set another file in embedding.model", f.path,
		ErrAway, err)
}

package engines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
)

// An Engine is what engine.json says of an installed engine.
type Engine struct {
	Name     string    `json:"name"`
	Release  string    `json:"release,omitempty"` // such as v0.5.0 or b8390; "" if nothing tells
	System   string    `json:"system,omitempty"`  // what llama.cpp told of the processor when it was installed
	Backends []string  `json:"backends,omitempty"`
	Warning  string    `json:"warning,omitempty"` // that it is older than what was tested, or unknown
	Source   string    `json:"source"`            // where it came from, without secrets
	SHA256   string    `json:"sha256,omitempty"`  // of the archive
	Known    bool      `json:"known,omitempty"`   // the archive is one of [KnownArchives]
	Linked   string    `json:"linked,omitempty"`  // the directory where the libraries stay
	Files    []File    `json:"files,omitempty"`   // by name; none of a linked engine
	Added    time.Time `json:"installed"`

	// Dir is the absolute path of the directory with the libraries.
	Dir string `json:"-"`
}

// A File is one file of an engine.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"` // bytes
	SHA256 string `json:"sha256,omitempty"`
	Link   string `json:"link,omitempty"` // what a symbolic link points at
}

// Bytes is how much room the engine's files take.
func (e *Engine) Bytes() (n int64) {
	for _, f := range e.Files {
		n += f.Size
	}
	return n
}

// read reads what engine.json says of the engine of a name.
func (e *Engines) read(name string) (*Engine, error) {
	dir := filepath.Join(e.folder, name)
	data, err := durable.ReadAll(durable.OS{}, filepath.Join(dir, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s was not installed by emberd: emberd engine install %[1]s makes an engine of it under another name, emberd engine remove %s removes it: %w", dir, name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read what engine %s is: %w", name, err)
	}
	var engine Engine
	if err := json.Unmarshal(data, &engine); err != nil || engine.Linked != "" && !filepath.IsAbs(engine.Linked) {
		return nil, fmt.Errorf("what is written of engine %s in %s cannot be read: install it again", name, recordName)
	}
	engine.Name, engine.Dir = name, dir
	if engine.Linked != "" {
		engine.Dir = engine.Linked
	}
	return &engine, nil
}

// record writes engine.json into a directory.
func record(dir string, engine *Engine) error {
	data, err := json.MarshalIndent(engine, "", "  ")
	if err != nil {
		return err
	}
	return durable.ReplaceFile(durable.OS{}, filepath.Join(dir, recordName), append(data, '\n'))
}

// intact says in one sentence why an engine is not what was installed, by its names and sizes.
func (e *Engines) intact(engine *Engine) error {
	if err := checkOwner(e.folder); err != nil { // or others could put another engine there
		return err
	}
	if engine.Linked == "" {
		if err := e.sameNames(engine); err != nil {
			return err
		}
	}
	if err := check(engine.Dir, e.machine); err != nil {
		return fmt.Errorf("engine %s: %w", engine.Name, err)
	}
	return nil
}

// sameNames compares the directory with the record. A file more counts, too: ggml loads
// whatever is called like a backend.
func (e *Engines) sameNames(engine *Engine) error {
	entries, err := os.ReadDir(engine.Dir)
	if err != nil {
		return fmt.Errorf("engine %s cannot be read: %w", engine.Name, err)
	}
	for _, entry := range entries {
		if entry.Name() != recordName && !slices.ContainsFunc(engine.Files, func(f File) bool { return f.Name == entry.Name() }) {
			return changed(engine, entry.Name(), "was not installed with it")
		}
	}
	for _, f := range engine.Files {
		if err := sameFile(engine, f); err != nil {
			return err
		}
	}
	return nil
}

func sameFile(engine *Engine, f File) error {
	name := filepath.Join(engine.Dir, f.Name)
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return changed(engine, f.Name, "is missing")
	}
	if err != nil {
		return fmt.Errorf("engine %s cannot be read: %w", engine.Name, err)
	}
	if f.Link != "" {
		if target, err := os.Readlink(name); err != nil || target != f.Link {
			return changed(engine, f.Name, "is not the link that was installed")
		}
		return nil
	}
	if !info.Mode().IsRegular() {
		return changed(engine, f.Name, "is not the file that was installed")
	}
	if info.Size() != f.Size {
		return changed(engine, f.Name, fmt.Sprintf("has %d bytes and had %d", info.Size(), f.Size))
	}
	return nil
}

func changed(engine *Engine, file, how string) error {
	return fmt.Errorf("engine %s is not what was installed: %s %s; install it again with --replace", engine.Name, file, how)
}

// Verify reads all files of an engine and compares them with what was installed, byte for byte.
// Of a linked engine there is nothing to compare with, and it is only checked as Current does.
func (e *Engines) Verify(ctx context.Context, name string) (*Engine, error) {
	engine, err := e.Find(name)
	if err != nil {
		return nil, err
	}
	if err := e.intact(engine); err != nil {
		return engine, err
	}
	for _, f := range engine.Files {
		if f.Link != "" {
			continue
		}
		digest, _, err := digestOf(ctx, filepath.Join(engine.Dir, f.Name))
		if err != nil {
			return engine, err
		}
		if digest != f.SHA256 {
			return engine, changed(engine, f.Name, "has other bytes")
		}
	}
	return engine, nil
}

// filesOf describes what a directory holds.
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
			f.SHA256, f.Size, err = digestOf(ctx, name)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// digestOf is the SHA-256 of a file in hex, and its size.
func digestOf(ctx context.Context, name string) (digest string, size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err = io.Copy(sum, interruptible{ctx.Err, f})
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

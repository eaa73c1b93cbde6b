// Package gguf reads model files in the GGUF format of ggml and llama.cpp, versions 2 and 3,
// and says which of them are embedding models that can be trusted to an engine.
//
// The format is that of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md: the four
// bytes "GGUF", a version, the numbers of tensors and of keys, the keys with their values,
// the names, shapes and places of the tensors, and, from the next multiple of the alignment
// on, their data. Everything is little endian.
//
// # What holds
//
// A model file comes from elsewhere, so nothing it says is believed. Every count and length is
// measured against what the file still holds before memory is taken for it, and against a
// bound that no model comes near; every tensor lies inside the file, aligned, and apart from
// the others. [Open] reads the header once and keeps it, so the memory it takes is a small
// multiple of the header's size and never more than the bounds justify. [File.BERT] then
// checks what a forward pass relies on: keys, vocabulary, shapes. llama.cpp takes other models
// too, and ends its process on several of the files that [File.Native] refuses, so no file
// should reach it unchecked.
//
// Tensors are read and not mapped: a file that is cut while it is in use gives an error, where
// a mapping would kill the process.
//
// # Sharing
//
// A File may be used by any number of goroutines. What its methods return belongs to the
// caller, except the strings of [File.Strings], which are the file's own and not to be changed.
package gguf

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// A File is a model file whose header was read and found consistent.
type File struct {
	path string
	file *os.File
	size int64
	sum  func() (string, error)

	meta    map[string]any // by key: uint64, int64, float64, bool, string, []string or array
	tensors map[string]Tensor
}

// Open reads the header of a model file. A file that breaks a rule of the format is a
// [RefusedError]; one that cannot be read is an error of the system.
func Open(path string) (*File, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, file: file, size: size}
	f.sum = sync.OnceValues(f.digest)
	if err := f.readHeader(); err != nil {
		file.Close() // only read from
		return nil, f.explain(err)
	}
	return f, nil
}

// openRegular asks before it opens, for what is no file, such as a pipe, may make it wait.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot open the model file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &RefusedError{Path: path, Problem: "not a regular file", Remedy: pathRemedy}
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot open the model file: %w", err)
	}
	if info, err = file.Stat(); err != nil {
		file.Close() // only read from
		return nil, 0, fmt.Errorf("cannot open the model file: %w", err)
	}
	return file, info.Size(), nil
}

// Close releases the file. Tensors cannot be read after it.
func (f *File) Close() error { return f.file.Close() }

// SHA256 is the digest of the whole file in lower-case hex. The first call reads the file;
// those after it return what that found.
func (f *File) SHA256() (string, error) { return f.sum() }

func (f *File) digest() (string, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(f.file, 0, f.size))
	if err != nil {
		return "", fmt.Errorf("cannot read model file %s: %w", f.path, err)
	}
	if n < f.size {
		return "", f.explain(damaged("the size of the file changed from %d to %d bytes while emberd used the file",
			f.size, n))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// String is the value of a key that is a string.
func (f *File) String(key string) (string, bool) {
	v, ok := f.meta[key].(string)
	return v, ok
}

// Uint is the value of a key that is an integer of any width, and not negative.
func (f *File) Uint(key string) (uint64, bool) {
	switch v := f.meta[key].(type) {
	case uint64:
		return v, true
	case int64:
		return uint64(v), v >= 0
	default:
		return 0, false
	}
}

// Float is the value of a key that is a floating-point number.
func (f *File) Float(key string) (float64, bool) {
	v, ok := f.meta[key].(float64)
	return v, ok
}

// Bool is the value of a key that is true or false.
func (f *File) Bool(key string) (value, ok bool) {
	value, ok = f.meta[key].(bool)
	return value, ok
}

// Strings is the value of a key that is an array of strings.
func (f *File) Strings(key string) ([]string, bool) {
	v, ok := f.meta[key].([]string)
	return v, ok
}

// Tensor is the tensor of that name.
func (f *File) Tensor(name string) (Tensor, bool) {
	t, ok := f.tensors[name]
	return t, ok
}

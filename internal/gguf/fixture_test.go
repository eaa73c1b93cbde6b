package gguf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// small is a model with two layers whose file has 29 KB.
func small() *tinybert.Model {
	spec := tinybert.Tiny()
	spec.Context, spec.Type = 8, tinybert.Q8_0
	return tinybert.New(spec)
}

// set gives a key a value, in its place or as the last.
func set(m *tinybert.Model, key string, value any) {
	drop(m, key)
	m.Meta = append(m.Meta, tinybert.Meta{Key: key, Value: value})
}

func drop(m *tinybert.Model, key string) {
	m.Meta = slices.DeleteFunc(m.Meta, func(kv tinybert.Meta) bool { return kv.Key == key })
}

// tensor is where a model has the tensor of that name.
func tensor(m *tinybert.Model, name string) *tinybert.Tensor {
	return &m.Tensors[slices.IndexFunc(m.Tensors, func(t tinybert.Tensor) bool { return t.Name == name })]
}

func dropTensor(m *tinybert.Model, name string) {
	m.Tensors = slices.DeleteFunc(m.Tensors, func(t tinybert.Tensor) bool { return t.Name == name })
}

func contents(t testing.TB, m *tinybert.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// file is a new file with those contents.
func file(t testing.TB, contents []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantRefused checks that a file is refused for the problem, in words.
func wantRefused(t *testing.T, path, problem string) {
	t.Helper()
	_, err := gguf.Preflight(path)
	refused, ok := errors.AsType[*gguf.RefusedError](err)
	if !ok {
		t.Fatalf("got %v, want it refused: %s", err, problem)
	}
	if got := refused.Problem + "; " + refused.Remedy; got != problem || refused.Path != path {
		t.Errorf("%s\n got %s\nwant %s", refused.Path, got, problem)
	}
}

// A header is written down number by number.
type header []byte

func begin() header { return header("GGUF").uint32(3) }

func (h header) uint32(n uint32) header { return binary.LittleEndian.AppendUint32(h, n) }
func (h header) uint64(n uint64) header { return binary.LittleEndian.AppendUint64(h, n) }
func (h header) string(s string) header { return append(h.uint64(uint64(len(s))), s...) }
func (h header) room(n int) header      { return append(h, make([]byte, n)...) }

// tensors is a header of so many tensors, and no key.
func tensors(n uint64) header { return begin().uint64(n).uint64(0) }

// key is a header of no tensor and one key, whose value is of that type.
func key(name string, kind uint32) header {
	return begin().uint64(0).uint64(1).string(name).uint32(kind)
}

// info describes an F32 tensor.
func (h header) info(name string, offset uint64, dims ...uint64) header {
	h = h.string(name).uint32(uint32(len(dims)))
	for _, n := range dims {
		h = h.uint64(n)
	}
	return h.uint32(uint32(gguf.F32)).uint64(offset)
}

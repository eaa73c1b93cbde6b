package gguf_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// least is a model with a file of some 3,000 bytes.
func least() *tinybert.Model {
	return tinybert.New(tinybert.Spec{Layers: 1, Dim: 2, Heads: 1, FeedForward: 2, Context: 3, Pooling: 1, Tokens: []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}})
}

// wantSoundOrRefused checks that a file with those contents is a model whose numbers can be
// read, or refused.
func wantSoundOrRefused(t *testing.T, path string, contents []byte) {
	t.Helper()
	if err := os.WriteFile(path, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	err := readAll(path)
	if _, refused := errors.AsType[*gguf.RefusedError](err); err != nil && !refused {
		t.Errorf("got %v, want a file that is fine or refused", err)
	}
}

// A model that is overwritten in one place, and cut.
func FuzzPreflight(f *testing.F) {
	whole := contents(f, least())
	path := filepath.Join(f.TempDir(), "model.gguf")
	f.Fuzz(func(t *testing.T, at uint16, over []byte, size uint16) {
		changed := append([]byte(nil), whole...)
		copy(changed[int(at)%len(changed):], over)
		wantSoundOrRefused(t, path, changed[:min(int(size), len(changed))])
	})
}

// What may follow the magic and the version.
func FuzzHeader(f *testing.F) {
	path := filepath.Join(f.TempDir(), "model.gguf")
	f.Fuzz(func(t *testing.T, rest []byte) {
		wantSoundOrRefused(t, path, append(begin(), rest...))
	})
}

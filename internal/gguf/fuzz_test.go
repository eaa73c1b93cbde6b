package gguf_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// least is a model whose file is small enough to be mutated as a whole.
func least() *tinybert.Model {
	return tinybert.New(tinybert.Spec{Layers: 1, Dim: 2, Heads: 1, FeedForward: 2, Context: 3, Pooling: 1, Tokens: []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}})
}

// Any bytes are a model that can be read, or refused.
func FuzzPreflight(f *testing.F) {
	f.Add(contents(f, least()))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, contents []byte) {
		path := filepath.Join(dir, "model.gguf")
		if err := os.WriteFile(path, contents, 0o600); err != nil {
			t.Fatal(err)
		}
		err := readAll(path)
		if _, refused := errors.AsType[*gguf.RefusedError](err); err != nil && !refused {
			t.Errorf("got %v, want a file that is fine or refused", err)
		}
	})
}

package bert

import (
	"path/filepath"
	"slices"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// tinyTokenizer is that of the tiny model.
func tinyTokenizer(t testing.TB) *Tokenizer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := tinybert.New(tinybert.Tiny()).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	facts, err := f.BERT()
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := newTokenizer(f, facts)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// The golden tokens are llama.cpp's.
func TestGoldenTokens(t *testing.T) {
	tokenizer := tinyTokenizer(t)
	for text, want := range map[string][]int32{
		"note memory search": {2, 133, 135, 140, 3},
		"":                   {2, 3},
	} {
		if got := tokenizer.Tokens(text, 0); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

package wordpiece

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/testutil/trainedtest"
)

// The tokens of the trained model are those of its makers' tokenizer: testdata/tokens.jsonl was written by the Python
// package tokenizers 0.23.3 with the model's tokenizer.json, up to 256 tokens and with encode_special_tokens.
func TestTokensOfTheTrainedModel(t *testing.T) {
	tokenizer := trained(t)
	data, err := os.ReadFile("testdata/tokens.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var want struct {
			Text   string
			Tokens []int32
		}
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		if got := tokenizer.Tokens(want.Text, 256); !slices.Equal(got, want.Tokens) {
			t.Errorf("%q: got %v, want %v", want.Text, got, want.Tokens)
		}
	}
}

// A text that is too long keeps its beginning, and the mark of its end.
func TestTokensOfALongText(t *testing.T) {
	tokens := trained(t).Tokens(strings.Repeat("memory ", 3000), 256)
	want := append(append([]int32{101}, slices.Repeat([]int32{3638}, 254)...), 102)
	if !slices.Equal(tokens, want) {
		t.Errorf("got %v, want 101, 254 times 3638, and 102", tokens)
	}
}

func trained(t *testing.T) *Tokenizer {
	t.Helper()
	f, err := gguf.Open(trainedtest.File(t, "F32"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	facts, err := f.BERT()
	if err != nil {
		t.Fatal(err)
	}
	return New(f, facts)
}

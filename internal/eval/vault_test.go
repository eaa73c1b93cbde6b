package eval_test

import (
	"path/filepath"
	"slices"
	"testing"

	"emberd/internal/eval"
	"emberd/vault"
)

func TestKnownItems(t *testing.T) {
	t.Parallel()
	v, err := vault.Open(filepath.Join("..", "..", "testdata", "eval", "manual", "vault"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	got, err := eval.KnownItems(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	want := []eval.Item{
		{Kind: eval.Title, Text: "Rust", Note: "Care/Rust.md"},
		{Kind: eval.Alias, Text: "oil", Note: "Care/Rust.md"},
		{Kind: eval.Heading, Text: "Rust", Note: "Care/Rust.md"},
		{Kind: eval.Title, Text: "Sharpening", Note: "Care/Sharpening.md"},
		{Kind: eval.Alias, Text: "whetting", Note: "Care/Sharpening.md"},
		{Kind: eval.Heading, Text: "Sharpening", Note: "Care/Sharpening.md"},
		{Kind: eval.Heading, Text: "Which stone", Note: "Care/Sharpening.md"},
		{Kind: eval.Title, Text: "Handles", Note: "Handles.md"},
		{Kind: eval.Heading, Text: "Handles", Note: "Handles.md"},
		{Kind: eval.Heading, Text: "Which stone", Note: "Handles.md"},
		{Kind: eval.Link, Text: "sharpen it", Note: "Care/Sharpening.md"},
		{Kind: eval.Link, Text: "rust stains", Note: "Care/Rust.md"},
		{Kind: eval.Link, Text: "stains", Note: "Care/Rust.md"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("items\n%+v\nwant\n%+v", got, want)
	}
}

package eval_test

import (
	"os"
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

// A search excludes the lists that emberd writes, so that their words ask for nothing.
func TestKnownItemsAreNotOfLists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Index.md":  "---\nemberd: \"index\"\n---\n## Everything else\n\n[[Soil|the ground]]\n",
		"Broken.md": "---\na: [\n---\n<!-- emberd:core -->\n## Core\n<!-- /emberd:core -->\n",
		"Soil.md":   "## Compost\n\n[[Index|all of it]]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vault.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	got, err := eval.KnownItems(t.Context(), v)
	want := []eval.Item{{Kind: eval.Title, Text: "Soil", Note: "Soil.md"},
		{Kind: eval.Heading, Text: "Compost", Note: "Soil.md"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("items %+v, %v; want %+v", got, err, want)
	}
}

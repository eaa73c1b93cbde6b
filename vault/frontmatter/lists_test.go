package frontmatter_test

import (
	"slices"
	"testing"

	"emberd/vault/frontmatter"
)

func TestListsOfProperties(t *testing.T) {
	for _, c := range []struct {
		yaml  string
		items []string
		read  bool
	}{
		{"other: {b: c}", nil, true},
		{"a: x", []string{"x"}, true},
		{"A: x", []string{"x"}, true}, // Obsidian takes it for the same
		{"a: \"[[X|y]]\"", []string{"[[X|y]]"}, true},
		{"a: [[X]]", []string{"[[X]]"}, true},
		{"a: [[X, Y]]", []string{"[[X, Y]]"}, true},
		{"a:\n  - [[X]]\n  - \"[[Y]]\"\n  - z", []string{"[[X]]", "[[Y]]", "z"}, true},
		{"a:", nil, true},
		{"a: []", nil, true},
		{"a: \"\"", nil, true},
		{"a: {b: c}", nil, false},
		{"a: [{b: c}]", nil, false},
		{"a: [[[[X]]]]", nil, false},
		{"a: &x [b]", nil, false},
	} {
		got, err := frontmatter.Lists([]byte("---\n"+c.yaml+"\n---\ntext\n"), "a")
		if (err == nil) != c.read || !slices.Equal(got["a"], c.items) {
			t.Errorf("%q has %q, %v, want %q, %v", c.yaml, got["a"], err, c.items, c.read)
		}
	}
	if _, err := frontmatter.Lists([]byte("---\na: [\n---\n"), "a"); err == nil {
		t.Error("properties that are not valid are read")
	}
}

package frontmatter_test

import (
	"errors"
	"strings"
	"testing"

	"emberd/vault/frontmatter"
)

// With KeepComments a value with a comment inside is neither replaced nor removed. A comment behind the key, above
// the property or below it stays anyway.
func TestCommentsInsideAValueStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		yaml  string
		keeps bool // the change is refused
	}{
		{"a:\n  # why\n  - x", true},
		{"a:\n  - x # why", true},
		{"a:\n  - x\n  # why\n  - y", true},
		{"a: [x, # why\n  y]", true},
		{"a: # tail\n  - x # why", true},
		{"a:\r\n  - x # why", true},
		{"a: # why\n  - x", false},
		{"# why\na:\n  - x", false},
		{"a:\n  - x\n# why", false},
		{"a:\n  - x\n  # why", false},
		{"a:\n  - 'x # why'", false},
		{"a:\n  - x\nb: y # why", false},
		{"a: x # why", false},
	} {
		note := []byte("---\n" + c.yaml + "\n---\ntext\n")
		set := frontmatter.Changes{Set: []frontmatter.Field{{Key: "a", Value: frontmatter.List("z")}}, KeepComments: true}
		got, err := set.Apply(note)
		if _, refused := errors.AsType[*frontmatter.EditError](err); refused != c.keeps {
			t.Errorf("%q: %q, %v", c.yaml, got, err)
		}
		if lost := !strings.Contains(string(got), "# why"); !c.keeps && lost && !strings.Contains(c.yaml, "'") {
			t.Errorf("%q has become %q", c.yaml, got)
		}
		unset := frontmatter.Changes{Unset: []string{"a"}, KeepComments: true}
		if got, err = unset.Apply(note); (err != nil) != c.keeps {
			t.Errorf("%q without a: %q, %v", c.yaml, got, err)
		}
	}
}

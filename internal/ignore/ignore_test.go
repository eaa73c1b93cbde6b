package ignore_test

import (
	"strings"
	"testing"

	"emberd/internal/ignore"
)

func TestIgnorePatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"private", "private/a.md", true},
		{"private", "x/private/y/a.md", true},
		{"private", "private.md", false},
		{"*.draft.md", "x/a.draft.md", true},
		{"x/*.md", "x/a.md", true},
		{"x/*.md", "x/y/a.md", false},
		{"/x", "x/a.md", true},
		{"/x", "y/x/a.md", false},
		{"x/**/a.md", "x/a.md", true},
		{"x/**/a.md", "x/y/z/a.md", true},
		{"x/**/b.md", "x/y/z/a.md", false},
		{"**/y/**", "x/y/z/a.md", true},
		{"[ab].md", "b.md", true},
		{"private/", "x/private/y/a.md", true},
		{"a.md/", "x/a.md", false},
		{"/x/", "x/a.md", true},
		{"/x/", "y/x/a.md", false},
	} {
		patterns, err := ignore.Parse([]string{c.pattern})
		if err != nil {
			t.Fatal(err)
		}
		if got := patterns.Match(c.path, false); got != c.want {
			t.Errorf("%s fits %s is %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
	for _, bad := range []string{"", "/", "[", "a//b", "!keep.md"} {
		if _, err := ignore.Parse([]string{bad}); err == nil {
			t.Errorf("the pattern %q is taken", bad)
		}
	}
}

// A pattern of many ** takes no more time than the product of the lengths.
func TestManyStarsTakeLittleTime(t *testing.T) {
	patterns, err := ignore.Parse([]string{strings.Repeat("**/a/", 200) + "b"})
	if err != nil {
		t.Fatal(err)
	}
	if patterns.Match(strings.Repeat("a/", 1000)+"c", false) {
		t.Error("a path without the last element matches")
	}
}

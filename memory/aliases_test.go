package memory

import (
	"slices"
	"strings"
	"testing"
)

func TestNormalizeAliases(t *testing.T) {
	long := strings.Repeat("ß", MaxAlias)
	for name, c := range map[string]struct {
		in, want []string
		code     Code
	}{
		"as they are":         {in: []string{"GH-12", "gh-12", "notes/garden", "42", "Ada Lovelace, countess"}, want: []string{"GH-12", "gh-12", "notes/garden", "42", "Ada Lovelace, countess"}},
		"twice":               {in: []string{"a", " a ", "a"}, want: []string{"a"}},
		"none":                {},
		"the longest":         {in: []string{long}, want: []string{long}},
		"too long":            {in: []string{long + "s"}, code: TooLarge},
		"empty":               {in: []string{"a", "  "}, code: Invalid},
		"two lines":           {in: []string{"a\nb"}, code: Invalid},
		"a terminal's escape": {in: []string{"a\x1b[31m"}, code: Invalid},
		"not UTF-8":           {in: []string{"a\xff"}, code: Invalid},
		"too many":            {in: slices.Repeat([]string{"a"}, MaxAliases+1), code: TooLarge},
	} {
		got, err := NormalizeAliases(c.in)
		if CodeOf(err) != c.code || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q, code %q", name, got, err, c.want, c.code)
		}
	}
}

func TestCheckAliases(t *testing.T) {
	for alias, want := range map[string]Code{"a": "", " a": Invalid, "": Invalid, "a\tb": Invalid} {
		if got := CodeOf(CheckAliases([]string{alias})); got != want {
			t.Errorf("%q: code %q, want %q", alias, got, want)
		}
	}
	if CheckAliases([]string{"a", "b", "a"}) == nil {
		t.Error("a list with an alias twice is taken")
	}
}

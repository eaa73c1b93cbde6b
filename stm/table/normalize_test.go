package table_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"emberd/stm/table"
)

func TestWording(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"The port is 5432", "  the PORT\n is\t5432 ", true},
		{"The port is 5432", "The port is 5433", false},
		{"The port is 5432", "The port is 5432.", false},
		{"The port is 5432", "The port is 54 32", false},
		{"café", "CAFE\u0301", true},
		{"cafe", "cafe\u0301", false},
		{"straße", "STRASSE", true},
		{"300 K", "300 \u212a", true},
		{"a b", "a\u00a0b", true},
		{"", " \n", true},
		{"a", "", false},
		{"", "a", false},
	} {
		if got := table.NormalizeText(c.a).Of(c.b); got != c.same {
			t.Errorf("%q and %q: got %v", c.a, c.b, got)
		}
		if got := table.NormalizeText(c.b).Of(c.a); got != c.same {
			t.Errorf("%q and %q: got %v", c.b, c.a, got)
		}
	}
}

func TestWordingOfAnyTexts(t *testing.T) {
	letters := rapid.SampledFrom([]rune("aAbeE\u0301\u212akK ßs \n\u00a0\t."))
	texts := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(letters, 0, 6).Draw(t, "letters")) })
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		if got, want := table.NormalizeText(a).Of(b), table.NormalizeText(a) == table.NormalizeText(b); got != want {
			t.Fatalf("%q and %q: got %v, want %v", a, b, got, want)
		}
	})
}

// Of texts of ASCII alone the wording is made without tables.
func TestWordingOfASCII(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Hi: unicode.MaxASCII, Stride: 1}}}), 0, 12, -1).Draw(t, "text")
		want := strings.TrimPrefix(string(table.NormalizeText("é "+text)), "é")
		if got := string(table.NormalizeText(text)); got != strings.TrimPrefix(want, " ") {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	})
}

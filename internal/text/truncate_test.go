package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"emberd/internal/text"
)

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		s    string
		max  int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"ab cd", 3, "ab…"},
		{"äöüß", 3, "äöü…"},
		{"ab\u00a0cd", 0, "…"},
		{"abe\u0301d", 3, "ab…"},
		{"👨\u200d👩\u200d👧 family", 3, "👨\u200d👩…"}, // the first letter alone is longer
		{"a👨\u200d👩\u200d👧 family", 3, "a…"},
		{"नमस्ते दुनिया", 5, "नमस्…"},
	} {
		if got := text.Truncate(c.s, c.max); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.s, c.max, got, c.want)
		}
	}
}

func TestFirstBytes(t *testing.T) {
	for _, c := range []struct {
		s    string
		max  int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", -1, ""},
		{"äö", 3, "ä"},
		{"äö", 1, ""},
		{"abe\u0301", 3, "ab"},
		{"one\r\ntwo", 4, "one"},
	} {
		if got := text.FirstBytes(c.s, c.max); got != c.want {
			t.Errorf("FirstBytes(%q, %d) = %q, want %q", c.s, c.max, got, c.want)
		}
	}
}

func TestFirstWords(t *testing.T) {
	for _, c := range []struct {
		s    string
		max  int
		want string
	}{
		{"a short title", 20, "a short title"},
		{"a title, that is too long", 12, "a title"},
		{"a title that", 7, "a title"},
		{"a Donaudampfschifffahrt", 12, "a Donaudampf"},
		{"東京に行った。楽しかった", 5, "東京に行っ"},
	} {
		if got := text.FirstWords(c.s, c.max); got != c.want {
			t.Errorf("FirstWords(%q, %d) = %q, want %q", c.s, c.max, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for s, want := range map[string]string{
		" a\tb\r\n\r\nc ": "a b c",
		"a\x1b[2Kb":       "a [2Kb",
		"a\xffb\u202ec":   "a bc",
		"Zoë 東京":          "Zoë 東京",
	} {
		if got := text.OneLine(s); got != want || !text.IsPrintable(got) {
			t.Errorf("OneLine(%q) = %q, want %q", s, got, want)
		}
	}
	if text.IsPrintable("a\nb") || text.IsPrintable("a\xff") {
		t.Error("a line break or an invalid byte counts as printable")
	}
}

// FuzzFirst checks that what is cut is a beginning within its limit, and ends between
// grapheme clusters unless the first of them is too long.
func FuzzFirst(f *testing.F) {
	f.Add("one \u0600two e\u0301\r\n👨\u200d👩\u200d👧", 7)
	f.Fuzz(func(t *testing.T, s string, max int) {
		for name, first := range map[string]string{
			"First": text.First(s, max), "FirstBytes": text.FirstBytes(s, max), "FirstWords": text.FirstWords(s, max),
		} {
			if !strings.HasPrefix(s, first) || max >= 0 && utf8.RuneCountInString(first) > max || max < 0 && first != "" {
				t.Fatalf("%s(%q, %d) = %q", name, s, max, first)
			}
			if name != "FirstWords" && !clusterEnds(s, len(first)) && uniseg.GraphemeClusterCount(first) > 1 {
				t.Fatalf("%s(%q, %d) = %q ends within a grapheme cluster", name, s, max, first)
			}
		}
		if first := text.FirstBytes(s, max); len(first) > 0 && len(first) > max {
			t.Fatalf("FirstBytes(%q, %d) has %d bytes", s, max, len(first))
		}
	})
}

package lex_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/vault/lex"
)

// anyText draws notes of the pieces that end lines, open code and begin comments.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"a", "\n", "\r\n", "\r", "```", "~~~", "`", "``", "%%", "> ", "- ", "1. ",
		" ", "\t", "\x00", "\xff", "é", "日", "\u2028", "\\", "<!-- "}), rapid.StringN(0, 5, -1))
	return rapid.Map(rapid.SliceOfN(piece, 0, 30), func(all []string) string { return strings.Join(all, "") })
}

// Offsets in a normalized text are those of the note.
func TestNormalizeAndMaskKeepOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(anyText().Draw(t, "text"))
		given := bytes.Clone(text)
		src, bad := lex.Normalize(text)
		if !bytes.Equal(text, given) {
			t.Fatal("Normalize changed its argument")
		}
		if len(src) != len(text) || !utf8.Valid(src) || bytes.ContainsAny(src, "\r\x00") || (bad == 0) != utf8.Valid(text) {
			t.Fatalf("%q became %q with %d bad bytes", text, src, bad)
		}
		masked := bytes.Clone(src)
		lex.MaskComments(masked)
		for i := range src {
			if masked[i] != src[i] && masked[i] != ' ' || (src[i] == '\n') != (masked[i] == '\n') {
				t.Fatalf("%q is masked as %q", src, masked)
			}
		}
	})
}

func TestMaskComments(t *testing.T) {
	for text, want := range map[string]string{
		"a %%b%% c":          "a       c",
		"a %%b":              "a %%b",
		"%%\na\n\nb\n%%\nc":  "  \n \n\n \n  \nc",
		"`%%a%%` b":          "`%%a%%` b",
		"```\n%%a%%\n```\n":  "```\n%%a%%\n```\n",
		"a %%b\n\nc%% d":     "a %%b\n\nc%% d",
		"> %%a%% b":          ">       b",
		`\%%a%% b`:           `\%%a%% b`,
		"%%a%% b %%c%% d\n":  "      b       d\n",
		"no comment 50 % %%": "no comment 50 % %%",
	} {
		src := []byte(text)
		lex.MaskComments(src)
		if string(src) != want {
			t.Errorf("%q is masked as %q, want %q", text, src, want)
		}
	}
}

func TestFences(t *testing.T) {
	for text, want := range map[string]string{
		"```\na\n```\nb":      "ccc.",
		"````\n```\n````\nb":  "ccc.",
		"~~~\n```\n~~~\nb":    "ccc.",
		"```go\na\n``` x\nb":  "cccc",
		"``` a`b\nc":          "..",
		"    ```\na":          "..",
		"```\n    ```\n```\n": "ccc",
		"``\na":               "..",
	} {
		var f lex.Fence
		var got strings.Builder
		for line := range strings.Lines(text) {
			if f.InCode([]byte(line)) {
				got.WriteString("c")
			} else {
				got.WriteString(".")
			}
		}
		if got.String() != want {
			t.Errorf("%q: lines in code %q, want %q", text, got.String(), want)
		}
	}
}

func TestBareIsStable(t *testing.T) {
	if got := lex.Bare("\r\n \n  one\r\ntwo\x07 \rthree \n\n"); got != "  one\ntwo  \nthree" {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		bare := lex.Bare(anyText().Draw(t, "text"))
		if again := lex.Bare(bare); again != bare {
			t.Fatalf("%q, and again %q", bare, again)
		}
	})
}

package query

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// pieces make texts full of what the parser looks at.
func pieces() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", "  ", "\n", "\u3000", `"`, "“", "”", "„", "«", "»", "＂", `\`, "[", "]", ":", "：", "#", "＃", "-", "－", "/", "//",
			"tag:", "path:", "file:", "before:", "after:", "http:", "k", "word", "北京", "7", "7d", "today", "2026-03", "👍",
		}),
		rapid.StringN(0, 3, -1),
	)
}

func texts() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(pieces(), 0, 24), func(s []string) string { return strings.Join(s, "") })
}

// checkStable reports a query whose canonical form is another query.
func checkStable(t rapid.TB, q Query) {
	t.Helper()
	again, err := Parse(q.String(), now)
	if err != nil {
		t.Fatalf("Parse(%q): %v, for %#v", q.String(), err, q)
	}
	if !reflect.DeepEqual(again, q) {
		t.Fatalf("Parse(%q)\n got %#v\nwant %#v", q.String(), again, q)
	}
	if again.String() != q.String() {
		t.Fatalf("canonical form %q becomes %q", q.String(), again.String())
	}
}

func TestStringParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, err := Parse(texts().Draw(t, "text"), now)
		if err != nil {
			t.Skip(err)
		}
		checkStable(t, q)
	})
}

// Filters hold any text, since quotes can.
func TestAnyValueCanBeWritten(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) string {
		v := texts().Filter(func(s string) bool { return utf8.ValidString(s) && path.trim(tag.trim(s)) != "" }).Draw(t, "value")
		return path.trim(tag.trim(v))
	})
	values := rapid.SliceOfN(value, 1, 3)
	filter := rapid.Custom(func(t *rapid.T) Filter {
		return Filter{
			Phrases:    values.Draw(t, "phrases"),
			Tags:       values.Draw(t, "tags"),
			Paths:      values.Draw(t, "paths"),
			Files:      values.Draw(t, "files"),
			Entities:   values.Draw(t, "entities"),
			Properties: []Property{{value.Draw(t, "key"), value.Draw(t, "value")}, {value.Draw(t, "key"), ""}},
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		checkStable(t, Query{
			Words:  "any words",
			Prefix: rapid.Bool().Draw(t, "prefix"),
			Must:   filter.Draw(t, "must"),
			Not:    filter.Draw(t, "not"),
			After:  day(2026, 3, 9),
		})
	})
}

// The advice of every error: put it in quotes to search for it as text.
func TestAnythingInQuotesIsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		if strings.TrimSpace(text) == "" {
			t.Skip("blank")
		}
		q, err := Parse(quote(text), now)
		if want := must(Filter{Phrases: []string{strings.TrimSpace(text)}}); err != nil || !reflect.DeepEqual(q, want) {
			t.Fatalf("Parse(%q) = %#v, %v, want %#v", quote(text), q, err, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text, now)
		if err != nil {
			if msg := err.Error(); msg == "" || strings.ContainsAny(msg, "\n\x1b") {
				t.Fatalf("Parse(%q) = %q, want one printable line", text, msg)
			}
			return
		}
		checkStable(t, q)
	})
}

// The texts that a parser which looks ahead from every opening sign is slow on.
func BenchmarkParse(b *testing.B) {
	const size = 4 << 10
	for _, bb := range []struct{ name, text string }{
		{"usual", `jwt "access token" -draft #auth path:"API docs/" after:7d rotation`},
		{"words", strings.Repeat("word ", size/5)},
		{"quotes", strings.Repeat("« ", size/3)},
		{"brackets", strings.Repeat("[", size)},
		{"keys", strings.Repeat("[k: ", size/4)},
		{"quoted keys", strings.Repeat("[«x ", size/10) + strings.Repeat("y", size/2) + "»"},
		{"minus", strings.Repeat("-", size)},
		{"backslashes", `"` + strings.Repeat(`\`, size)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			for b.Loop() {
				if _, err := Parse(bb.text, now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

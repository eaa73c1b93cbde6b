package analysis

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// words returns the terms of a query.
func words(a *Analyzer, query string) []string {
	var terms []string
	for _, t := range a.Query(query) {
		terms = append(terms, t.Text)
	}
	return terms
}

// marked puts brackets around the marks.
func marked(snippet string, marks [][2]int) string {
	var out strings.Builder
	at := 0
	for _, m := range marks {
		out.WriteString(snippet[at:m[0]] + "[" + snippet[m[0]:m[1]] + "]")
		at = m[1]
	}
	return out.String() + snippet[at:]
}

func TestSnippet(t *testing.T) {
	const filler = "one two three four five six seven eight nine ten "
	tests := []struct {
		name, text, query string
		limit             int
		want              string
	}{
		{"short text is whole", "We paint\n\n the\tcafé.", "painting cafe", 80, "We [paint] the [café]."},
		{"no match is the beginning", filler, "zebra", 20, "one two three four…"},
		{"cut on both sides", filler + "the zebra runs " + filler, "zebra", 30, "…ten the [zebra] runs one…"},
		{"at the end", filler + "a zebra", "zebra", 20, "…nine ten a [zebra]"},
		{"most different terms", "zebra zebra zebra " + filler + "zebra lion " + filler, "zebra lion", 24, "…ten [zebra] [lion] one…"},
		{"pairs join", "昨日は東京タワーに行きました", "東京タワー", 80, "昨日は[東京タワー]に行きました"},
		{"without spaces", strings.Repeat("あ", 50) + "東京" + strings.Repeat("い", 50), "東京", 16, "…ああああああ[東京]いいいいいい…"},
		{"identifier and part", "see foo.bar now", "foo", 80, "see [foo].bar now"},
		{"possessive", "Melanie’s lake", "melanie", 80, "[Melanie’s] lake"},
		{"stop words are not marked", "what is the plan", "the plan", 80, "what is the [plan]"},
		{"broken bytes", "a1 \xff b1", "b1", 80, "a1 \uFFFD [b1]"},
		{"tiny limit counts as sixteen", filler, "three", 1, "…[three] four…"},
		{"empty", "", "x", 80, ""},
	}
	a := New()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := marked(a.Snippet(test.text, words(a, test.query), test.limit))
			if got != test.want {
				t.Errorf("snippet = %q, want %q", got, test.want)
			}
		})
	}
}

func TestSnippetKeepsLettersWhole(t *testing.T) {
	a := New()
	for limit := 16; limit < 40; limit++ {
		text := strings.Repeat("e\u0301", 60) + "👍🏽" + strings.Repeat("👍🏽", 40)
		snippet, _ := a.Snippet(text, nil, limit)
		rest := strings.TrimSuffix(strings.TrimPrefix(snippet, "…"), "…")
		if !strings.HasPrefix(text, rest) || continues(text[len(rest):]) {
			t.Errorf("limit %d cuts within a letter: %q", limit, snippet)
		}
	}
}

func TestSnippetProperties(t *testing.T) {
	a := New()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(mixed(), 0, 6).Draw(t, "text"), " ")
		query := words(a, mixed().Draw(t, "query"))
		limit := rapid.IntRange(-1, 100).Draw(t, "limit")
		snippet, marks := a.Snippet(s, query, limit)
		if n := utf8.RuneCountInString(snippet); n > max(limit, minSnippet) {
			t.Fatalf("snippet has %d letters, want at most %d", n, limit)
		}
		if !utf8.ValidString(snippet) || strings.Contains(snippet, "\n") {
			t.Fatalf("snippet %q is not one line of valid text", snippet)
		}
		at := 0
		for _, m := range marks {
			if m[0] < at || m[1] <= m[0] || m[1] > len(snippet) || !utf8.ValidString(snippet[m[0]:m[1]]) {
				t.Fatalf("marks %v are not ascending ranges of whole letters in %q", marks, snippet)
			}
			at = m[1]
		}
		if len(marks) == 0 && len(a.hits(s, query)) > 0 {
			t.Fatalf("snippet %q of %q shows none of its matches", snippet, s)
		}
	})
}

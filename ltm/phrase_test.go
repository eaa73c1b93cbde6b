package ltm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"emberd/internal/text/analysis"

	"pgregory.net/rapid"
)

// holdsPhrase is what it means that a text has a phrase.
func holdsPhrase(a *analysis.Analyzer, body, phrase string) bool {
	terms, part := texts(a.Terms(body)), texts(a.Terms(phrase))
	for i := 0; i+len(part) <= len(terms); i++ {
		if slices.Equal(terms[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// TestPhrasesByTheirMeaning writes the same notes anew again and again and looks for
// phrases, in notes whose text the index knows and in others.
func TestPhrasesByTheirMeaning(t *testing.T) {
	x, a := open(t), analysis.New()
	word := rapid.SampledFrom([]string{"the", "of", "The", "run", "runner's", "RUNNING", "café", "cafe\u0301", "foo.bar", "foo", "bar", "3.5", "C++", "o'brien", "東京", "東京都", "京都", "に", "ab한국", "สวัสดี", "🎉"})
	gap := rapid.SampledFrom([]string{" ", " ", " ", "", "\n\n", ", ", " [[", "—", "</b>"})
	prose := rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "words") {
			b.WriteString(word.Draw(t, "word") + gap.Draw(t, "gap"))
		}
		return b.String()
	})
	phrase := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "phrase"), " ")
	})
	rapid.Check(t, func(r *rapid.T) {
		bodies, docs := make(map[string]string), []Doc(nil)
		for i := range 8 {
			path, body := fmt.Sprintf("n%d.md", i), prose.Draw(r, "body")
			bodies[path] = body
			d := Doc{Path: path, Sections: []Section{{Line: 1, Text: body}}}
			if i%4 > 0 {
				d.Text = body
			}
			docs = append(docs, d)
		}
		put(t, x, docs...)
		q := Query{Limit: 10, Text: func(path string) (string, bool) { body, ok := bodies[path]; return body, ok }}
		q.Must.Phrases = rapid.SliceOfN(phrase, 0, 2).Draw(r, "must")
		q.Not.Phrases = rapid.SliceOfN(phrase, 0, 2).Draw(r, "not")
		var want []string
		for _, d := range docs {
			in := func(p string) bool { return holdsPhrase(a, bodies[d.Path], p) }
			if every(q.Must.Phrases, in) && !slices.ContainsFunc(q.Not.Phrases, in) {
				want = append(want, d.Path)
			}
		}
		var got []string
		for _, h := range search(t, x, q).Hits {
			got = append(got, h.Path)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			r.Fatalf("must %q, not %q finds %q, want %q in %q", q.Must.Phrases, q.Not.Phrases, got, want, bodies)
		}
	})
}

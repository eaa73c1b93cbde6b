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
// phrases twice, so that what is known of a text answers too.
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
			docs = append(docs, Doc{Path: path, Sections: []Section{{Line: 1, Text: body}}})
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
		for _, again := range []bool{false, true} {
			var got []string
			for _, h := range search(t, x, q).Hits {
				got = append(got, h.Path)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				r.Fatalf("again %v: must %q, not %q finds %q, want %q in %q", again, q.Must.Phrases, q.Not.Phrases, got, want, bodies)
			}
		}
	})
}

// A phrase filter knows every row of its text, and few others.
func TestSketch(t *testing.T) {
	s := newPhraseFilters()
	missed, missedTriples, asked := 0, 0, 0
	for _, terms := range []int{0, 1, 2, 3, 10, 600, 20_000} {
		list := make([]analysis.Term, terms)
		for i := range list {
			list[i].Text = fmt.Sprint(i * i % 1009)
		}
		made := newPhraseFilter(terms, s.rows(nil, list))
		for i := range list {
			if part := list[i:min(i+4, terms)]; !made.may(s.rows(nil, part)) {
				t.Fatalf("the filter of %d terms does not know the row at %d", terms, i)
			}
		}
		for i := range 1000 {
			asked++
			if made.may(s.rows(nil, []analysis.Term{{Text: fmt.Sprint(i)}, {Text: "elsewhere"}})) {
				missed++
			}
			if terms > 1 && made.may(s.rows(nil, append(list[:2:2], analysis.Term{Text: fmt.Sprint("elsewhere", i)}))) {
				missedTriples++
			}
		}
	}
	if missed > asked/6 || missedTriples > asked/6/6 {
		t.Errorf("of %d pairs that stand in no text, %d are not told, and of as many triples %d; want a sixth at most, and a sixth of that", asked, missed, missedTriples)
	}
}

func TestSketchesAreBounded(t *testing.T) {
	s := newPhraseFilters()
	large := make(phraseFilter, 1000)
	numbers := uint32(maxPhraseFilters / (8 * len(large)) * 2)
	for number := range numbers {
		n := new(note)
		s.add(number, knownFilter{n, large})
		s.add(number, knownFilter{n, large}) // two searches at once
		if s.find(number, new(note)) != nil {
			t.Fatal("a filter is found for another state of the note")
		}
	}
	if s.size > maxPhraseFilters || s.size < maxPhraseFilters*9/10 {
		t.Errorf("filters take %d bytes, want up to %d", s.size, maxPhraseFilters)
	}
	size := 0
	for number, kept := range s.of {
		size += kept.size()
		if s.find(number, kept.note) == nil {
			t.Fatalf("the filter of note %d is there and is not found", number)
		}
	}
	if size != s.size {
		t.Errorf("filters take %d bytes and are taken for %d", size, s.size)
	}
}

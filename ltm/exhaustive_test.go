package ltm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// exhaustive answers a query by working every note out, without the bounds of a scan.
func exhaustive(t *rapid.T, x *Index, q Query) Result {
	s, err := x.searcher(&q)
	if err != nil {
		t.Fatal(err)
	}
	defer s.view.close()
	s.filter()
	if _, _, err := s.match(t.Context(), s.queryTerms()); err != nil {
		t.Fatal(err)
	}
	var r Result
	var found []candidate
	for number, n := range s.table.notes {
		if n == nil || !s.passesWith(uint32(number)) {
			continue
		}
		c := candidate{number: uint32(number)}
		c.segment, c.first, _ = s.view.document(ref{note: c.number})
		s.readRuns(&c)
		s.work(&c)
		_, near := s.near[c.number]
		if near && !c.held {
			r.Near++
		}
		if near || c.held {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return s.compare(&a, &b) })
	r.Total = len(found)
	if r.Hits, err = s.hits(found); err != nil {
		t.Fatal(err)
	}
	return r
}

// crowd is notes of which many hold the same words, and some are alike.
func crowd(r *rand.Rand, from, n int) []Doc {
	word := func() string { return wordOf(uint64(r.ExpFloat64() * 6)) }
	text := func(most int) string {
		words := make([]string, r.IntN(most+1))
		for i := range words {
			words[i] = word()
		}
		return strings.Join(words, " ")
	}
	docs := make([]Doc, n)
	for i := range docs {
		d := Doc{Path: fmt.Sprintf("%d/n%d.md", r.IntN(3), from+i), Created: time.Unix(int64(r.IntN(100)), 0)}
		if r.IntN(4) == 0 {
			d.Title, d.Tags, d.Aliases = text(3), []string{"t" + word()}, []string{text(2)}
		}
		sections := 1
		if r.IntN(30) == 0 {
			sections = 20 // more than one part
		}
		for range sections {
			d.Sections = append(d.Sections, Section{HeadingPath: []string{text(1)}, Line: 1, Text: text(12)})
		}
		d.Cursor = cursorOf(d.Path)
		docs[i] = d
	}
	return docs
}

// anyQuery draws a query of what a crowd holds.
func anyQuery(t *rapid.T, r *rand.Rand, paths []string) Query {
	q := Query{Limit: rapid.IntRange(0, 30).Draw(t, "limit")}
	for i := range rapid.IntRange(1, 5).Draw(t, "terms") {
		term := Term{Text: wordOf(uint64(r.ExpFloat64() * 8)), Weight: 0.25 * float64(1+r.IntN(6))}
		switch r.IntN(6) {
		case 0:
			term.Weak = true
		case 1:
			term.Text, term.Of = fmt.Sprint("group ", i), []string{term.Text, wordOf(3), wordOf(9)}
		}
		q.Terms = append(q.Terms, term)
	}
	if rapid.Bool().Draw(t, "filter") {
		q.Must.Paths = []string{"1/"}
	}
	if rapid.Bool().Draw(t, "before") {
		q.Before = time.Unix(60, 0)
	}
	if rapid.Bool().Draw(t, "near") {
		q.Near = map[string]Near{paths[r.IntN(len(paths))]: {Score: r.Float64()}, paths[0]: {Score: 2, Line: 1}}
	}
	if rapid.IntRange(0, 3).Draw(t, "bonus") == 0 {
		q.Bonus = func(_ string, created time.Time) float64 { return float64(created.Unix()%7) / 7 }
	}
	return q
}

// TestScanEqualsExhaustive compares what a search finds with what working every note out finds: the
// same hits with the same relevance in the same order, however many are wanted.
func TestScanEqualsExhaustive(t *testing.T) {
	x := open(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var paths []string
		for path := range x.Known() {
			paths = append(paths, path)
		}
		slices.Sort(paths)
		if len(paths) > 3000 {
			remove(t, x, paths...)
			paths = nil
		}
		from := rapid.IntRange(0, 2000).Draw(t, "from")
		docs := crowd(r, from, rapid.IntRange(1, 700).Draw(t, "notes"))
		var gone []string
		for _, path := range paths {
			if r.IntN(10) == 0 {
				gone = append(gone, path)
			}
		}
		if err := x.Update(t.Context(), docs, gone); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			q := anyQuery(t, r, []string{docs[0].Path, docs[len(docs)-1].Path})
			got, err := x.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want := exhaustive(t, x, q)
			if got.Total != want.Total || got.Near != want.Near {
				t.Errorf("%d notes match, %d near alone; want %d, %d", got.Total, got.Near, want.Total, want.Near)
			}
			if !slices.EqualFunc(got.Hits, want.Hits, func(a, b Hit) bool {
				return a.Path == b.Path && a.Relevance == b.Relevance && a.Line == b.Line && a.Near == b.Near
			}) {
				t.Errorf("hits of %+v\n%v\nwant\n%v", q, listed(got.Hits), listed(want.Hits))
			}
		}
	})
}

func listed(hits []Hit) (list []string) {
	for _, h := range hits {
		list = append(list, fmt.Sprint(h.Path, " ", h.Relevance))
	}
	return list
}

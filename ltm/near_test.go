package ltm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// nearQuery draws a query with Near over notes, with filters and phrases.
func nearQuery(t *rapid.T, docs map[string]Doc) Query {
	q := words(rapid.SampledFrom([]string{"", "red", "red fox", "cloud giraffe", "giraffe"}).Draw(t, "query"))
	q.Near = map[string]Near{"gone.md": {Score: 9}}
	for _, path := range slices.Sorted(maps.Keys(docs)) {
		if rapid.Bool().Draw(t, "is near") {
			q.Near[path] = Near{Score: rapid.Float64Range(0.01, 3).Draw(t, "near"), Line: 1}
		}
	}
	phrase := func(label string) []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"red", "fox river", "blue blue"}), 0, 1).Draw(t, label)
	}
	q.Must.Phrases, q.Not.Phrases = phrase("phrase"), phrase("excluded")
	q.Not.Tags = rapid.SliceOfN(rapid.SampledFrom([]string{"red", "fox"}), 0, 1).Draw(t, "tag")
	if rapid.Bool().Draw(t, "bonus") {
		q.Bonus = func(path string, created time.Time) float64 { return float64(path[1]-'0') / 4 }
	}
	q.Text = func(path string) (string, bool) { return bodyOf(docs[path]), true }
	q.Explain = true
	return q
}

func bodyOf(d Doc) string {
	var b strings.Builder
	for _, s := range d.Sections {
		b.WriteString(s.Text + "\n")
	}
	return b.String()
}

// byHand works the answer out note by note: what the words give says a search for them
// alone, and what passes a search without words.
func byHand(t tester, x *Index, q Query) (want map[string]float64, near int) {
	held := map[string]float64{}
	if len(q.Terms) > 0 {
		for _, h := range search(t, x, Query{Terms: q.Terms, Limit: 100}).Hits {
			held[h.Path] = h.Relevance
		}
	}
	want = map[string]float64{}
	passing := search(t, x, Query{Must: q.Must, Not: q.Not, Text: q.Text, Limit: 100})
	for _, h := range passing.Hits {
		n, isNear := q.Near[h.Path]
		if held[h.Path] == 0 && !isNear {
			continue
		}
		if held[h.Path] == 0 {
			near++
		}
		want[h.Path] = held[h.Path] + n.Score
		if q.Bonus != nil {
			want[h.Path] += q.Bonus(h.Path, h.Created)
		}
	}
	return want, near
}

// Whatever is near and whatever is asked for, the answer is the one that looking at every
// note gives, all of it and the few best.
func TestNearIsExact(t *testing.T) {
	x := open(t)
	rapid.Check(t, func(t *rapid.T) {
		remove(t, x, slices.Collect(maps.Keys(maps.Collect(x.Known())))...)
		docs := map[string]Doc{}
		for _, d := range corpus(t) {
			docs[d.Path] = d
			put(t, x, d)
		}
		q := nearQuery(t, docs)
		want, alone := byHand(t, x, q)
		q.Limit = 100
		all := search(t, x, q)
		if all.Total != len(want) || all.Near != alone || len(all.Hits) != len(want) {
			t.Fatalf("%d hits, %d match, %d of them without a term; want %d and %d", len(all.Hits), all.Total, all.Near, len(want), alone)
		}
		for _, h := range all.Hits {
			sum := h.Near.Score + h.Bonus
			for _, s := range h.Scores {
				sum += s.Score
			}
			if !near(h.Relevance, want[h.Path]) || !near(sum, h.Relevance) {
				t.Fatalf("relevance of %s is %v, its parts come to %v; want %v", h.Path, h.Relevance, sum, want[h.Path])
			}
		}
		if !slices.IsSortedFunc(all.Hits, func(a, b Hit) int { return cmp.Compare(b.Relevance, a.Relevance) }) {
			t.Fatal("hits are not in the order of their relevance")
		}
		q.Limit = rapid.IntRange(1, 4).Draw(t, "limit")
		if few := search(t, x, q); names(few) != names(Result{Hits: all.Hits[:min(len(all.Hits), q.Limit)]}) || few.Total > all.Total {
			t.Fatalf("the %d best are %q, want the first of %q", q.Limit, names(few), names(all))
		}
	})
}

// What holds none of the words shows where it is near, and what holds one shows that.
func TestAHitByNearnessShowsWhereItIsNear(t *testing.T) {
	x := open(t)
	long := Doc{Path: "long.md", Cursor: cursorOf("long"), Sections: []Section{
		{Line: 1, Text: "red fox"}, {HeadingPath: []string{"Waters"}, Line: 5, Text: "a river and a stone"}}}
	put(t, x, long, named("other", "cloud"))
	for query, want := range map[string]int{"cloud": 6, "fox": 1} {
		q := words(query)
		q.Near = map[string]Near{"long.md": {Score: 1, Line: 6}}
		r := search(t, x, q)
		i := slices.IndexFunc(r.Hits, func(h Hit) bool { return h.Path == "long.md" })
		if i < 0 || r.Hits[i].Line != want || r.Hits[i].Near.Line != 6 {
			t.Errorf("search for %s finds %+v, want long.md at line %d", query, r.Hits, want)
		}
	}
}

func TestAcceptingJudgesByTheFilters(t *testing.T) {
	x := open(t)
	docs := []Doc{{Path: "a/x.md", Tags: []string{"work"}, Cursor: cursorOf("x"), Sections: []Section{{Text: "a red fox"}}, Text: "a red fox"}, {Path: "b/y.md", Tags: []string{"work"}, Cursor: cursorOf("y")},
		{Path: "a/z.md", Cursor: cursorOf("z")}}
	for i := range 14 {
		docs = append(docs, Doc{Path: fmt.Sprintf("c/%d.md", i), Tags: []string{"home"}, Cursor: cursorOf("c")})
	}
	put(t, x, docs...)
	for _, c := range []struct {
		must       Filter
		want, only []string
	}{
		{Filter{Tags: []string{"work"}, Paths: []string{"a/"}}, []string{"a/x.md"}, []string{"a/x.md"}},
		{Filter{Tags: []string{"work"}}, []string{"a/x.md", "b/y.md"}, []string{"a/x.md", "b/y.md"}},
		{Filter{Phrases: []string{"no note says so"}}, nil, []string{}},
		{Filter{Phrases: []string{"red fox"}}, []string{"a/x.md"}, []string{"a/x.md"}},
		{Filter{Paths: []string{"c/"}}, []string{"c/0.md"}, nil}, // not few
		{Filter{}, []string{"a/x.md", "b/y.md", "a/z.md", "c/0.md"}, nil},
	} {
		var got, only []string
		err := x.Accepting(Query{Must: c.must}, func(accept func(string) bool, listed []string) {
			for _, path := range []string{"a/x.md", "b/y.md", "a/z.md", "c/0.md", "gone.md"} {
				if accept(path) {
					got = append(got, path)
				}
			}
			only = listed
		})
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(only, c.only) || (only == nil) != (c.only == nil) {
			t.Errorf("%+v accepts %q and lists %q, %v; want %q and %q", c.must, got, only, err, c.want, c.only)
		}
	}
}

package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"emberd/engine"
	"emberd/engine/search"
	"emberd/op"
)

// harbour is an engine with twelve fresh memories about the harbour light, and two of
// eight days ago that are about to fade: one that is about it too and one that barely is.
func harbour(t *testing.T) *engine.Engine {
	e, clock := newEngine(t)
	for i := range 12 {
		save(t, e, fmt.Sprintf("harbour light number %d", i))
	}
	for _, text := range []string{"harbour light of old", "harbour of many other things and words, none of them asked for"} {
		do(t, e, op.Save, &op.SaveRequest{Content: text, CreatedAt: clock.daysAgo(8), LastUsed: clock.daysAgo(8)})
	}
	return e
}

func reviews(hits []op.Hit) (at []int) {
	for i, h := range hits {
		if h.Review {
			at = append(at, i)
		}
	}
	return at
}

func TestWhatIsAboutToFadeIsMixedIn(t *testing.T) {
	t.Parallel()
	e := harbour(t)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "harbour light", Explain: true})
	if len(res.Hits) != 10 || res.Total != 14 || !slices.Equal(reviews(res.Hits), []int{2}) {
		t.Fatalf("%d hits of %d, reviews at %v, want 10 of 14 with one at 2", len(res.Hits), res.Total, reviews(res.Hits))
	}
	due := res.Hits[2]
	if due.Content != "harbour light of old" || due.Snippet.Text == "" || due.Rank != search.Rank(*due.Explain) {
		t.Errorf("mixed in was %+v", due)
	}
	plain := do(t, e, op.Search, &op.SearchRequest{Query: "harbour light", IncludeReview: new(false)}).Hits
	want := hitContents(slices.Insert(slices.Clone(plain[:9]), 2, due))
	if got := hitContents(res.Hits); !slices.Equal(got, want) {
		t.Errorf("got %q, want the answer without reviews and one in its third place: %q", got, want)
	}
}

func TestWhenNothingIsMixedIn(t *testing.T) {
	t.Parallel()
	e := harbour(t)
	for name, req := range map[string]op.SearchRequest{
		"not wanted":           {Query: "harbour light", IncludeReview: new(false)},
		"no place for one":     {Query: "harbour light", Limit: 3},
		"all is shown anyway":  {Query: "harbour light", Limit: 20},
		"no query":             {},
		"only operators":       {Query: "after:2020"},
		"another filter":       {Query: "harbour light", Filter: op.Filter{MinScore: 0.9}},
		"the archive":          {Query: "harbour light", Scope: "archive"},
		"nothing but misspelt": {Query: "harbuor ligth"},
	} {
		if got := reviews(do(t, e, op.Search, &req).Hits); len(got) > 0 {
			t.Errorf("%s: reviews at %v", name, got)
		}
	}
}

func TestAHitIsNotShownAgainAsAReview(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Review.Max = 1 // nothing is too fresh
	h.Review.Min = 0.9
	e := h.open(t)
	for i := range 30 {
		do(t, e, op.Save, &op.SaveRequest{Content: fmt.Sprintf("harbour light number %d", i), CreatedAt: h.daysAgo(0.2), LastUsed: h.daysAgo(0.2)})
	}
	hits := searchFor(t, e, "harbour light")
	texts := hitContents(hits)
	slices.Sort(texts)
	if len(hits) != 10 || len(slices.Compact(texts)) != 10 || !slices.Equal(reviews(hits), []int{2, 5, 8}) {
		t.Errorf("%q, reviews at %v", texts, reviews(hits))
	}
}

func TestAMemoryWhoseNoteIsShownIsNoReview(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, nil)
	h.LTMWeight = 2
	e := h.open(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "harbour light of old", CreatedAt: h.daysAgo(8), LastUsed: h.daysAgo(8)}).Memory
	for i := range 12 {
		save(t, e, fmt.Sprintf("harbour light number %d", i))
	}
	h.write(t, "Light.md", noteFor(m.ID, "harbour light of old"))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	hits := searchFor(t, h.adopting(t, m.ID), "harbour light")
	if hits[0].Note == nil || hits[0].Note.MemoryID != m.ID || len(reviews(hits)) != 0 {
		t.Errorf("%q, reviews at %v; want the note and nothing of its memory", names(hits), reviews(hits))
	}
}

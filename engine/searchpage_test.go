package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/op"
)

func TestSearchesFilterByStatus(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, nil)
	e := h.following(t)
	save(t, e, "oak in the yard")
	promoted := save(t, e, "oak at the gate")
	do(t, e, op.Promote, &op.PromoteRequest{ID: string(promoted.ID), Force: true})
	move(t, e, save(t, e, "oak by the road").ID, memory.Archived)
	yard, gate, road := "oak in the yard", "oak at the gate", "oak by the road"
	for status, want := range map[string][]string{
		"":                           {gate, road, yard},
		"all":                        {gate, road, yard},
		"active":                     {yard},
		"promoted":                   {gate},
		"archived":                   {road},
		" Active , PROMOTED ":        {gate, yard},
		"archived,active,archived":   {road, yard},
		"active, promoted, archived": {gate, road, yard},
	} {
		res := do(t, e, op.Search, &op.SearchRequest{Query: "oak", Scope: "memories", Track: new(false), Filter: op.Filter{Status: status}})
		listed := do(t, e, op.List, &op.ListRequest{Filter: op.Filter{Status: status}})
		for what, got := range map[string][]string{"search": hitContents(res.Hits), "list": contents(listed.Memories)} {
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s by status %q: got %q, want %q", what, status, got, want)
			}
		}
	}
	for _, status := range []string{"deleted", "active,", ",", "active;promoted"} {
		err := refused(t, e, op.Search, &op.SearchRequest{Query: "oak", Filter: op.Filter{Status: status}})
		wantCode(t, err, memory.Invalid, "use active, promoted, archived or all")
	}
}

func TestWhyNotNamesTheStatus(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "oak in the yard")
	res := do(t, e, op.WhyNot, &op.WhyNotRequest{Query: "oak", Of: string(m.ID), Filter: op.Filter{Status: "archived"}})
	if len(res.Causes) != 1 || res.Causes[0].Fix != "remove --status archived" {
		t.Errorf("the causes are %+v, want the status alone", res.Causes)
	}
}

// Pages of one search, put together, are the search.
func TestPagesJoinToTheWholeAnswer(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{"Oak.md": "# Oak\n\nan oak of 300 years\n", "Elm.md": "# Elm\n\nno oak\n"})
	e := h.following(t)
	for i := range 25 {
		do(t, e, op.Save, &op.SaveRequest{Content: fmt.Sprintf("oak number %d", i), CreatedAt: h.daysAgo(float64(i)), LastUsed: h.daysAgo(float64(i))})
	}
	noReview := func(offset, limit int) *op.SearchResult {
		return do(t, e, op.Search, &op.SearchRequest{Query: "oak", Offset: offset, Limit: limit, IncludeReview: new(false), Track: new(false)})
	}
	whole := names(noReview(0, 100).Hits)
	if len(whole) != 27 {
		t.Fatalf("found %d, want 27", len(whole))
	}
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 30).Draw(rt, "size")
		var got []string
		for at := 0; ; at += size {
			page := noReview(at, size)
			if page.Total != 27 {
				rt.Fatalf("total of the page at %d is %d, want 27", at, page.Total)
			}
			if len(page.Hits) == 0 {
				break
			}
			got = append(got, names(page.Hits)...)
		}
		if !slices.Equal(got, whole) {
			rt.Fatalf("pages of %d: %q, want %q", size, got, whole)
		}
	})
	wantCode(t, refused(t, e, op.Search, &op.SearchRequest{Query: "oak", Offset: 1001}), memory.Invalid, "offset 1001 is out of range (0 to 1000)")
}

func TestWeightsOfARequestOrderTheTiers(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{"Oak.md": "# Oak\n\nan oak of 300 years\n"})
	e := h.following(t)
	save(t, e, "an oak of 300 years")
	for _, c := range []struct {
		stm, ltm float64
		want     []string
	}{
		{2, 0.1, []string{"an oak of 300 years", "Oak.md"}},
		{0.1, 2, []string{"Oak.md", "an oak of 300 years"}},
	} {
		res := do(t, e, op.Search, &op.SearchRequest{Query: "oak years", STMWeight: &c.stm, LTMWeight: &c.ltm, Explain: true})
		if got := names(res.Hits); !slices.Equal(got, c.want) {
			t.Errorf("weights %v and %v: %q, want %q", c.stm, c.ltm, got, c.want)
		}
		for _, hit := range res.Hits {
			if want := map[string]float64{op.TierMemory: c.stm, op.TierNote: c.ltm}[hit.Tier]; hit.Explain.Tier != want {
				t.Errorf("a %s has tier weight %v, want %v", hit.Tier, hit.Explain.Tier, want)
			}
		}
	}
	wantCode(t, refused(t, e, op.Search, &op.SearchRequest{Query: "oak", STMWeight: new(2.1)}), memory.Invalid, "stm_weight 2.1 is out of range (0 to 2)")
	wantCode(t, refused(t, e, op.Search, &op.SearchRequest{Query: "oak", LTMWeight: new(-0.1)}), memory.Invalid, "ltm_weight -0.1 is out of range (0 to 2)")
	if res := do(t, e, op.Search, &op.SearchRequest{Query: "oak", STMWeight: new(0.0)}); len(res.Hits) != 2 {
		t.Errorf("with weight 0 %q is found, want both", names(res.Hits))
	}
}

func TestNotesAreKeptWhateverMemoriesAreFilteredBy(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{"Oak.md": "# Oak\n\nan oak of 300 years\n"})
	e := h.following(t)
	do(t, e, op.Save, &op.SaveRequest{Content: "oak of long ago", CreatedAt: h.daysAgo(300), LastUsed: h.daysAgo(300)})
	for _, f := range []op.Filter{{MinScore: 0.9}, {Status: "archived"}, {Project: "forest"}, {WindowDays: 1}} {
		for keep, want := range map[bool]int{true: 1, false: 0} {
			res := do(t, e, op.Search, &op.SearchRequest{Query: "oak", Filter: f, KeepNotes: keep})
			if f.WindowDays == 0 && len(res.Hits) != want || f.WindowDays > 0 && keep && len(res.Hits) != want {
				t.Errorf("filter %+v, keep_notes %v: %q", f, keep, names(res.Hits))
			}
		}
	}
	res := do(t, e, op.Search, &op.SearchRequest{Query: "oak", Scope: "memories", KeepNotes: true})
	if got := names(res.Hits); len(got) != 1 || got[0] != "oak of long ago" {
		t.Errorf("among memories alone %q is found", got)
	}
}

func TestShareIsWhatAHitHoldsOfTheQuestion(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "copper valve torque")
	save(t, e, "copper paint")
	res := do(t, e, op.Search, &op.SearchRequest{Query: "copper valve torque", Explain: true})
	if len(res.Hits) != 2 || res.Hits[0].Explain.Share != 1 {
		t.Fatalf("got %+v, want the whole match first, with share 1", res.Hits)
	}
	if got := res.Hits[1].Explain.Share; got <= 0 || got >= 0.5 {
		t.Errorf("one word of three, the commonest, has share %v, want less than a half", got)
	}
	res = do(t, e, op.Search, &op.SearchRequest{Query: "copper zirconium", Explain: true})
	if got := res.Hits[0].Explain.Share; got >= 0.5 {
		t.Errorf("where nothing holds the other word, share is %v, want less than a half", got)
	}
}

package stm_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/stm/table"
	"emberd/stm/wal"
)

func TestColdMemoriesAreCounted(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want := func(n int, after string) {
		t.Helper()
		if got := ts.Cold(); got != n {
			t.Errorf("after %s: %d cold memories, want %d", after, got, n)
		}
	}
	tea, milk := ts.save("tea").ID(), ts.save("milk").ID()
	want(0, "saving")
	archived := ts.edit(tea, "stage", string(memory.Archived)).Entry
	ts.edit(milk, "stage", string(memory.Demoted))
	want(1, "archiving one")
	ts.edit(milk, "stage", string(memory.Rehydratable))
	ts.edit(milk, "source", "the shop")
	want(2, "fading the other")
	ts.reopen()
	want(2, "a start from the snapshot")
	ts.withoutSnapshot()
	want(2, "a start from the log")
	forgotten := ts.forget(milk).Entry
	want(1, "forgetting one")
	ts.undo(forgotten)
	want(2, "taking that back")
	ts.undo(archived)
	want(1, "undoing the archiving")
	ts.purge(milk)
	want(0, "purging the last")
}

func TestListsBesideASearch(t *testing.T) {
	ts := openStore(t, wal.Options{})
	for i := range 40 {
		ts.save(fmt.Sprintf("copper pot %d", i))
	}
	both := ts.save("copper valve", "old").ID()
	one := ts.save("copper pipe", "old").ID()
	ts.save("glass valve of copper colour", "new")
	ts.save("lead pipe", "old")
	old := func(r *table.Row) bool { return r.HasTag("old") }
	beside := func(b table.Beside) (ids []memory.ID) {
		t.Helper()
		found := ts.Search(table.Query{Terms: asTerms("copper valve"), Limit: 2, Most: 1, Beside: []table.Beside{b}})
		if found.Total != 43 || len(found.Matches) != 2 || found.Best != found.Matches[0].Relevance {
			t.Errorf("found %d of %d, the best %v", len(found.Matches), found.Total, found.Best)
		}
		for _, m := range found.Beside[0] {
			if len(m.Terms) == 0 {
				t.Errorf("%s is not explained", m.Row.Content())
			}
			ids = append(ids, m.Row.ID())
		}
		return ids
	}
	for name, c := range map[string]struct {
		beside table.Beside
		want   []memory.ID
	}{
		"all that match":       {table.Beside{Accept: old, Limit: 9}, []memory.ID{both, one}},
		"the best":             {table.Beside{Accept: old, Limit: 1}, []memory.ID{both}},
		"near the best":        {table.Beside{Accept: old, Limit: 9, OfBest: 1}, []memory.ID{both}},
		"of another condition": {table.Beside{Accept: func(*table.Row) bool { return false }, Limit: 9}, nil},
	} {
		if got := beside(c.beside); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// What falls short of the last of the list proper may be left out, and nothing else.
	if got := beside(table.Beside{Accept: old, Limit: 9, OfLast: 1}); len(got) == 0 || got[0] != both {
		t.Errorf("as good as the last: %v", got)
	}
}

// A list beside a search is what a search of its own would find.
func TestListsBesideLackNothing(t *testing.T) {
	ts := openStore(t, wal.Options{})
	terms := []string{"tea", "milk", "bread", "jam", "salt"}
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			ts.save(strings.Join(rapid.SliceOfN(rapid.SampledFrom(terms), 1, 6).Draw(t, "words"), " "), rapid.SampledFrom([]string{"old", "new"}).Draw(t, "tag"))
		}
		q := table.Query{Terms: asTerms(strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(terms), 1, 3, rapid.ID).Draw(t, "query"), " ")),
			Limit: rapid.IntRange(1, 5).Draw(t, "limit"), Most: 1}
		accept := func(r *table.Row) bool { return r.HasTag("old") }
		b := table.Beside{Accept: accept, Limit: rapid.IntRange(1, 5).Draw(t, "beside"), OfBest: rapid.Float64Range(0, 1).Draw(t, "of best"), OfLast: rapid.Float64Range(0, 1).Draw(t, "of last")}
		alone := q
		alone.Accept, alone.Limit, alone.Most = accept, b.Limit, 0
		q.Beside = []table.Beside{b}
		found, want := ts.Search(q), ts.Search(alone).Matches
		got := found.Beside[0]
		for i, m := range want {
			last := 0.0
			if len(found.Matches) == q.Limit {
				last = b.OfLast * found.Matches[q.Limit-1].Rank
			}
			if m.Relevance < max(b.OfBest*found.Best, last) {
				break
			}
			if i >= len(got) || got[i].Row.ID() != m.Row.ID() {
				t.Fatalf("beside are %v, and %d is missing or another", got, i)
			}
		}
	})
}

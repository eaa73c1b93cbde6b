package engine_test

import (
	"slices"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// freeze leaves of a memory a summary and key terms; its text is said to be in a note.
func freeze(t testing.TB, e *engine.Engine, id memory.ID, stage memory.Stage, path, summary string, terms ...string) {
	t.Helper()
	_, err := e.Stm.Update(t.Context(), []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		before, err := core.Fields(&m)
		if err != nil {
			return nil, err
		}
		if !core.ArchiveText(&m, core.ArchivedText{Stage: stage, Path: path, Summary: summary, Terms: terms, Reason: "asked for"}, e.Opt.Now()) {
			t.Fatalf("%q cannot be archived", m.Content)
		}
		after, err := core.Fields(&m)
		return &stm.Tx{Verb: "archive", Changes: []stm.Change{{ID: id, Set: core.Difference(before, after)}}}, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheArchiveIsSearchedByWhatIsLeft(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	archived := do(t, e, op.Save, &op.SaveRequest{Content: "The copper valve on deck three leaked all winter", CreatedAt: clock.daysAgo(50), LastUsed: clock.daysAgo(50)}).Memory.ID
	faded := do(t, e, op.Save, &op.SaveRequest{Content: "A copper valve was ordered from the chandler", CreatedAt: clock.daysAgo(200), LastUsed: clock.daysAgo(200)}).Memory.ID
	save(t, e, "copper valve, copper valve: fresh today")
	freeze(t, e, archived, memory.Archived, "A.md", "A copper valve leaked", "deck")
	freeze(t, e, faded, memory.Rehydratable, "B.md", "A valve was ordered", "copper", "chandler")

	archive := func(query string, f op.Filter) []string {
		t.Helper()
		return hitContents(do(t, e, op.Search, &op.SearchRequest{Query: query, Scope: "archive", Filter: f}).Hits)
	}
	for _, c := range []struct {
		query  string
		filter op.Filter
		want   []string
	}{
		{"copper valve", op.Filter{}, []string{"A copper valve leaked", "A valve was ordered"}},
		{"deck", op.Filter{}, []string{"A copper valve leaked"}},
		{"chandler", op.Filter{}, []string{"A valve was ordered"}},
		{"ordered", op.Filter{}, nil}, // a summary to be shown, not to be searched
		{"winter", op.Filter{}, nil},  // only in the vault
		{"copper", op.Filter{Stages: []memory.Stage{memory.Rehydratable}}, []string{"A valve was ordered"}},
		{"", op.Filter{}, []string{"A copper valve leaked", "A valve was ordered"}},
		{"path:A", op.Filter{}, nil},
	} {
		if got := archive(c.query, c.filter); !slices.Equal(got, c.want) {
			t.Errorf("archive holds %q for %q, want %q", got, c.query, c.want)
		}
	}
}

func TestInTheArchiveRelevanceAloneRanks(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	long := do(t, e, op.Save, &op.SaveRequest{Content: "The copper valve of old", CreatedAt: clock.daysAgo(900), LastUsed: clock.daysAgo(900)}).Memory.ID
	freeze(t, e, long, memory.Rehydratable, "A.md", "s", "copper", "valve")
	late := save(t, e, "A copper pipe").ID
	freeze(t, e, late, memory.Archived, "B.md", "copper pipe")
	res := do(t, e, op.Search, &op.SearchRequest{Query: "copper valve", Scope: "archive", Explain: true})
	if len(res.Hits) != 2 || res.Hits[0].ID != long {
		t.Fatalf("found %q, want the old one that has both words first", hitContents(res.Hits))
	}
	for _, h := range res.Hits {
		if h.Rank != h.Explain.Relevance || h.Rank != search.Rank(*h.Explain) {
			t.Errorf("rank is %v of %+v, want the relevance", h.Rank, h.Explain)
		}
	}
	if all := searchFor(t, e, "copper valve"); all[0].Rank >= res.Hits[0].Rank {
		t.Errorf("outside of the archive the best ranks %v as in it", all[0].Rank)
	}
}

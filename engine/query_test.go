package engine_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/engine"
	"emberd/engine/learn"
	"emberd/memory"
	"emberd/op"
)

// inScope asks for what is known, without leaving a trace.
func inScope(t testing.TB, e *engine.Engine, scope, query string) *op.QueryResult {
	t.Helper()
	return do(t, e, op.Query, &op.QueryRequest{Query: query, Scope: scope, Limit: 100, Track: new(false)})
}

// lines are the results for people to compare.
func lines(results []op.QueryHit) []string {
	out := []string{}
	for _, r := range results {
		out = append(out, fmt.Sprintf("%s %.2f %s", r.Scope, r.Relevance, nameOf(r)))
	}
	return out
}

func nameOf(r op.QueryHit) string {
	switch {
	case r.Entity != nil:
		return r.Entity.Name
	case r.Hit.Memory != nil:
		return r.Hit.Content
	}
	return r.Hit.Note.Path
}

// pilots is a store of memories and notes about a harbour.
func pilots(t testing.TB) (*house, *engine.Engine) {
	t.Helper()
	h := vaultHouse(t, map[string]string{
		"Harbour/Pilots.md": "# Pilots\n\nA pilot boards every tanker at the outer buoy.\n",
		"Kettle.md":         "# Kettle\n\nThe kettle leaks.\n",
	})
	e := h.following(t)
	until(t, "what the notes name is known", func() bool { return !do(t, e, op.EntityList, &op.EntityListRequest{}).Partial })
	for _, req := range []op.SaveRequest{
		{Content: "The pilot of the tanker is Ann Lee", Entities: []string{"Ann Lee", "Oslo"}, Project: "port", Source: "call with Ann"},
		{Content: "The tanker unloads at night", Tags: []string{"tanker"}},
		{Content: "Tides turn at six", Project: "port"},
	} {
		do(t, e, op.Save, &req)
	}
	return h, e
}

func TestQueryAsksTheScopeItIsGiven(t *testing.T) {
	t.Parallel()
	_, e := pilots(t)
	for _, c := range []struct {
		scope, query string
		want         []string
	}{
		{"notes", "tanker pilot", []string{"The pilot of the tanker is Ann Lee", "Harbour/Pilots.md", "The tanker unloads at night"}},
		{"memories", "tanker pilot", []string{"The pilot of the tanker is Ann Lee", "The tanker unloads at night"}},
		{"vault", "tanker pilot", []string{"Harbour/Pilots.md"}},
		{"archive", "tanker pilot", nil},
		{"knowledge", "tanker", []string{"Ann Lee", "Oslo"}},
		{"knowledge", "kettle", []string{"Kettle"}}, // which a note is about
		{"knowledge", "zeppelin", nil},
		{"knowledge", "Ann Lee", []string{"Ann Lee", "Oslo"}},
		{"all", "Ann Lee", []string{"The pilot of the tanker is Ann Lee", "Ann Lee", "Oslo"}},
		{"", "leaks", []string{"Kettle.md"}},
	} {
		res := inScope(t, e, c.scope, c.query)
		var got []string
		for _, r := range res.Results {
			got = append(got, nameOf(r))
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: got %q, want %q", c.query, c.scope, lines(res.Results), c.want)
		}
		if nothing := res.Message == "No matching memories found"; nothing != (len(c.want) == 0) || res.Compared != op.ComparedByWords {
			t.Errorf("%q in %q says %q, compared by %q", c.query, c.scope, res.Message, res.Compared)
		}
	}
}

// TestRelevanceIsTheShareOfWhatWasAsked: the name of an entity and a text that hold the
// same words of the question are equally relevant, and the text comes first.
func TestRelevanceIsTheShareOfWhatWasAsked(t *testing.T) {
	t.Parallel()
	_, e := pilots(t)
	got := inScope(t, e, "all", "Ann Lee").Results
	if len(got) < 2 || got[0].Relevance != 1 || got[0].Hit == nil || got[1].Relevance != 1 || got[1].Entity == nil {
		t.Errorf("got %q, want the text and then the entity with all that was asked", lines(got))
	}
	got = inScope(t, e, "all", "Ann Lee zeppelin").Results
	if len(got) < 2 || got[0].Relevance >= 1 || got[0].Relevance != got[1].Relevance {
		t.Errorf("got %q, want both to lack the zeppelin", lines(got))
	}
}

func TestAResultTellsOfItsMemory(t *testing.T) {
	t.Parallel()
	_, e := pilots(t)
	first := do(t, e, op.Query, &op.QueryRequest{Query: "tides turn"}).Results[0]
	if m := first.Hit.Memory; m.Importance != 0.5 || !m.LastAccessed.IsZero() || first.Hit.Explain != nil {
		t.Errorf("importance %v, accessed %v, explained %v", m.Importance, m.LastAccessed, first.Hit.Explain)
	}
	again := do(t, e, op.Query, &op.QueryRequest{Query: "tides turn"}).Results[0].Hit
	if again.AccessCount != 1 || again.LastAccessed.IsZero() || again.UseCount != 0 {
		t.Errorf("%d accesses, the last at %v, and %d uses; want one access and no use", again.AccessCount, again.LastAccessed, again.UseCount)
	}
	if got := inScope(t, e, "notes", "pilot Ann").Results[0]; !strings.HasPrefix(got.Source, memory.FromAgent) || !strings.HasSuffix(got.Source, "; call with Ann") {
		t.Errorf("source is %q", got.Source)
	}
	if got := inScope(t, e, "vault", "kettle").Results[0]; got.Source != "note in the vault" {
		t.Errorf("source of a note is %q", got.Source)
	}
}

// TestOnlyWhatIsShownIsAccessed: what is passed over, or beyond the limit, is not.
func TestOnlyWhatIsShownIsAccessed(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for i := range 5 {
		save(t, e, fmt.Sprint("pebble", strings.Repeat(" pebble", i)))
	}
	page := do(t, e, op.Query, &op.QueryRequest{Query: "pebble", Limit: 2, Offset: 1})
	if page.Total != 5 || len(page.Results) != 2 {
		t.Fatalf("got %q of %d", lines(page.Results), page.Total)
	}
	for _, r := range inScope(t, e, "notes", "pebble").Results {
		shown := slices.ContainsFunc(page.Results, func(p op.QueryHit) bool { return p.Hit.ID == r.Hit.ID })
		if got := r.Hit.AccessCount; got != map[bool]int64{true: 1}[shown] {
			t.Errorf("%q was accessed %d times, shown %v", r.Hit.Content, got, shown)
		}
	}
	do(t, e, op.Query, &op.QueryRequest{Query: "pebble", Scope: "knowledge"})
	if got := inScope(t, e, "notes", "pebble").Results[4].Hit.AccessCount; got > 1 {
		t.Errorf("what the knowledge scope only begins at was accessed %d times", got)
	}
}

func TestPagesOfAQueryMakeUpTheWhole(t *testing.T) {
	t.Parallel()
	_, e := pilots(t)
	for i := range 12 {
		do(t, e, op.Save, &op.SaveRequest{Content: fmt.Sprintf("Ann Lee sees tanker %d", i), Entities: []string{"Ann Lee", fmt.Sprint("Tanker ", i)}})
	}
	rapid.Check(t, func(rt *rapid.T) {
		ask := rapid.SampledFrom([]string{"tanker", "Ann Lee", "Ann Lee tanker 3 pilot"}).Draw(rt, "query")
		scope := rapid.SampledFrom([]string{"all", "notes", "knowledge"}).Draw(rt, "scope")
		size := rapid.IntRange(1, 7).Draw(rt, "page")
		whole := inScope(t, e, scope, ask)
		var got []string
		for len(got) < len(whole.Results) {
			page := do(t, e, op.Query, &op.QueryRequest{Query: ask, Scope: scope, Limit: size, Offset: len(got), Track: new(false)})
			if len(page.Results) == 0 {
				break
			}
			got = append(got, lines(page.Results)...)
		}
		if want := lines(whole.Results); !slices.Equal(got, want) {
			rt.Errorf("pages of %d of %q in %q: got %q, want %q", size, ask, scope, got, want)
		}
		if !slices.IsSortedFunc(whole.Results, func(a, b op.QueryHit) int { return cmp.Compare(b.Relevance, a.Relevance) }) {
			rt.Errorf("%q in %q is out of order: %q", ask, scope, lines(whole.Results))
		}
		for _, r := range whole.Results {
			if r.Relevance < 0 || r.Relevance > 1 {
				rt.Errorf("%q is relevant by %v", nameOf(r), r.Relevance)
			}
		}
	})
}

// TestKnowledgeFollowsRelations from what matches to what does not, both ways.
func TestKnowledgeFollowsRelations(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	gasket, leak, bill := save(t, e, "The gasket was ordered"), save(t, e, "The kettle leaks"), save(t, e, "A bill of 12 euros came")
	far := save(t, e, "Taxes are due")
	for _, r := range [][2]memory.ID{{leak.ID, gasket.ID}, {bill.ID, leak.ID}, {far.ID, bill.ID}} {
		do(t, e, op.Relate, &op.RelateRequest{From: string(r[0]), To: string(r[1]), Type: "causes"})
	}
	for _, scope := range []string{"knowledge", "all"} {
		res := inScope(t, e, scope, "kettle")
		var got []string
		for _, r := range res.Results {
			if r.Via != nil && (r.Via.Type != "causes" || r.Relevance != learn.OneStep) {
				t.Errorf("%q is reached by %+v with %v", nameOf(r), r.Via, r.Relevance)
			}
			if r.Via != nil {
				got = append(got, nameOf(r))
			}
		}
		slices.Sort(got)
		if want := []string{bill.Content, gasket.Content}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", scope, got, want)
		}
	}
	if got := inScope(t, e, "all", "kettle gasket").Results; len(got) != 3 {
		t.Errorf("what matches itself is there twice: %q", lines(got))
	}
}

func TestKnowledgeKeepsToTheProject(t *testing.T) {
	t.Parallel()
	_, e := pilots(t)
	do(t, e, op.Save, &op.SaveRequest{Content: "Bergen is foggy", Entities: []string{"Bergen"}, Project: "north"})
	for project, want := range map[string]int{"port": 0, "north": 1, "": 1} {
		res := do(t, e, op.Query, &op.QueryRequest{Query: "Bergen", Scope: "knowledge", Project: project})
		if len(res.Results) != want {
			t.Errorf("project %q: got %q, want %d", project, lines(res.Results), want)
		}
	}
}

func TestKnowledgeOfAProjectByAnotherName(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, library()).following(t)
	if _, err := e.Notes.Vault.AllLinks(t.Context()); err != nil {
		t.Fatal(err)
	}
	do(t, e, op.Save, &op.SaveRequest{Content: "Ada wrote the notes", Entities: []string{"Ada"}, Project: "north"})
	for project, want := range map[string]bool{"port": false, "north": true, "": true} {
		res := do(t, e, op.Query, &op.QueryRequest{Query: "Ada Lovelace", Scope: "knowledge", Project: project})
		got := slices.ContainsFunc(res.Results, func(r op.QueryHit) bool { return r.Entity != nil && r.Entity.Name == "Ada Lovelace" })
		if got != want {
			t.Errorf("project %q: got %q; she is among them: %t, want %t", project, lines(res.Results), got, want)
		}
	}
}

func TestQueryOfTheArchiveTellsWhyAndWhen(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e, id := h.faded(t, 45, memory.Archived)
	res := inScope(t, e, "archive", "tides")
	if len(res.Results) != 1 || res.Results[0].Hit.ID != id || res.Results[0].Scope != "archive" || res.Results[0].Relevance != 1 {
		t.Fatalf("got %q", lines(res.Results))
	}
	if m := res.Results[0].Hit; m.ArchiveReason == "" || m.ArchivedAt.IsZero() || m.Summary == "" {
		t.Errorf("archived at %v because of %q, summary %q", m.ArchivedAt, m.ArchiveReason, m.Summary)
	}
}

func TestQueriesThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, c := range []struct {
		req   op.QueryRequest
		field string
		says  string
	}{
		{op.QueryRequest{}, "query", "missing query; describe in a few words what to search for"},
		{op.QueryRequest{Query: " \n"}, "query", "missing query; describe in a few words what to search for"},
		{op.QueryRequest{Query: strings.Repeat("x", memory.MaxQueryBytes+1)}, "query", "too many bytes in the query: 4097"},
		{op.QueryRequest{Query: "x", Scope: "graph"}, "scope", `invalid scope "graph"; use notes, memories, vault, knowledge, archive, sessions or all`},
		{op.QueryRequest{Query: "x", Scope: "vault"}, "scope", "no vault configured"},
		{op.QueryRequest{Query: "x", Limit: 101}, "limit", "100"},
		{op.QueryRequest{Query: "x", Limit: -1}, "limit", "1"},
		{op.QueryRequest{Query: "x", Offset: op.MaxOffset + 1}, "offset", "1000"},
		{op.QueryRequest{Query: "x", WindowDays: -1}, "window_days", "0"},
		{op.QueryRequest{Query: "x", Collection: "no_such"}, "collection", "no_such"},
	} {
		err := refused(t, e, op.Query, &c.req)
		if err.Field != c.field || !strings.Contains(err.Message, c.says) {
			t.Errorf("%+v: got %s %q, want %s %q", c.req, err.Field, err.Message, c.field, c.says)
		}
	}
}

// What another memory took the place of is less relevant than that.
func TestASupersededMemoryIsLessRelevant(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	old := save(t, e, "The staging database runs on port 5432")
	next := do(t, e, op.Save, &op.SaveRequest{Content: "The staging database runs on port 5433", Supersedes: []string{string(old.ID)}}).Memory
	want := []string{"notes 1.00 " + next.Content, "notes 0.90 " + old.Content}
	for _, scope := range []string{"notes", "all"} {
		if got := lines(inScope(t, e, scope, "staging database").Results); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", scope, got, want)
		}
	}
}

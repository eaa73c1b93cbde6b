package engine_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// said are the relations of a page in the words of their memories.
func said(t testing.TB, e *engine.Engine, relations []memory.Relation) string {
	t.Helper()
	var out []string
	for _, r := range relations {
		out = append(out, fmt.Sprintf("%s>%s", look(t, e, r.From).Content, look(t, e, r.To).Content))
	}
	return strings.Join(out, " ")
}

// quay is an engine with five memories, one a minute, and relations between them.
func quay(t testing.TB) (*engine.Engine, map[string]op.Memory) {
	e, clock := newEngine(t)
	all := make(map[string]op.Memory)
	for _, name := range []string{"anchor", "boat", "crane", "dock", "eel"} {
		all[name] = do(t, e, op.Save, &op.SaveRequest{Content: name, Tags: []string{name[:1]}, UseCount: int64(len(name))}).Memory
		clock.advance(time.Minute)
	}
	for _, ends := range []string{"anchor boat", "boat crane", "crane anchor", "boat anchor", "eel eel"} {
		from, to, _ := strings.Cut(ends, " ")
		do(t, e, op.Relate, relating(all[from], all[to], "related"))
		clock.advance(time.Minute)
	}
	return e, all
}

// Every relation is once on the pages of a graph, with the memory that it starts at.
func TestTheGraphIsPaged(t *testing.T) {
	t.Parallel()
	e, _ := quay(t)
	for _, c := range []struct {
		page                int
		memories, relations string
		more                bool
	}{
		{1, "eel dock", "eel>eel", true},
		{2, "crane boat", "crane>anchor boat>anchor boat>crane", true},
		{3, "anchor", "anchor>boat", false},
		{4, "", "", false},
		{1000, "", "", false},
	} {
		g := do(t, e, op.Graph, &op.GraphRequest{Page: c.page, PageSize: 2})
		if got := strings.Join(contents(g.Memories), " "); got != c.memories {
			t.Errorf("page %d has %q, want %q", c.page, got, c.memories)
		}
		if got := said(t, e, g.Relations); got != c.relations {
			t.Errorf("page %d has the relations %q, want %q", c.page, got, c.relations)
		}
		want := op.Pagination{Page: c.page, PageSize: 2, TotalCount: 5, TotalPages: 3, HasMore: c.more}
		if g.Pagination != want || g.Stats.TotalMemories != 5 || g.Stats.TotalRelations != 5 {
			t.Errorf("page %d: %+v, %+v", c.page, g.Pagination, g.Stats)
		}
	}
}

func TestTheGraphHasTheNewestUpToALimit(t *testing.T) {
	t.Parallel()
	e, all := quay(t)
	g := do(t, e, op.Graph, &op.GraphRequest{Limit: 4})
	if got := strings.Join(contents(g.Memories), " "); got != "eel dock crane boat" || said(t, e, g.Relations) != "eel>eel boat>crane" {
		t.Errorf("the graph has %q, and %q", got, said(t, e, g.Relations))
	}
	uses := float64(len("eel")+len("dock")+len("crane")+len("boat")) / 4
	score := (look(t, e, all["eel"].ID).Score + look(t, e, all["dock"].ID).Score + look(t, e, all["crane"].ID).Score + look(t, e, all["boat"].ID).Score) / 4
	want := op.GraphStats{TotalMemories: 4, TotalRelations: 2, AvgUseCount: uses, AvgScore: g.Stats.AvgScore, StatusFilter: "active"}
	if g.Stats != want || math.Abs(g.Stats.AvgScore-score) > 1e-9 {
		t.Errorf("%+v, want %+v and the score %v", g.Stats, want, score)
	}
}

func TestTheGraphOfWhatAFilterSelects(t *testing.T) {
	t.Parallel()
	e, all := quay(t)
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(all["crane"].ID)})
	for _, c := range []struct {
		req                 op.GraphRequest
		memories, relations string
	}{
		{op.GraphRequest{}, "eel dock boat anchor", "eel>eel boat>anchor anchor>boat"},
		{op.GraphRequest{Status: " ALL "}, "eel dock boat anchor", "eel>eel boat>anchor anchor>boat"},
		{op.GraphRequest{Status: "promoted"}, "", ""},
		{op.GraphRequest{Status: "archived"}, "", ""},
		{op.GraphRequest{Filter: op.Filter{Tags: []string{"b"}}}, "boat", ""},
		{op.GraphRequest{Filter: op.Filter{Tags: []string{"e"}}}, "eel", "eel>eel"},
		{op.GraphRequest{Filter: op.Filter{MinScore: 100}}, "", ""},
	} {
		g := do(t, e, op.Graph, &c.req)
		if got := strings.Join(contents(g.Memories), " "); got != c.memories || said(t, e, g.Relations) != c.relations {
			t.Errorf("%+v selects %q and %q, want %q and %q", c.req, got, said(t, e, g.Relations), c.memories, c.relations)
		}
		if g.Stats.TotalRelations != len(g.Relations) || g.Stats.TotalMemories != len(g.Memories) {
			t.Errorf("%+v: %+v", c.req, g.Stats)
		}
	}
}

func TestGraphsThatAreRefused(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, c := range []struct {
		req   op.GraphRequest
		field string
		says  string
	}{
		{op.GraphRequest{Status: "deleted"}, "status", `use active, promoted, archived or all`},
		{op.GraphRequest{Page: -1}, "page", "page -1 is out of range (1 to"},
		{op.GraphRequest{PageSize: 101}, "page_size", "page_size 101 is out of range (1 to 100)"},
		{op.GraphRequest{Limit: 10_001}, "limit", "limit 10001 is out of range (0 to 10000)"},
		{op.GraphRequest{Filter: op.Filter{WindowDays: 3651}}, "window_days", "window_days 3651 is out of range ("},
	} {
		err := refused(t, e, op.Graph, &c.req)
		if wantCode(t, err, memory.Invalid, c.says); err.Field != c.field {
			t.Errorf("%s: field %q", c.says, err.Field)
		}
	}
	err := refused(t, e, op.Graph, &op.GraphRequest{Filter: op.Filter{Collection: "recipes"}})
	wantCode(t, err, memory.NotFound, "recipes")
}

// Relations are cut between two memories, and a smaller page has them all.
func TestAGraphOfHubsIsCut(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	var hubs []op.Memory
	for i := range 3 {
		hubs = append(hubs, save(t, e, fmt.Sprint("hub ", i)))
		clock.advance(time.Second)
	}
	for _, hub := range hubs {
		for part := range 3 {
			req := new(op.RelateBatchRequest)
			for i := range 400 {
				it := relating(hub, hubs[0], "related")
				it.Kind = fmt.Sprint(part, i)
				req.Items = append(req.Items, *it)
			}
			do(t, e, op.RelateBatch, req)
		}
	}
	g := do(t, e, op.Graph, &op.GraphRequest{})
	if len(g.Relations) != 2400 || !g.Truncated || g.Stats.TotalRelations != 3600 {
		t.Errorf("%d relations of %d, truncated %v", len(g.Relations), g.Stats.TotalRelations, g.Truncated)
	}
	if g = do(t, e, op.Graph, &op.GraphRequest{PageSize: 1, Page: 3}); len(g.Relations) != 1200 || g.Truncated {
		t.Errorf("the last page has %d relations, truncated %v", len(g.Relations), g.Truncated)
	}
	one := do(t, e, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(hubs[0].ID)}}).Memories[0].Relations
	if len(one.Incoming) != 1000 || len(one.Outgoing) != 1000 || !one.Truncated {
		t.Errorf("an opened memory has %d relations in, %d out, truncated %v", len(one.Incoming), len(one.Outgoing), one.Truncated)
	}
}

// Whatever memories and relations there are, the pages of a graph together have each
// selected memory and each relation between two of them once.
func TestPagesOfAGraphAddUp(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	var all []op.Memory
	for i := range 12 {
		all = append(all, save(t, e, fmt.Sprint(i), []string{"odd", "even"}[i%2]))
		clock.advance(time.Second * time.Duration(i%2)) // some at the same time
	}
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(label string) op.Memory { return rapid.SampledFrom(all).Draw(rt, label) }
		req := relating(pick("from"), pick("to"), rapid.SampledFrom(memory.RelationTypes()).Draw(rt, "type"))
		if _, err := op.Relate.Call(t.Context(), e, req); err != nil && memory.CodeOf(err) != memory.Conflict {
			rt.Fatal(err)
		}
		g := op.GraphRequest{Limit: rapid.IntRange(0, 13).Draw(rt, "limit"), PageSize: rapid.IntRange(1, 5).Draw(rt, "size"), Page: 1}
		g.Tags = rapid.SampledFrom([][]string{nil, {"odd"}}).Draw(rt, "tags")
		var memories []memory.ID
		relations := map[string]memory.Relation{}
		var stats op.GraphStats
		for more := true; more; g.Page++ {
			page := do(t, e, op.Graph, &g)
			more, stats = page.Pagination.HasMore, page.Stats
			for _, m := range page.Memories {
				memories = append(memories, m.ID)
			}
			for _, r := range page.Relations {
				if _, twice := relations[r.ID]; twice || !slices.Contains(memories, r.From) {
					rt.Fatalf("relation %s is on two pages, or on another than its memory", r.ID)
				}
				relations[r.ID] = r
			}
		}
		for _, r := range relations {
			if !slices.Contains(memories, r.To) {
				rt.Fatalf("relation %s leads out of the graph", r.ID)
			}
		}
		if stats.TotalMemories != len(memories) || stats.TotalRelations != len(relations) {
			rt.Fatalf("%d memories and %d relations are counted, %d and %d are there", stats.TotalMemories, stats.TotalRelations, len(memories), len(relations))
		}
	})
}

package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/mcp/cortexgraph"
	"emberd/memory"
	"emberd/op"
)

// ran calls a tool that has to succeed, and reads its structured content.
func ran[Out any](t testing.TB, s *session, tool, args string) *Out {
	t.Helper()
	res, _ := s.callTool(tool, json.RawMessage(args))
	if res == nil || res.IsError {
		t.Fatalf("%s %s failed: %+v", tool, args, res)
	}
	out := new(Out)
	if err := json.Unmarshal(res.Structured, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// saved saves a memory beside the tools.
func saved(t testing.TB, e *engine.Engine, req *op.SaveRequest) memory.ID {
	t.Helper()
	res, err := op.Save.Call(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	return res.Memory.ID
}

// The answer says that words were searched where they were, and not where there are vectors.
func TestSearchByEmbeddings(t *testing.T) {
	vectors, err := embedding.Open(embedding.Options{Providers: []string{embedding.Words}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vectors.Close() })
	for name, c := range map[string]struct {
		meaning core.Meaning
		want    string
	}{
		"no model":     {want: "No embedding model: the query was searched by its words."},
		"vectors":      {meaning: core.Meaning{Embedder: vectors, Weight: 1, Wait: time.Minute, Share: 1}},
		"switched off": {meaning: core.Meaning{Embedder: vectors, Wait: time.Minute, Share: 1}, want: "The query was searched by its words: search.meaning is off."},
	} {
		t.Run(name, func(t *testing.T) {
			opt := engine.DefaultOptions()
			opt.Data, opt.State, opt.Meaning = t.TempDir(), t.TempDir(), c.meaning
			store := running(t, opt, nil)
			saved(t, store, &op.SaveRequest{Content: "high tide at noon"})
			s := newSession(t, store, CortexGraph)
			got := ""
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				got = ran[cortexgraph.FoundMemories](t, s, "search_memory", `{"query":"tides","use_embeddings":true}`).Message
				if got == c.want {
					return
				}
			}
			t.Errorf("the answer says %q, want %q", got, c.want)
		})
	}
}

func TestPagesOfASearch(t *testing.T) {
	store := newStore(t, newClock(), nil)
	for i := range 25 {
		saved(t, store, &op.SaveRequest{Content: fmt.Sprintf("tide table %d", i)})
	}
	s := newSession(t, store, CortexGraph)
	for _, c := range []struct {
		args  string
		count int
		want  op.Pagination
	}{
		{`{"page":1}`, 10, op.Pagination{Page: 1, PageSize: 10, TotalCount: 25, TotalPages: 3, HasMore: true}},
		{`{"query":"tide","page":3,"page_size":10}`, 5, op.Pagination{Page: 3, PageSize: 10, TotalCount: 25, TotalPages: 3}},
		{`{"query":"tide","page":10,"page_size":10}`, 0, op.Pagination{Page: 10, PageSize: 10, TotalCount: 25, TotalPages: 3}},
		{`{"query":"zirconium","page":1}`, 0, op.Pagination{Page: 1, PageSize: 10}},
		{`{"query":"tide","page_size":25,"top_k":3}`, 25, op.Pagination{Page: 1, PageSize: 25, TotalCount: 25, TotalPages: 1}},
	} {
		got := ran[cortexgraph.FoundMemories](t, s, "search_memory", c.args)
		if got.Count != c.count || len(got.Results) != c.count || got.Pagination == nil || *got.Pagination != c.want {
			t.Errorf("%s: %d results, %+v; want %d, %+v", c.args, got.Count, got.Pagination, c.count, c.want)
		}
	}
	if got := ran[cortexgraph.FoundMemories](t, s, "search_memory", `{"query":"tide"}`); got.Pagination != nil || got.Count != 10 {
		t.Errorf("without page there are %d results and %+v, want 10 and no pages", got.Count, got.Pagination)
	}
}

func TestArchivedMemoriesAreFoundWhenAskedFor(t *testing.T) {
	store := newStore(t, newClock(), map[string]string{})
	active, promoted, archived := saved(t, store, &op.SaveRequest{Content: "the oak in the yard"}),
		saved(t, store, &op.SaveRequest{Content: "the oak at the gate"}), saved(t, store, &op.SaveRequest{Content: "the oak by the road"})
	if _, err := op.Promote.Call(t.Context(), store, &op.PromoteRequest{ID: string(promoted), Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := op.Archive.Call(t.Context(), store, &op.ArchiveRequest{ID: string(archived)}); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, store, CortexGraph)
	for status, want := range map[string][]memory.ID{
		`null`:                             {active, promoted},
		`"active"`:                         {active},
		`["promoted"]`:                     {promoted},
		`["archived"]`:                     {archived},
		`["active","promoted","archived"]`: {active, promoted, archived},
	} {
		var got []memory.ID
		for _, r := range ran[cortexgraph.FoundMemories](t, s, "search_memory", `{"query":"oak","status":`+status+`}`).Results {
			got = append(got, r.ID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("status %s: got %v, want %v", status, got, want)
		}
	}
}

func TestWhatBeginsAlikeIsOneResult(t *testing.T) {
	same := strings.Repeat("The harbour master keeps the log of the tides ", 3)
	store := newStore(t, newClock(), map[string]string{"Harbour.md": same + "in the tower.\n"})
	saved(t, store, &op.SaveRequest{Content: strings.ToUpper(same) + "on the quay."})
	saved(t, store, &op.SaveRequest{Content: "The harbour master is on leave"})
	s := newSession(t, store, CortexGraph)
	got := ran[cortexgraph.FoundEverywhere](t, s, "search_unified", `{"query":"harbour master","ltm_weight":0.1}`)
	var sources []string
	for _, r := range got.Results {
		sources = append(sources, r.Source)
	}
	if got.Count != 2 || !slices.Equal(sources, []string{"stm", "stm"}) {
		t.Errorf("found %d, of %v; want the memory for the note that begins like it, and the other", got.Count, sources)
	}
	for i := 1; i < len(got.Results); i++ {
		if got.Results[i].Score > got.Results[i-1].Score {
			t.Errorf("result %d has a higher score than the one before: %+v", i+1, got.Results)
		}
	}
}

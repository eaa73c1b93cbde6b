package mcp

import (
	"fmt"
	"math"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/mcp/cortexgraph"
	"emberd/memory"
	"emberd/op"
)

// spellings is a calibration that trusts the vectors of hashed words.
var spellings = embedding.Calibration{Exam: 2, Score: 1, Low: 0.05, High: 0.6}

// embeddingStore is a store of tides, and waits until all of it has vectors, if there are any.
func embeddingStore(t *testing.T, model bool) (*engine.Engine, memory.ID) {
	t.Helper()
	opt := engine.DefaultOptions()
	opt.Data, opt.State = t.TempDir(), t.TempDir()
	if model {
		vectors, err := embedding.Open(embedding.Options{Providers: []string{embedding.Words}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = vectors.Close() })
		opt.Meaning = core.Meaning{Embedder: vectors, Weight: 1, Grade: spellings, Wait: time.Minute, Share: 1}
	}
	store := running(t, opt, nil)
	id := saved(t, store, &op.SaveRequest{Content: "high tide at noon", Collection: memory.DefaultCollection})
	saved(t, store, &op.SaveRequest{Content: "the lamp is green", Collection: memory.DefaultCollection})
	for deadline := time.Now().Add(time.Minute); model; time.Sleep(5 * time.Millisecond) {
		status, err := op.EngineStatus.Call(t.Context(), store, &op.EngineStatusRequest{})
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("not everything has vectors: %+v, %v", status, err)
		}
		if status.State == op.EngineComplete {
			break
		}
	}
	return store, id
}

// withQuery is what the query and the memory of high tide have in common by their vectors.
func withQuery(t *testing.T, store *engine.Engine, query string) float64 {
	t.Helper()
	res, err := op.Embed.Call(t.Context(), store, &op.EmbedRequest{Texts: []string{query, "high tide at noon"}})
	if err != nil {
		t.Fatal(err)
	}
	return math.Round(spellings.Similarity(res.Cosines[0][1])*1e4) / 1e4
}

// use_embeddings switches by what is searched, and similarity is what compared_by says.
func TestUseEmbeddings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, query string
		model, use  bool
		found       bool
		by          string
	}{
		{"words without a model", "noon tide", false, true, true, op.ComparedByWords},
		{"words in spite of a model", "noon tide", true, false, true, op.ComparedByWords},
		{"vectors", "noon tide", true, true, true, op.ComparedByVectors},
		{"no word of it without a model", "tidewater noonday", false, true, false, ""},
		{"no word of it in spite of a model", "tidewater noonday", true, false, false, ""},
		{"no word of it, and vectors", "tidewater noonday", true, true, true, op.ComparedByVectors},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store, id := embeddingStore(t, c.model)
			got := ran[cortexgraph.FoundMemories](t, newSession(t, store, CortexGraph), "search_memory",
				fmt.Sprintf(`{"query":%q,"use_embeddings":%v}`, c.query, c.use))
			if !c.found {
				if len(got.Results) != 0 {
					t.Fatalf("found %+v, which has none of the words", got.Results)
				}
				return
			}
			want := 1.0 // both words
			if c.by == op.ComparedByVectors {
				want = withQuery(t, store, c.query)
			}
			if len(got.Results) == 0 || got.Results[0].ID != id {
				t.Fatalf("found %+v, want %s first", got.Results, id)
			}
			if r := got.Results[0]; r.Similarity == nil || math.Abs(float64(*r.Similarity)-want) > 1e-3 || r.ComparedBy != c.by {
				t.Errorf("similarity %v by %s, want %v by %s", *r.Similarity, r.ComparedBy, want, c.by)
			}
		})
	}
}

// A memory has an embedding, and the version of one, as soon as its text has one.
func TestHasEmbedding(t *testing.T) {
	t.Parallel()
	type opened struct {
		Memories []struct {
			HasEmbedding bool `json:"has_embedding"`
		}
	}
	type kept struct {
		HasEmbedding bool `json:"has_embedding"`
	}
	for model, version := range map[bool]string{false: "words", true: "hashed"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			store, id := embeddingStore(t, model)
			s := newStructured(t, store, All)
			if got := ran[opened](t, s, "open_memories", fmt.Sprintf(`{"memory_ids":%q}`, id)).Memories; len(got) != 1 ||
				got[0].HasEmbedding != model {
				t.Errorf("with a model %v it is opened with %+v", model, got)
			}
			if got := ran[kept](t, s, "save_memory", `{"content":"high tide at noon"}`).HasEmbedding; got != model {
				t.Errorf("a text that is known has an embedding %v, want %v", got, model)
			}
			res := ran[vectorSearchOut](t, s, "vector_search_knowledge", `{"query":"noon tide"}`)
			if len(res.Results) == 0 {
				t.Fatal("no problems")
			}
			by, alike := op.ComparedByWords, 1.0
			if model {
				by, alike = op.ComparedByVectors, withQuery(t, store, "noon tide")
			}
			for _, r := range res.Results {
				if r.ID != id { // may not be indexed yet
					continue
				}
				if r.Metadata.EmbeddingVersion != "words" || r.ComparedBy != by || math.Abs(r.Similarity-alike) > 1e-3 {
					t.Errorf("%s has the version %s, similarity %v by %s, want %v by %s", r.ID, r.Metadata.EmbeddingVersion,
						r.Similarity, r.ComparedBy, alike, by)
				}
			}
		})
	}
}

// A version that was imported is no vector's.
func TestImportedEmbeddingVersion(t *testing.T) {
	t.Parallel()
	store, id := embeddingStore(t, false)
	s := newStructured(t, store, All)
	ran[map[string]any](t, s, "memory_migration_run", `{"collection":"all"}`)
	found := ran[vectorSearchOut](t, s, "vector_search_knowledge", `{"query":"noon tide"}`).Results
	if len(found) != 1 || found[0].ID != id || found[0].Metadata.EmbeddingVersion != "words" {
		t.Errorf("found %+v, want the version words", found)
	}
}

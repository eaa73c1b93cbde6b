package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/embedding"
	"emberd/engine"
	"emberd/engine/semantic"
	"emberd/memory"
	"emberd/op"
	"emberd/vectors"
)

// filler is text of many paragraphs that no query of a test is about.
func filler(paragraphs int) string {
	var b strings.Builder
	for i := range paragraphs {
		fmt.Fprintf(&b, "Paragraph %d is of tools and wood of every kind. %s\n\n", i,
			strings.Repeat("It goes on about shelves and drawers. ", 8))
	}
	return b.String()
}

// docOf is the document of a memory in the index that is built.
func docOf(e *engine.Engine, id memory.ID) vectors.Doc {
	doc, _ := e.Semantic.Meaning.Building.Store.Doc(semantic.MemoryDoc(id))
	return doc
}

func TestTheEndOfALongMemoryIsFoundByMeaning(t *testing.T) {
	t.Parallel()
	e := withThesaurus(t, newHouse(t)).running(t)
	id := save(t, e, filler(12)+strings.Repeat("The vehicle stands here over winter. ", 20)).ID
	other := save(t, e, filler(9)).ID
	short := save(t, e, "Hammers are in the drawer.").ID
	covered(t, e)
	if got := len(docOf(e, short).Chunks); got != 1 {
		t.Errorf("the short memory has %d vectors, want 1", got)
	}
	if got := len(docOf(e, id).Chunks); got < 4 {
		t.Errorf("the long memory has %d vectors, want one of the whole and several of passages", got)
	}
	s, _ := e.Semantic.Meaning.EmbedQuery(t.Context(), "car")
	whole, _ := s.Cosine(id)
	best, known := s.CosineOfMemory(id)
	if !known || best < 2*whole {
		t.Errorf("the whole has a cosine of %v and the best passage %v, %v", whole, best, known)
	}
	res := do(t, e, op.Search, &op.SearchRequest{Query: "car", Explain: true})
	if len(res.Hits) != 1 || res.Hits[0].ID != id {
		t.Fatalf("found %q, want the memory of the vehicle alone, not %s", namesOf(res.Hits), other)
	}
	hit := res.Hits[0]
	if x := hit.Explain.Meaning; x == nil || x.Cosine < best-0.01 || x.Line != 0 {
		t.Errorf("it is explained by %+v, want the cosine %v", x, best)
	}
	if got := hit.Snippet; !strings.Contains(got.Text, "vehicle stands here") || len(got.Marks) > 0 {
		t.Errorf("its excerpt is %q, want its nearest passage, unmarked", got.Text)
	}
	why := do(t, e, op.WhyNot, &op.WhyNotRequest{Query: "car", Of: string(other)})
	if text := inJSON(t, why); !strings.Contains(text, "the embedding of the text is not similar enough") {
		t.Errorf("why the other is not found: %s", text)
	}
}

// Texts are compared as wholes: a long one that a model reads the beginning of is compared by words.
func TestPassagesMakeNothingKnown(t *testing.T) {
	t.Parallel()
	e := withThesaurus(t, newHouse(t)).running(t)
	id := save(t, e, filler(12)+"The vehicle stands here over winter.").ID
	covered(t, e)
	got := verify(t, e, "The automobile is fast")
	if got.Compared == op.ComparedByVectors || slices.ContainsFunc(got.Matches, func(m op.Match) bool {
		return m.Memory.ID == id
	}) {
		t.Errorf("compared with the passage of %s by vectors: %+v", id, got)
	}
}

func TestPurgeLeavesNoPassage(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{Providers: []string{embedding.Words}})
	e := h.running(t)
	id := save(t, e, filler(12)).ID
	kept := save(t, e, "a text that stays").ID
	covered(t, e)
	store := e.Semantic.Meaning.Building.Store
	var all [][]float32
	for _, c := range docOf(e, id).Chunks {
		v, ok := store.Vector(c.Key)
		if !ok || !numbersOnDisk(t, v, h.State, h.Data) {
			t.Fatal("no file has the vector before the purge, so that this proves nothing")
		}
		all = append(all, v)
	}
	if len(all) < 4 {
		t.Fatalf("it has %d vectors, want several", len(all))
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(id)})
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(id)})
	for i, v := range all {
		if numbersOnDisk(t, v, h.State, h.Data) {
			t.Errorf("a file has vector %d of what was purged", i)
		}
	}
	if v, ok := store.Vector(docOf(e, kept).Chunks[0].Key); !ok || !numbersOnDisk(t, v, h.State) {
		t.Error("what was not purged has lost its vector")
	}
}

// An index of a version without passages gets them, and keeps the vectors that it has.
func TestAnIndexWithoutPassagesGetsThem(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{Providers: []string{embedding.Words}})
	e := h.running(t)
	long, short := save(t, e, filler(12)).ID, save(t, e, "a text that stays").ID
	covered(t, e)
	store := e.Semantic.Meaning.Building.Store
	passages := len(docOf(e, long).Chunks) - 1
	row, _ := e.Stm.Get(long)
	do(t, e, op.EnginePause, &op.EnginePauseRequest{})
	before := vectors.Doc{Name: semantic.MemoryDoc(long), Digest: semantic.DigestOfMemory(row),
		Chunks: []vectors.Chunk{{Key: semantic.DigestOfMemory(row)}}}
	ok(t, store.Place([]vectors.Doc{before}, nil))
	ok(t, store.Purge(t.Context()))
	was := docOf(e, short)
	ok(t, e.Close())

	e = h.running(t)
	until(t, "it is known what lacks vectors", func() bool { return engineStatus(t, e).Meaning.Total == 2 })
	if got := engineStatus(t, e).Meaning; got.Covered != 1 {
		t.Errorf("%d of %d have their vectors, want 1", got.Covered, got.Total)
	}
	if _, has := e.Semantic.Meaning.ServingRack().Vector(long, e.Semantic.MemoryDigest); !has {
		t.Error("the vector of the whole does not serve in the meantime")
	}
	do(t, e, op.EngineResume, &op.EngineResumeRequest{})
	if got := covered(t, e); int(got.Made) != passages {
		t.Errorf("made %d vectors, want those of %d passages", got.Made, passages)
	}
	wantWholeRack(t, e)
	if got := docOf(e, short); got.Digest != was.Digest || !slices.Equal(got.Chunks, was.Chunks) {
		t.Errorf("the short memory has %+v, want %+v", got, was)
	}
}

// wantPassages compares the documents of memories with their texts.
func wantPassages(t testing.TB, e *engine.Engine) {
	t.Helper()
	on := e.Semantic.Meaning.Building
	for r := range e.Stm.Rows() {
		text := strings.TrimSpace(r.Content())
		if r.Stage().Cold() {
			text = strings.TrimSpace(r.Text())
		}
		var want []vectors.Chunk
		for _, p := range on.PartsOfMemory(t.Context(), text) {
			want = append(want, vectors.Chunk{Key: semantic.DigestOfText(p.Text), Line: p.Start})
		}
		if more := len(want) > 1; more == on.FitsModel(t.Context(), text) {
			t.Errorf("%q has %d parts", text, len(want))
		}
		if got := docOf(e, r.ID()).Chunks; !slices.Equal(got, want) {
			t.Errorf("memory %s has %d vectors, want %d of %q", r.ID(), len(got), len(want), text)
		}
		if _, has := on.Vector(r.ID(), e.Semantic.MemoryDigest); !has {
			t.Errorf("memory %s has no vector of its whole text", r.ID())
		}
	}
}

// TestPassagesFollowEdits saves, edits, archives, forgets and purges memories at random.
func TestPassagesFollowEdits(t *testing.T) {
	t.Parallel()
	text := rapid.Custom(func(r *rapid.T) string {
		some := rapid.SampledFrom([]string{"The kettle leaks at the seam. ", "The pot shines.\n\n", "Tools and wood of every kind. ",
			"The roof was mended in May by the neighbour's son.\n", "Nobody has seen the cat since. "})
		return strings.Join(rapid.SliceOfN(some, 1, 24).Draw(r, "sentences"), "")
	})
	rapid.Check(t, func(r *rapid.T) {
		h := meant(t, vaultHouse(t, nil), embedding.Options{Providers: []string{embedding.Words}, MaxTokens: 48})
		e := h.following(t)
		var live, dead []string
		used := make(map[vectors.Key]bool)
		n := 0
		fresh := func() string { // no text comes twice: one that was forgotten is not taken again
			n++
			return text.Draw(r, "text") + strconv.Itoa(n)
		}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			act := rapid.IntRange(0, 5).Draw(r, "act")
			if len(live) == 0 || act == 0 {
				live = append(live, string(save(t, e, fresh()).ID))
				continue
			}
			i := rapid.IntRange(0, len(live)-1).Draw(r, "memory")
			switch id := live[i]; act {
			case 1, 2:
				_, err := op.Edit.Call(t.Context(), e, &op.EditRequest{ID: id, Content: new(fresh())})
				if err != nil {
					wantCode(t, err, memory.Conflict, "is archived")
				}
			case 3:
				if _, err := op.Archive.Call(t.Context(), e, &op.ArchiveRequest{ID: id}); err != nil {
					wantCode(t, err, memory.Conflict, "")
				}
			case 4, 5:
				do(t, e, op.Forget, &op.ForgetRequest{ID: id})
				live, dead = slices.Delete(live, i, i+1), append(dead, id)
			}
			if rapid.Bool().Draw(r, "waits") {
				covered(t, e)
				for doc := range e.Semantic.Meaning.Building.Store.Docs() {
					for _, c := range doc.Chunks {
						used[c.Key] = true
					}
				}
			}
		}
		covered(t, e)
		wantWholeRack(t, e)
		wantPassages(t, e)
		for _, id := range dead {
			do(t, e, op.Purge, &op.PurgeRequest{ID: id})
		}
		on := e.Semantic.Meaning.Building
		for doc := range on.Store.Docs() {
			for _, c := range doc.Chunks {
				delete(used, c.Key)
			}
		}
		for key := range used {
			if len(dead) > 0 && vectorOnDisk(t, on.Dir, key) {
				r.Errorf("a vector that nothing has is on the disk after the purge")
			}
		}
		ok(t, e.Close())
		if t.Failed() {
			r.Fatalf("failed")
		}
	})
}

// A memory tells of the model of its text's vector, and of none when the text has changed.
func TestEmbeddingVersion(t *testing.T) {
	t.Parallel()
	e := meant(t, newHouse(t), embedding.Options{}).running(t)
	id := save(t, e, "the kettle leaks").ID
	covered(t, e)
	if m := look(t, e, id); !m.HasEmbedding || m.EmbeddingVersion != "tinybert" {
		t.Errorf("it has an embedding %v of %q, want one of tinybert", m.HasEmbedding, m.EmbeddingVersion)
	}
	do(t, e, op.EnginePause, &op.EnginePauseRequest{})
	do(t, e, op.Edit, &op.EditRequest{ID: string(id), Content: new("the kettle is mended")})
	if m := look(t, e, id); m.HasEmbedding || m.EmbeddingVersion != "" {
		t.Errorf("its new text has an embedding %v of %q, want none", m.HasEmbedding, m.EmbeddingVersion)
	}
	do(t, e, op.EngineResume, &op.EngineResumeRequest{})
	until(t, "the new text has one", func() bool { return look(t, e, id).HasEmbedding })
}

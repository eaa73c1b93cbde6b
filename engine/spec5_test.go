package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"emberd/engine"
	"emberd/engine/agents"
	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

// The tests of the specification "lifecycle and rekindling", under its names.
func TestSpec5(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(t *testing.T, h *house)
	}{
		{"test_initialization", specInitialization},
		{"test_stage_multipliers", specMultipliers},
		{"test_demote_stale_chunks", specDemote},
		{"test_demote_threshold_configurable", specDemoteThreshold},
		{"test_demote_preserves_recent", specDemoteRecent},
		{"test_demote_batch_performance", specDemoteBatch},
		{"test_archive_demoted_chunks", specArchive},
		{"test_archive_compression", specCompression},
		{"test_archive_lossy_key_storage", specLossyKey},
		{"test_archive_deletes_from_vector", specArchiveIndex},
		{"test_archive_threshold_configurable", specArchiveThreshold},
		{"test_make_rehydratable", specRehydratable},
		{"test_rekindle_archived", specRekindleArchived},
		{"test_rekindle_rehydratable", specRekindleRehydratable},
		{"test_rekindle_file_not_found", specRekindleGone},
		{"test_rekindle_promotes_to_active", specRekindleActive},
		{"test_consolidate_similar_chunks", specSimilar},
		{"test_consolidate_preserves_metadata", specSimilarMetadata},
		{"test_consolidate_performance", specSimilarMany},
		{"test_get_stage_stats", specStats},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, promotingHouse(t, nil)) })
	}
}

// faded is a memory of the text tides that was not used for so many days, and the stage
// that a run took it to.
func (h *house) faded(t *testing.T, days float64, want memory.Stage) (*engine.Engine, memory.ID) {
	t.Helper()
	e := h.following(t)
	id := h.saved(t, e, days, tides)
	runs(t, e)
	wantStage(t, e, id, want)
	return e, id
}

func specInitialization(t *testing.T, h *house) {
	if want := (rekindle.Ages{Demote: 7 * day, Archive: 30 * day, Rehydrate: 90 * day}); h.Lifecycle.Ages != want {
		t.Errorf("ages %v, want %v", h.Lifecycle.Ages, want)
	}
	st := do(t, h.following(t), op.LifecycleStatus, &op.LifecycleStatusRequest{})
	var got []memory.Stage
	for _, s := range st.Stages {
		got = append(got, s.Stage)
	}
	if !slices.Equal(got, memory.Stages()) || !st.Here || st.Why != "" {
		t.Errorf("status %+v", st)
	}
}

func specMultipliers(t *testing.T, h *house) {
	for stage, want := range map[memory.Stage]float64{memory.Active: 1, memory.Demoted: 0.5, memory.Archived: 0.1, memory.Rehydratable: 0.01} {
		if got := stage.ScoreMultiplier(); got != want {
			t.Errorf("%s counts %v, want %v", stage, got, want)
		}
	}
	e, id := h.faded(t, 10, memory.Demoted)
	for _, s := range do(t, e, op.LifecycleStatus, &op.LifecycleStatusRequest{}).Stages {
		if s.Multiplier != s.Stage.ScoreMultiplier() {
			t.Errorf("the status says of %s: %+v", s.Stage, s)
		}
	}
	if hit := do(t, e, op.Search, &op.SearchRequest{Query: "barometer", Explain: true}).Hits[0]; hit.ID != id || hit.Rank != search.Rank(*hit.Explain) || hit.Explain.Age < 0.9 {
		t.Errorf("a demoted hit ranks %v, explained by %+v", hit.Rank, hit.Explain)
	}
}

func specDemote(t *testing.T, h *house) {
	e, id := h.faded(t, 7, memory.Demoted)
	if m := look(t, e, id); m.Content != tides || m.UseCount != 0 {
		t.Errorf("a demoted memory is %+v", m.Memory)
	}
}

func specDemoteThreshold(t *testing.T, h *house) {
	h.Lifecycle.Ages.Demote = 2 * day
	h.faded(t, 2, memory.Demoted)
}

func specDemoteRecent(t *testing.T, h *house) {
	e, id := h.faded(t, 6.99, memory.Active)
	if versions := do(t, e, op.History, &op.HistoryRequest{ID: string(id)}).Versions; len(versions) != 1 {
		t.Errorf("a recent memory has %d versions, want that nothing was written", len(versions))
	}
}

// Of a thousand, all are demoted by one line of the log; the time is a benchmark's.
func specDemoteBatch(t *testing.T, h *house) {
	h.Lifecycle.Share = 1
	e := h.following(t)
	for range 2 {
		req := new(op.SaveBatchRequest)
		for i := range op.MaxBatch {
			req.Items = append(req.Items, op.SaveRequest{Content: fmt.Sprint("pebble ", i), CreatedAt: h.daysAgo(10), LastUsed: h.daysAgo(10)})
		}
		do(t, e, op.SaveBatch, req)
	}
	events := eventsSince(t, e)
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 1000})
	if got := events(); len(got) != 2 || len(got[0].IDs) != 1000 || got[1].Type != "lifecycle" || got[1].Text != "1000 demoted" {
		t.Errorf("%d events, want one line of the log and one for the run", len(got))
	}
}

func specArchive(t *testing.T, h *house) {
	e, id := h.faded(t, 8, memory.Demoted)
	h.advance(22 * day)
	wantMoves(t, runs(t, e), map[string]int{op.MoveArchive: 1})
	if note := h.note(t, look(t, e, id).VaultPath); !strings.HasSuffix(note, "---\n"+tides) {
		t.Errorf("the note is\n%s", note)
	}
}

func specCompression(t *testing.T, h *house) {
	e := h.following(t)
	text := strings.Repeat(strings.ReplaceAll(tides, "\n\n", " "), 60)
	id := h.saved(t, e, 40, text)
	runs(t, e)
	m := look(t, e, id)
	if got, most := utf8.RuneCountInString(m.Content), utf8.RuneCountInString(text)/100; got > most || m.Stage != memory.Archived {
		t.Errorf("what is left has %d characters of %d, want at most %d: %q", got, utf8.RuneCountInString(text), most, m.Content)
	}
}

func specLossyKey(t *testing.T, h *house) {
	e, id := h.faded(t, 40, memory.Archived)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	m := look(t, h.following(t), id) // it is in the log
	if m.Content == "" || m.Content == tides || len(m.KeyTerms) == 0 || len(m.KeyTerms) > rekindle.MaxKeyTerms || m.TextDigest == "" || m.VaultPath == "" {
		t.Errorf("what is left is %+v", m.Memory)
	}
}

func specArchiveIndex(t *testing.T, h *house) {
	e, id := h.faded(t, 40, memory.Archived)
	terms := core.Distinct(e.Text.Query(tides))
	if _, df := e.Stm.Frequencies(terms); slices.ContainsFunc(df, func(n int) bool { return n > 0 }) {
		t.Errorf("of %q the index of memories has %v", terms, df)
	}
	for _, query := range []string{"boathouse", "rowing crews"} {
		if hits := do(t, e, op.Search, &op.SearchRequest{Query: query}).Hits; len(hits) != 1 || hits[0].Memory == nil || hits[0].ID != id || hits[0].Stage != memory.Archived {
			t.Errorf("%s finds %+v, want the archived memory", query, hits)
		}
	}
}

func specArchiveThreshold(t *testing.T, h *house) {
	h.Lifecycle.Ages = rekindle.Ages{Demote: day, Archive: 3 * day, Rehydrate: 90 * day}
	e, id := h.faded(t, 3, memory.Archived)
	if m := look(t, e, id); m.ArchiveReason != "unused for 3 days" {
		t.Errorf("it was archived for %q", m.ArchiveReason)
	}
}

func specRehydratable(t *testing.T, h *house) {
	e, id := h.faded(t, 40, memory.Archived)
	before := look(t, e, id)
	h.advance(50 * day)
	wantMoves(t, runs(t, e), map[string]int{op.MoveFade: 1})
	m := look(t, e, id)
	if m.Stage != memory.Rehydratable || m.Content != before.Content || !slices.Equal(m.KeyTerms, before.KeyTerms) {
		t.Errorf("what is left is %+v", m.Memory)
	}
}

// brought asks for a cold memory by its id.
func brought(t *testing.T, e *engine.Engine, id memory.ID) op.RekindleResult {
	t.Helper()
	return do(t, e, op.Rekindle, &op.RekindleRequest{Query: string(id)}).Results[0]
}

func specRekindleArchived(t *testing.T, h *house) {
	e, id := h.faded(t, 40, memory.Archived)
	if got := brought(t, e, id); got.Verdict != string(rekindle.Unchanged) || got.Memory.Content != tides {
		t.Errorf("rekindled %+v", got)
	}
}

func specRekindleRehydratable(t *testing.T, h *house) {
	e, id := h.faded(t, 400, memory.Rehydratable)
	if got := brought(t, e, id); got.Verdict != string(rekindle.Unchanged) || got.Memory.Content != tides {
		t.Errorf("rekindled %+v", got)
	}
}

func specRekindleGone(t *testing.T, h *house) {
	e, id := h.faded(t, 40, memory.Archived)
	was := look(t, e, id)
	if err := os.Remove(filepath.Join(h.Vaults[0], was.VaultPath)); err != nil {
		t.Fatal(err)
	}
	var got op.RekindleResult
	until(t, "the note is known to be gone, and not only renamed", func() bool {
		res, err := op.Rekindle.Call(t.Context(), e, &op.RekindleRequest{Query: string(id)})
		if memory.CodeOf(err) == memory.Busy {
			return false
		}
		ok(t, err)
		got = res.Results[0]
		return true
	})
	if got.Verdict != string(rekindle.Gone) || got.Memory.Content != was.Content || got.Memory.Stage != memory.Archived || got.Hint == "" {
		t.Errorf("rekindled %+v", got)
	}
}

func specRekindleActive(t *testing.T, h *house) {
	h.AutoPromote = false // its use makes it worth a note
	e, id := h.faded(t, 400, memory.Rehydratable)
	brought(t, e, id)
	m := look(t, e, id)
	if m.Stage != memory.Active || m.UseCount != 1 || !m.LastUsed.Equal(h.clock.Now().Truncate(time.Millisecond)) || len(m.KeyTerms) != 0 {
		t.Errorf("the memory is %+v", m.Memory)
	}
	wantMoves(t, runs(t, e), map[string]int{})
}

func specStats(t *testing.T, h *house) {
	e := h.following(t)
	for i, days := range []float64{1, 2, 3, 10, 20, 40, 400} {
		h.saved(t, e, days, fmt.Sprintf("%s\nsheet %d\n", tides, i))
	}
	runs(t, e)
	got := do(t, e, op.Stats, &op.StatsRequest{})
	for stage, want := range map[memory.Stage]int{memory.Active: 3, memory.Demoted: 2, memory.Archived: 1, memory.Rehydratable: 1} {
		if got.Stages[stage] != want {
			t.Errorf("%d are %s, want %d", got.Stages[stage], stage, want)
		}
	}
	if got.Total != 7 {
		t.Errorf("%d in all, want 7", got.Total)
	}
}

// consolidated has what is 0.95 alike and more merged, and returns what was.
func (h *house) consolidated(t *testing.T, e *engine.Engine) []op.MergeResult {
	t.Helper()
	e.Opt.Agents.AutoMerge = true
	res, err := e.Agents.ConsolidateSimilar(t.Context(), agents.AgentsActor(), agents.SimilarThreshold)
	ok(t, err)
	return res.Merge
}

func specSimilar(t *testing.T, h *house) {
	e := h.following(t)
	one, other := h.saved(t, e, 2, "The kettle leaks at the seam."), h.saved(t, e, 1, "At the seam the kettle is leaking")
	alike := h.saved(t, e, 1, "The kettle in the boathouse leaks at its old seam") // less than 0.95
	demoted := h.saved(t, e, 10, "The kettle is leaking at the seam!")
	runs(t, e)
	got := h.consolidated(t, e)
	if len(got) != 1 || !got[0].Success || !slices.Equal(got[0].SourceIDs, []memory.ID{one, other}) {
		t.Fatalf("merged %+v", got)
	}
	if m := look(t, e, got[0].NewMemoryID); m.Content != "At the seam the kettle is leaking\n\nThe kettle leaks at the seam." {
		t.Errorf("the text is %q", m.Content)
	}
	for id, want := range map[memory.ID]memory.Stage{one: memory.Archived, other: memory.Archived, alike: memory.Active, demoted: memory.Demoted} {
		wantStage(t, e, id, want)
	}
	if entry := do(t, e, op.Journal, &op.JournalRequest{}).Entries[0]; entry.By.Client != "agents" {
		t.Errorf("the journal says %+v", entry)
	}
}

func specSimilarMetadata(t *testing.T, h *house) {
	e := h.following(t)
	do(t, e, op.Save, &op.SaveRequest{Content: "The kettle leaks at the seam", CreatedAt: h.daysAgo(3), LastUsed: h.daysAgo(3), Tags: []string{"kitchen"}, Entities: []string{"Ann"},
		Strength: new(1.2), Confidence: new(0.6), Source: "phone"})
	newer := do(t, e, op.Save, &op.SaveRequest{Content: "The kettle leaks at the seam.", CreatedAt: h.daysAgo(1), LastUsed: h.daysAgo(1), Tags: []string{"repairs"}, Entities: []string{"Bob"},
		Strength: new(1.5), Confidence: new(0.9), UseCount: 2}).Memory
	got := h.consolidated(t, e)
	if len(got) != 1 || !got[0].Success {
		t.Fatalf("merged %+v", got)
	}
	m := look(t, e, got[0].NewMemoryID)
	if !slices.Equal(m.Tags, []string{"kitchen", "repairs"}) || !slices.Equal(m.Entities, []string{"Ann", "Bob"}) || m.Strength < 1.5 || m.Confidence != 0.9 ||
		m.UseCount != 2 || !m.LastUsed.Equal(newer.LastUsed) || !m.CreatedAt.Equal(h.daysAgo(3)) || m.Source != "phone" || m.Learned() != 2 {
		t.Errorf("merged is %+v", m.Memory)
	}
}

// Of a hundred, fifty pairs are one memory each; the time is a benchmark's.
func specSimilarMany(t *testing.T, h *house) {
	e := h.following(t)
	saveInPairs(t, e, 100)
	if got := h.consolidated(t, e); len(got) != 50 || slices.ContainsFunc(got, func(m op.MergeResult) bool { return !m.Success || len(m.SourceIDs) != 2 }) {
		t.Errorf("merged %d: %+v", len(got), got)
	}
}

// saveInPairs saves n memories, every two of which say the same.
func saveInPairs(t testing.TB, e *engine.Engine, n int) {
	t.Helper()
	words := strings.Fields("kettle gasket harbour tide boathouse ledger barometer compost rowan alder")
	req := new(op.SaveBatchRequest)
	for i := range n {
		at := i / 2
		text := fmt.Sprintf("The %s of the %s number w%03d is kept by the %s", words[at%10], words[(at/10+3)%10], at, words[(at+7)%10])
		req.Items = append(req.Items, op.SaveRequest{Content: text + []string{"", "."}[i%2]})
	}
	do(t, e, op.SaveBatch, req)
}

// BenchmarkConsolidateSimilar merges a hundred memories to fifty.
func BenchmarkConsolidateSimilar(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		h := promotingHouse(b, nil)
		h.Agents.AutoMerge = true
		e := h.following(b)
		saveInPairs(b, e, 100)
		b.StartTimer()
		res, err := e.Agents.ConsolidateSimilar(b.Context(), agents.AgentsActor(), agents.SimilarThreshold)
		if err != nil || len(res.Merge) != 50 {
			b.Fatalf("merged %+v, %v", res, err)
		}
		b.StopTimer()
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/health"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The testing checklist of the specification "adaptive memory health", by its sentences.
// Those about tools are in package mcp, and the times are benchmarks.
func TestSpec1(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"Create new vector with enhanced metadata - all fields present", spec1Fields},
		{"Existing vectors still searchable after migration", spec1Searchable},
		{"Migration script runs successfully (idempotent)", spec1Idempotent},
		{"Verify migrated vectors have all new fields", spec1Migrated},
		{"the fields of an imported store are in their places", spec1Lifted},
		{"track_access() updates access_count correctly", spec1Count},
		{"track_access() updates last_accessed_ts correctly", spec1Time},
		{"Search with track_access=True works (non-blocking)", spec1NonBlocking},
		{"Search with track_access=False skips tracking", spec1Untracked},
		{"Tracking failure doesn't break search", spec1Failure},
		{"1,000 searches change nothing but the access pair", spec1OnlyTheAccessPair},
		{"get_stale_memories() finds old memories correctly", spec1Stale},
		{"get_low_access_memories() finds rarely used items", spec1LowAccess},
		{"get_duplicate_candidates() finds similar pairs (test with known duplicates)", spec1Duplicates},
		{"consolidate_memories() merges correctly and deletes discarded", spec1Consolidate},
		{"Consolidated memory has combined access_count", spec1Combined},
		{"Related_memories list updated properly", spec1Related},
		{"Migration handles large collections (1000+ vectors)", spec1Large},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t)
		})
	}
}

// oldRecords brings memories in as they come from another system.
func oldRecords(t testing.TB, e *engine.Engine, texts ...string) []memory.ID {
	t.Helper()
	var ids []memory.ID
	req := &op.ImportRequest{Foreign: true}
	for _, text := range texts {
		r := foreign(t, text)
		req.Records, ids = append(req.Records, r), append(ids, r.ID)
	}
	for _, some := range slices.Collect(slices.Chunk(req.Records, op.MaxBatch)) {
		for _, r := range do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: some}).Results {
			if r.Fate != op.ImportAdded {
				t.Fatalf("a record was %s: %+v", r.Fate, r.Error)
			}
		}
	}
	return ids
}

func spec1Fields(t *testing.T) {
	e, clock := newEngine(t)
	got := do(t, e, op.Save, &op.SaveRequest{Content: "the kettle leaks", Category: "kitchen", Confidence: new(0.8), Source: "conversation",
		Type: "fact", SessionID: "s1"}).Memory
	if got.Category != "kitchen" || got.Confidence != 0.8 || got.Source != "conversation" || got.Type != "fact" || got.SessionID != "s1" ||
		got.AccessCount != 0 || !got.CreatedAt.Equal(clock.Now()) || got.Collection != "knowledge" {
		t.Errorf("saved %+v", got.Memory)
	}
	row, _ := e.Stm.Get(got.ID)
	if at := core.LastAccess(row); !at.Equal(got.CreatedAt) {
		t.Errorf("its last access is %v, want its creation", at)
	}
	if res := do(t, e, op.Migrate, &op.MigrateRequest{}); res.Migrated != 0 || res.Skipped != 1 || res.Tx != "" {
		t.Errorf("a new memory is migrated: %+v", res)
	}
}

func spec1Searchable(t *testing.T) {
	e, _ := newEngine(t)
	oldRecords(t, e, "the kettle leaks", "the tide turns")
	do(t, e, op.Migrate, &op.MigrateRequest{})
	if got := hitContents(searchFor(t, e, "kettle")); !slices.Equal(got, []string{"the kettle leaks"}) {
		t.Errorf("found %q", got)
	}
}

func spec1Idempotent(t *testing.T) {
	e, _ := newEngine(t)
	if res := do(t, e, op.Migrate, &op.MigrateRequest{}); res.Message != "Collection 'knowledge' is empty, no migration needed" || res.TotalVectors != 0 {
		t.Errorf("of nothing: %+v", res)
	}
	oldRecords(t, e, "one", "two")
	save(t, e, "three")
	first, second := do(t, e, op.Migrate, &op.MigrateRequest{}), do(t, e, op.Migrate, &op.MigrateRequest{})
	if first.TotalVectors != 3 || first.Migrated != 2 || first.Skipped != 1 || first.Collection != "knowledge" || first.Tx == "" {
		t.Errorf("first %+v", first)
	}
	if second.TotalVectors != 3 || second.Migrated != 0 || second.Skipped != 3 || second.Tx != "" {
		t.Errorf("second %+v", second)
	}
	wantCode(t, refused(t, e, op.Migrate, &op.MigrateRequest{Collection: "nowhere"}), memory.NotFound, "to select all collections, use all")
}

func spec1Migrated(t *testing.T) {
	e, _ := newEngine(t)
	id := oldRecords(t, e, "the kettle leaks")[0]
	before := look(t, e, id)
	res := do(t, e, op.Migrate, &op.MigrateRequest{Collection: "all"})
	m := look(t, e, id)
	if m.SessionID != "migrated_v1" || m.EmbeddingVersion != "all-MiniLM-L6-v2" || m.AccessCount != 0 || !m.LastAccessed.Equal(m.CreatedAt) || !m.UpdatedAt.Equal(before.UpdatedAt) {
		t.Errorf("migrated to %+v", m.Memory)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if m := look(t, e, id); m.SessionID != "" || m.EmbeddingVersion != "" || !m.LastAccessed.IsZero() {
		t.Errorf("undone it is %+v", m.Memory)
	}
}

// What a save does not take is in meta after an import.
func spec1Lifted(t *testing.T) {
	for _, c := range []struct {
		name, meta string
		accesses   int64 // of which one search counted one
		last       string
		version    string
		left       string
		bySearch   bool
	}{
		{"all", `{"access_count":4,"last_accessed_ts":1735800000.5,"embedding_version":"mpnet","related_memories":["x1"]}`, 4, "2025-01-02T06:40:00.5Z", "mpnet", `{"related_memories":["x1"]}`, false},
		{"omit the other options", `{"access_count":4}`, 4, "", "all-MiniLM-L6-v2", "", false},
		{"searched since", `{"access_count":4,"last_accessed_ts":1735800000.5}`, 5, "now", "all-MiniLM-L6-v2", "", true},
		{"as emberd writes times", `{"last_accessed_ts":"2025-01-02T06:40:00Z"}`, 0, "2025-01-02T06:40:00Z", "all-MiniLM-L6-v2", "", false},
		{"of another kind", `{"access_count":"4","last_accessed_ts":[1],"embedding_version":7}`, 0, "", "all-MiniLM-L6-v2", `{"access_count":"4","last_accessed_ts":[1],"embedding_version":7}`, false},
		{"out of bounds", `{"access_count":-1,"last_accessed_ts":9e99,"embedding_version":" "}`, 0, "", "all-MiniLM-L6-v2", `{"access_count":-1,"last_accessed_ts":9e99,"embedding_version":" "}`, false},
		{"never", `{"access_count":0,"last_accessed_ts":0}`, 0, "", "all-MiniLM-L6-v2", `{"last_accessed_ts":0}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, clock := newEngine(t)
			rec := foreign(t, "the kettle leaks")
			rec.Fields["meta"] = json.RawMessage(c.meta)
			do(t, e, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{rec}})
			if c.bySearch {
				searchFor(t, e, "kettle")
			}
			before := look(t, e, rec.ID)
			want := map[string]time.Time{"": before.CreatedAt, "now": clock.Now()}[c.last]
			if want.IsZero() {
				var err error
				want, err = time.Parse(time.RFC3339Nano, c.last)
				ok(t, err)
			}
			res := do(t, e, op.Migrate, &op.MigrateRequest{})
			m := look(t, e, rec.ID)
			if m.AccessCount != c.accesses || !m.LastAccessed.Equal(want) || m.EmbeddingVersion != c.version || string(spelled(t, m.Meta)) != string(op.Canonical([]byte(c.left))) {
				t.Errorf("migrated to %d accesses, the last at %v, %q, meta %s", m.AccessCount, m.LastAccessed, m.EmbeddingVersion, spelled(t, m.Meta))
			}
			if again := do(t, e, op.Migrate, &op.MigrateRequest{}); again.Migrated != 0 {
				t.Error("it is migrated twice")
			}
			do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
			if now := look(t, e, rec.ID); now.AccessCount != before.AccessCount || !now.LastAccessed.Equal(before.LastAccessed) || string(spelled(t, now.Meta)) != string(spelled(t, before.Meta)) {
				t.Errorf("undone it is %+v", now.Memory)
			}
		})
	}
}

func spelled(t *testing.T, meta map[string]json.RawMessage) json.RawMessage {
	t.Helper()
	if len(meta) == 0 {
		return nil
	}
	raw, err := json.Marshal(meta)
	ok(t, err)
	return op.Canonical(raw)
}

func spec1Count(t *testing.T) {
	e, _ := newEngine(t)
	m := save(t, e, "the kettle leaks")
	for range 3 {
		searchFor(t, e, "kettle")
	}
	if now := look(t, e, m.ID); now.AccessCount != 3 || now.UseCount != 0 || !now.LastUsed.Equal(m.LastUsed) {
		t.Errorf("found 3 times it counts %d accesses, %d uses", now.AccessCount, now.UseCount)
	}
}

func spec1Time(t *testing.T) {
	e, clock := newEngine(t)
	m := save(t, e, "the kettle leaks")
	clock.advance(day)
	searchFor(t, e, "kettle")
	if now := look(t, e, m.ID); !now.LastAccessed.Equal(clock.Now()) {
		t.Errorf("found at %v it says %v", clock.Now(), now.LastAccessed)
	}
}

// A search writes nothing itself: one on a disk that takes no write answers, and what it
// counted shows at once.
func spec1NonBlocking(t *testing.T) {
	disk, e := diskEngine(t)
	m := save(t, e, "the kettle leaks")
	before := disk.Ops()
	if len(searchFor(t, e, "kettle")) != 1 || look(t, e, m.ID).AccessCount != 1 {
		t.Error("the search did not answer, or did not count")
	}
	if n := disk.Ops() - before; n > 2 {
		t.Errorf("the search took %d operations of the disk", n)
	}
}

// diskEngine is an engine on a disk that can be made to fail.
func diskEngine(t testing.TB) (*crashdisk.Disk, *engine.Engine) {
	t.Helper()
	disk := crashdisk.New()
	opt := core.DefaultOptions()
	opt.Data, opt.State, opt.FS, opt.Enrich = "/data", t.TempDir(), disk, false
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // what the disk refused is an error of the test's own making
	return disk, e
}

func spec1Untracked(t *testing.T) {
	e, _ := newEngine(t)
	m := save(t, e, "the kettle leaks")
	do(t, e, op.Search, &op.SearchRequest{Query: "kettle", Track: new(false)})
	if now := look(t, e, m.ID); now.AccessCount != 0 || !now.LastAccessed.IsZero() {
		t.Errorf("untracked it counts %d accesses, the last at %v", now.AccessCount, now.LastAccessed)
	}
}

func spec1Failure(t *testing.T) {
	disk, e := diskEngine(t)
	m := save(t, e, "the kettle leaks")
	disk.Fail(crashdisk.Fault{Path: "/data", Err: syscall.ENOSPC, Forever: true})
	for range 20 {
		if len(searchFor(t, e, "kettle")) != 1 {
			t.Fatal("the search found nothing")
		}
	}
	until(t, "the disk refuses the counts", func() bool { return e.Stm.Status().ReadOnly != "" || e.Stm.Status().LowSpace != "" })
	if len(searchFor(t, e, "kettle")) != 1 || look(t, e, m.ID).AccessCount != 21 {
		t.Errorf("after that the search failed, or %d accesses are counted", look(t, e, m.ID).AccessCount)
	}
	if _, err := op.Save.Call(t.Context(), e, &op.SaveRequest{Content: "later"}); err == nil {
		t.Error("the disk takes writes, so that the test proves nothing")
	}
}

func spec1Stale(t *testing.T) {
	h := newHouse(t)
	e := h.open(t)
	at := func(text string, days float64) memory.ID {
		return do(t, e, op.Save, &op.SaveRequest{Content: text, CreatedAt: h.daysAgo(days), LastUsed: h.daysAgo(days)}).Memory.ID
	}
	old, older, fresh := at("old kettle "+strings.Repeat("x", 300), 40), at("older", 90), at("fresh", 29)
	found := at("found often", 100)
	searchFor(t, e, "found")
	res := do(t, e, op.HealthStale, &op.HealthStaleRequest{})
	if got := staleIDs(res); !slices.Equal(got, []memory.ID{older, old}) || res.TotalChecked != 4 || res.StaleCount != 2 || res.Found != 2 || res.DaysThreshold != 30 || !res.CutoffDate.Equal(h.daysAgo(30)) {
		t.Errorf("stale are %+v; %s is fresh, %s was found", res, fresh, found)
	}
	one := res.StaleMemories[1]
	if len(one.Text) != 203 || !strings.HasSuffix(one.Text, "x...") || len(one.FullText) != 311 || one.DaysSinceAccess != 40 ||
		one.LastAccessed != h.daysAgo(40).Format(time.RFC3339) || one.Confidence != 1 || one.Category != "unknown" || one.Source != "unknown" {
		t.Errorf("told as %+v", one)
	}
	// Sorted before it is cut off, whatever the order in the store.
	if got := staleIDs(do(t, e, op.HealthStale, &op.HealthStaleRequest{Limit: 1})); !slices.Equal(got, []memory.ID{older}) {
		t.Errorf("the longest unused is %v, want %s", got, older)
	}
	ids := oldRecords(t, e, "never seen")
	if got := staleIDs(do(t, e, op.HealthStale, &op.HealthStaleRequest{DaysUnused: new(50)})); !slices.Equal(got, []memory.ID{older}) {
		t.Errorf("imported without a use this moment, and stale: %v", got)
	}
	h.advance(51 * 24 * time.Hour)
	res = do(t, e, op.HealthStale, &op.HealthStaleRequest{DaysUnused: new(50)})
	if len(res.StaleMemories) != 5 || res.StaleMemories[0].ID != ids[0] || res.StaleMemories[0].LastAccessed != "never" || res.StaleMemories[0].DaysSinceAccess != 999 {
		t.Errorf("never accessed: %+v", res.StaleMemories)
	}
}

func staleIDs(res *op.HealthStaleResult) (ids []memory.ID) {
	for _, m := range res.StaleMemories {
		ids = append(ids, m.ID)
	}
	return ids
}

func spec1LowAccess(t *testing.T) {
	h := newHouse(t)
	e := h.open(t)
	at := func(text string, days float64, accesses int64) memory.ID {
		id := do(t, e, op.Save, &op.SaveRequest{Content: text, CreatedAt: h.daysAgo(days), LastUsed: h.daysAgo(days)}).Memory.ID
		e.Stm.Use(stm.Use{ID: id, Accesses: accesses})
		return id
	}
	twice, none, older := at("twice", 50, 2), at("none", 8, 0), at("none either", 20, 0)
	at("often", 50, 3)
	at("new", 6, 0)
	res := do(t, e, op.HealthLowAccess, &op.HealthLowAccessRequest{})
	var got []memory.ID
	for _, m := range res.LowAccessMemories {
		got = append(got, m.ID)
	}
	if want := []memory.ID{older, none, twice}; !slices.Equal(got, want) || res.TotalChecked != 5 || res.FlaggedCount != 3 {
		t.Errorf("low are %v of %d, want %v", got, res.TotalChecked, want)
	}
	if one := res.LowAccessMemories[0]; one.AgeDays != 20 || one.Text != "none either" || one.Category != "unknown" || one.Confidence != 1 {
		t.Errorf("told as %+v", one)
	}
	if res := do(t, e, op.HealthLowAccess, &op.HealthLowAccessRequest{Limit: 1}); res.LowAccessMemories[0].ID != older || res.Found != 3 {
		t.Errorf("the first is %+v", res)
	}
	if res := do(t, e, op.HealthLowAccess, &op.HealthLowAccessRequest{MaxAccessCount: new(int64(0)), MinAgeDays: new(0)}); res.FlaggedCount != 3 {
		t.Errorf("without an access, of any age: %+v", res)
	}
}

const (
	sameA = "The staging database of the web shop is copied every night to the cold store in Leith"
	sameB = "Every night the staging database of the web shop is copied to the cold store in Leith"
)

func spec1Duplicates(t *testing.T) {
	e, _ := newEngine(t)
	a, b := save(t, e, sameA), save(t, e, sameB)
	save(t, e, "The tide turns at six in the harbour")
	res := do(t, e, op.HealthDuplicates, &op.HealthDuplicatesRequest{})
	if len(res.DuplicatePairs) != 1 || res.TotalChecked != 3 || res.DuplicatesFound != 1 || res.Threshold != 0.95 {
		t.Fatalf("found %+v", res)
	}
	p := res.DuplicatePairs[0]
	if p.ID1 != min(a.ID, b.ID) || p.ID2 != max(a.ID, b.ID) || p.Similarity < 0.95 || p.Similarity > 1 || !strings.Contains(sameA+sameB, p.Text1) {
		t.Errorf("the pair is %+v", p)
	}
	for n, want := range map[int]int{1: 0, 2: 1, 3: 1} { // the latest is the tide
		if got := do(t, e, op.HealthDuplicates, &op.HealthDuplicatesRequest{SampleSize: n}); got.Found != want || got.TotalChecked != n {
			t.Errorf("of the latest %d: %+v, want %d", n, got, want)
		}
	}
}

func spec1Consolidate(t *testing.T) {
	e, _ := newEngine(t)
	a := do(t, e, op.Save, &op.SaveRequest{Content: sameA, Confidence: new(0.6)}).Memory
	b := do(t, e, op.Save, &op.SaveRequest{Content: sameB, Confidence: new(0.9), Category: "ops"}).Memory
	res := do(t, e, op.HealthMerge, &op.HealthMergeRequest{ID1: string(a.ID), ID2: string(b.ID)})
	if res.KeptID != b.ID || res.DiscardedID != a.ID || res.NewConfidence != 0.9 || res.Tx == "" {
		t.Errorf("consolidated to %+v", res)
	}
	m := look(t, e, b.ID)
	if m.Content != sameB || m.Category != "ops" || m.ConsolidatedAt.IsZero() || !slices.Equal(m.ConsolidatedFrom, []memory.ID{a.ID}) {
		t.Errorf("kept is %+v", m.Memory)
	}
	wantCode(t, refused(t, e, op.Show, &op.ShowRequest{ID: string(a.ID)}), memory.NotFound, "is in the trash")
	undo := do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if len(undo.Items) != 2 || look(t, e, a.ID).Content != sameA {
		t.Errorf("undone %+v", undo)
	}
	if m := look(t, e, b.ID); m.Confidence != 0.9 || len(m.ConsolidatedFrom) != 0 || !m.ConsolidatedAt.IsZero() {
		t.Errorf("after undo kept is %+v", m.Memory)
	}
}

func spec1Combined(t *testing.T) {
	h := newHouse(t)
	e := h.open(t)
	a, b := save(t, e, sameA), save(t, e, sameB)
	e.Stm.Use(stm.Use{ID: a.ID, Accesses: 3, At: h.daysAgo(4)}, stm.Use{ID: b.ID, Accesses: 5, At: h.daysAgo(2)})
	res := do(t, e, op.HealthMerge, &op.HealthMergeRequest{ID1: string(a.ID), ID2: string(b.ID), Keep: op.KeepFirst})
	if res.KeptID != a.ID || res.NewAccessCount != 8 || look(t, e, a.ID).AccessCount != 8 || !look(t, e, a.ID).LastAccessed.Equal(h.daysAgo(2)) {
		t.Errorf("consolidated to %+v, accessed %v", res, look(t, e, a.ID).LastAccessed)
	}
	e.Stm.Use(stm.Use{ID: a.ID, Accesses: 1, At: h.clock.Now()})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if m := look(t, h.open(t), a.ID); m.AccessCount != 9 || !m.LastAccessed.Equal(h.clock.Now()) {
		t.Errorf("after a restart it counts %d accesses, the last at %v", m.AccessCount, m.LastAccessed)
	}
}

func spec1Related(t *testing.T) {
	e, _ := newEngine(t)
	a, b := save(t, e, sameA), save(t, e, sameB)
	mine, theirs, towards, other := save(t, e, "mine"), save(t, e, "theirs"), save(t, e, "towards"), save(t, e, "other")
	relate := func(from, to op.Memory, typ string) {
		do(t, e, op.Relate, &op.RelateRequest{From: string(from.ID), To: string(to.ID), Type: typ})
	}
	relate(a, mine, memory.Related)
	relate(b, theirs, memory.Related)
	relate(towards, b, memory.Related)
	relate(b, a, memory.Related)
	relate(b, other, memory.Causes)
	res := do(t, e, op.HealthMerge, &op.HealthMergeRequest{ID1: string(a.ID), ID2: string(b.ID), Keep: op.KeepFirst})
	want := []memory.ID{b.ID, mine.ID, theirs.ID, towards.ID}
	slices.Sort(want)
	if !slices.Equal(res.RelatedMemories, want) {
		t.Errorf("related are %v, want %v", res.RelatedMemories, want)
	}
	opened := do(t, e, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(a.ID)}, Track: new(false)}).Memories[0]
	if len(opened.Relations.Outgoing) != 3 || len(opened.Relations.Incoming) != 1 || !slices.Equal(op.RelatedMemories(&opened), want) {
		t.Errorf("its relations are %+v", opened.Relations)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	again := do(t, e, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(b.ID)}, Track: new(false)}).Memories[0]
	if len(again.Relations.Outgoing) != 3 || len(again.Relations.Incoming) != 1 {
		t.Errorf("after undo the other one's are %+v", again.Relations)
	}
}

func spec1Large(t *testing.T) {
	e, _ := newEngine(t)
	var texts []string
	for i := range health.MigrateAtOnce + 10 {
		texts = append(texts, fmt.Sprint("pebble ", i))
	}
	oldRecords(t, e, texts...)
	res := do(t, e, op.Migrate, &op.MigrateRequest{})
	if res.Migrated != len(texts) {
		t.Errorf("migrated %+v", res)
	}
	if undo := do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx, DryRun: true}); len(undo.Items) != len(texts) {
		t.Errorf("one entry holds %d of them", len(undo.Items))
	}
}

// What searches return stays as it is, but for the pair of fields that counts them: its
// score, its stage, its versions and the journal do not know of them.
func spec1OnlyTheAccessPair(t *testing.T) {
	h := newHouse(t)
	e := h.open(t)
	var ids []memory.ID
	for i, text := range []string{"the kettle leaks at the seam", "the kettle is blue", "the tide turns at six"} {
		ids = append(ids, do(t, e, op.Save, &op.SaveRequest{Content: text, CreatedAt: h.daysAgo(float64(3 * i)), LastUsed: h.daysAgo(float64(3 * i)), Tags: []string{"kitchen"}}).Memory.ID)
	}
	type state struct {
		fields string
		why    string
		revs   string
	}
	looked := func(e *engine.Engine) (all []state) {
		for _, id := range ids {
			row, _ := e.Stm.Get(id)
			m, err := row.Memory()
			ok(t, err)
			m.AccessCount, m.LastAccessed = 0, time.Time{}
			why := e.Score(row, h.clock.Now())
			all = append(all, state{inJSON(t, m), fmt.Sprint(why, row.Stage()), row.Rev()})
		}
		return all
	}
	before, journal := looked(e), inJSON(t, do(t, e, op.Journal, &op.JournalRequest{}))
	const searches = 1000
	for i := range searches {
		do(t, e, op.Search, &op.SearchRequest{Query: []string{"kettle", "tide", "kettle seam"}[i%3]})
	}
	if got := looked(e); !slices.Equal(got, before) {
		t.Errorf("after %d searches they are\n%v\nwhere they were\n%v", searches, got, before)
	}
	if got := inJSON(t, do(t, e, op.Journal, &op.JournalRequest{})); got != journal {
		t.Errorf("the journal is %s", got)
	}
	ok(t, e.Close())
	e = h.open(t)
	if got := looked(e); !slices.Equal(got, before) {
		t.Errorf("read again they are %v", got)
	}
	for i, want := range []int64{667, 667, 333} {
		if got := look(t, e, ids[i]).AccessCount; got != want {
			t.Errorf("memory %d was returned %d times, and counts %d", i, want, got)
		}
	}
}

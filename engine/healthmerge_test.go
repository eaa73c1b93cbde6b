package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

func keepOne(t testing.TB, e *engine.Engine, one, two memory.ID, keep string) *op.HealthMergeResult {
	t.Helper()
	return do(t, e, op.HealthMerge, &op.HealthMergeRequest{ID1: string(one), ID2: string(two), Keep: keep})
}

func keptNone(t testing.TB, e *engine.Engine, one, two memory.ID, keep string) *memory.Error {
	t.Helper()
	return refused(t, e, op.HealthMerge, &op.HealthMergeRequest{ID1: string(one), ID2: string(two), Keep: keep})
}

// oneOfEach sorts IDs and leaves each once.
func oneOfEach(ids []memory.ID) []memory.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func TestWhichOneIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keep       string
		confidence [2]float64
		accesses   [2]int64
		want       int
	}{
		{"", [2]float64{0.9, 0.6}, [2]int64{0, 9}, 0},
		{op.KeepHigherConfidence, [2]float64{0.6, 0.9}, [2]int64{9, 0}, 1},
		{op.KeepHigherConfidence, [2]float64{0.7, 0.7}, [2]int64{0, 9}, 0},
		{op.KeepHigherAccess, [2]float64{0.9, 0.6}, [2]int64{1, 2}, 1},
		{op.KeepHigherAccess, [2]float64{0.6, 0.9}, [2]int64{4, 4}, 0},
		{op.KeepFirst, [2]float64{0.1, 0.9}, [2]int64{0, 9}, 0},
		{op.KeepSecond, [2]float64{0.9, 0.1}, [2]int64{9, 0}, 1},
	} {
		e, _ := newEngine(t)
		var ids [2]memory.ID
		for i, text := range []string{sameA, sameB} {
			ids[i] = do(t, e, op.Save, &op.SaveRequest{Content: text, Confidence: &c.confidence[i]}).Memory.ID
			e.Stm.Use(stm.Use{ID: ids[i], Accesses: c.accesses[i]})
		}
		res := keepOne(t, e, ids[0], ids[1], c.keep)
		if res.KeptID != ids[c.want] || res.NewConfidence != max(c.confidence[0], c.confidence[1]) || res.NewAccessCount != c.accesses[0]+c.accesses[1] {
			t.Errorf("%+v: %+v", c, res)
		}
	}
}

// What the other one says besides is not lost unless somebody says which one to keep.
func TestWhatWouldBeLostIsFiledAndKept(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	short := do(t, e, op.Save, &op.SaveRequest{Content: "The staging database runs in Leith", Confidence: new(0.9)}).Memory.ID
	long := do(t, e, op.Save, &op.SaveRequest{Content: "The staging database runs in Leith on port 5432", Confidence: new(0.5)}).Memory.ID
	before := e.Stm.Len()
	err := keptNone(t, e, short, long, "")
	wantCode(t, err, memory.Conflict, "to merge anyway, set keep to \"id1\" (first memory) or \"id2\" (second memory)")
	if strings.Contains(err.Error(), "5432") || strings.Contains(err.Error(), "Leith") {
		t.Errorf("the error has words of a memory: %v", err)
	}
	items := slices.Collect(e.Review.ReviewItems())
	if len(items) != 1 || items[0].Agent != op.ReviewHealth || !slices.Equal(items[0].MemoryIDs, oneOfEach([]memory.ID{short, long})) || !strings.Contains(err.Error(), items[0].ID) {
		t.Errorf("filed %+v; the error says %v", items, err)
	}
	if keptNone(t, e, short, long, op.KeepHigherAccess); len(slices.Collect(e.Review.ReviewItems())) != 1 || e.Stm.Len() != before {
		t.Error("asked again it is filed again, or something went")
	}
	// The one that says more may be kept without a word.
	if res := keepOne(t, e, long, short, op.KeepHigherAccess); res.KeptID != long {
		t.Errorf("kept %+v", res)
	}
	e2, _ := newEngine(t)
	one, other := save(t, e2, oldPort), save(t, e2, strings.Replace(oldPort, "5432", "5433", 1))
	wantCode(t, keptNone(t, e2, one.ID, other.ID, ""), memory.Conflict, "to merge anyway, set keep to \"id1\" (first memory) or \"id2\" (second memory)")
	if res := keepOne(t, e2, one.ID, other.ID, op.KeepSecond); res.KeptID != other.ID || res.DiscardedID != one.ID {
		t.Errorf("kept %+v", res)
	}
	wantCode(t, keptNone(t, e2, other.ID, save(t, e2, "the tide turns at noon").ID, op.KeepHigherAccess), memory.Conflict, "to merge anyway, set keep to \"id1\" (first memory) or \"id2\" (second memory)")
	said := do(t, e2, op.Save, &op.SaveRequest{Content: sameA, Confidence: new(0.5)}).Memory
	web := do(t, e2, op.Save, &op.SaveRequest{Content: sameB, Provenance: op.Provenance{Origin: memory.FromWeb}}).Memory
	wantCode(t, keptNone(t, e2, said.ID, web.ID, ""), memory.Conflict, "to merge anyway, set keep to \"id1\" (first memory) or \"id2\" (second memory)")
}

func TestWhatIsNotDiscarded(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	mine := save(t, d.Engine, sameA)
	core := do(t, d.Engine, op.Save, &op.SaveRequest{Content: sameB, Core: true}).Memory
	promoted := save(t, d.Engine, sameA+" again")
	promoteByID(t, d.Engine, promoted.ID)
	cold := save(t, d.Engine, sameA+" still")
	d.archived(cold.ID)
	elsewhere := do(t, d.Engine, op.Save, &op.SaveRequest{Content: sameB, Collection: "house"}).Memory
	superseded := save(t, d.Engine, sameB+" then")
	replace(t, d.Engine, mine.ID, superseded.ID)
	for _, c := range []struct {
		id   memory.ID
		code memory.Code
		says string
	}{
		{core.ID, memory.Conflict, "is core"},
		{promoted.ID, memory.Conflict, "has a note in the vault"},
		{cold.ID, memory.Conflict, "and contains only a summary; first, run: emberd rekindle"},
		{superseded.ID, memory.Conflict, "which emberd keeps only for its history; merge the newer memory instead"},
		{elsewhere.ID, memory.NotFound, `is in collection "house", not in "knowledge"`},
		{mine.ID, memory.Invalid, "id1 and id2 are the same memory"},
	} {
		wantCode(t, keptNone(t, d.Engine, mine.ID, c.id, op.KeepFirst), c.code, c.says)
	}
	wantCode(t, keptNone(t, d.Engine, mine.ID, core.ID, "newest"), memory.Invalid, "use higher_confidence, higher_access, id1 or id2")
	wantCode(t, refused(t, d.Engine, op.HealthMerge, &op.HealthMergeRequest{ID1: string(mine.ID)}), memory.Invalid, "pass a memory ID")
	for _, keep := range []memory.ID{core.ID, promoted.ID} {
		twin := save(t, d.Engine, sameA)
		if res := keepOne(t, d.Engine, twin.ID, keep, op.KeepSecond); res.KeptID != keep {
			t.Errorf("kept %+v, want %s", res, keep)
		}
	}
	if res := do(t, d.Engine, op.HealthMerge, &op.HealthMergeRequest{ID1: string(mine.ID), ID2: string(elsewhere.ID), Collection: "all", Keep: op.KeepFirst}); res.KeptID != mine.ID {
		t.Errorf("of two collections: %+v", res)
	}
}

// What the discarded memory stood for, the kept one stands for, and one undo takes all of
// it back.
func TestTheKeptOneStandsForTheOther(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other := save(t, d.Engine, leaks), save(t, d.Engine, leaking)
	whole := d.merged(one.ID, other.ID).NewMemoryID
	kept, old := save(t, d.Engine, leaks+" It does leak at the seam."), save(t, d.Engine, "the kettle is tight")
	replace(t, d.Engine, whole, old.ID)
	res := keepOne(t, d.Engine, kept.ID, whole, op.KeepFirst)
	wantReplaced(t, d.Engine, old.ID, kept.ID)
	for _, id := range []memory.ID{one.ID, other.ID} {
		if m := look(t, d.Engine, id); m.ConsolidatedInto != kept.ID {
			t.Errorf("a part was merged into %s, want %s", m.ConsolidatedInto, kept.ID)
		}
	}
	if want := oneOfEach([]memory.ID{one.ID, other.ID, whole, old.ID}); !slices.Equal(res.RelatedMemories, want) {
		t.Errorf("related are %v, want %v", res.RelatedMemories, want)
	}
	undo := do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: res.Tx})
	wantReplaced(t, d.Engine, old.ID, whole)
	if m := look(t, d.Engine, one.ID); m.ConsolidatedInto != whole || len(undo.Items) != 5 {
		t.Errorf("undone %+v, a part is merged into %s", undo.Items, m.ConsolidatedInto)
	}
	wantNoIssues(t, d.Engine, kept.ID)
}

// wantNoIssues says that a memory has no relation and was merged of nothing.
func wantNoIssues(t testing.TB, e *engine.Engine, id memory.ID) {
	t.Helper()
	m := do(t, e, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(id)}, Track: new(false)}).Memories[0]
	if len(m.Relations.Outgoing)+len(m.Relations.Incoming)+len(m.ConsolidatedFrom) > 0 || !m.ConsolidatedAt.IsZero() {
		t.Errorf("memory %s has relations %+v and is of %v", id.Short(), m.Relations, m.ConsolidatedFrom)
	}
}

func TestHealthRefusesWhatIsOutOfBounds(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "the kettle leaks")
	wantCode(t, refused(t, e, op.HealthStale, &op.HealthStaleRequest{DaysUnused: new(-1)}), memory.Invalid, "days_unused -1 is out of range (")
	wantCode(t, refused(t, e, op.HealthStale, &op.HealthStaleRequest{MinConfidence: new(2.0)}), memory.Invalid, "min_confidence 2 is out of range (")
	wantCode(t, refused(t, e, op.HealthStale, &op.HealthStaleRequest{Collection: "nowhere"}), memory.NotFound, "to select all collections, use all")
	wantCode(t, refused(t, e, op.HealthLowAccess, &op.HealthLowAccessRequest{Limit: 1001}), memory.Invalid, "limit 1001 is out of range (")
	wantCode(t, refused(t, e, op.HealthLowAccess, &op.HealthLowAccessRequest{MaxAccessCount: new(int64(-1))}), memory.Invalid, "max_access_count -1 is out of range (")
	wantCode(t, refused(t, e, op.HealthDuplicates, &op.HealthDuplicatesRequest{SimilarityThreshold: new(1.5)}), memory.Invalid, "similarity_threshold 1.5 is out of range (")
	wantCode(t, refused(t, e, op.HealthDuplicates, &op.HealthDuplicatesRequest{SampleSize: -1}), memory.Invalid, "sample_size -1 is out of range (")
	wantCode(t, refused(t, e, op.HealthDuplicates, &op.HealthDuplicatesRequest{Collection: "nowhere"}), memory.NotFound, "to select all collections, use all")
	wantCode(t, refused(t, e, op.Health, &op.HealthRequest{Collection: "nowhere"}), memory.NotFound, "to select all collections, use all")
	wantCode(t, refused(t, e, op.Search, &op.SearchRequest{Query: "kettle", Filter: op.Filter{MinConfidence: 2}}), memory.Invalid, "min_confidence 2 is out of range (")
}

func TestConfidenceFiltersASearch(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "the kettle leaks for sure")
	do(t, e, op.Save, &op.SaveRequest{Content: "the kettle may leak", Confidence: new(0.4)})
	for least, want := range map[float64]int{0: 2, 0.4: 2, 0.41: 1, 1: 1} {
		if got := do(t, e, op.Search, &op.SearchRequest{Query: "kettle", Filter: op.Filter{MinConfidence: least}}).Hits; len(got) != want {
			t.Errorf("of at least %v: %q", least, hitContents(got))
		}
	}
	if res := do(t, e, op.HealthStale, &op.HealthStaleRequest{DaysUnused: new(0), MinConfidence: new(0.5)}); res.Found != 0 {
		t.Errorf("just made, and stale: %+v", res)
	}
}

// unusedAgree checks that the report, its bars and the lists count the same unused memories.
func unusedAgree(t *testing.T, e *engine.Engine, stale, low int) {
	t.Helper()
	res := do(t, e, op.Health, &op.HealthRequest{Fresh: true})
	bars := 0
	for _, b := range res.Ages[3:] {
		bars += b.Count
	}
	listed := do(t, e, op.HealthStale, &op.HealthStaleRequest{Collection: "all"}).Found
	rare := do(t, e, op.HealthLowAccess, &op.HealthLowAccessRequest{Collection: "all"}).Found
	if res.Stale != stale || bars != stale || listed != stale || res.LowAccess != low || rare != low {
		t.Errorf("stale: report %d, bars %d, list %d, want %d; rarely returned: report %d, list %d, want %d",
			res.Stale, bars, listed, stale, res.LowAccess, rare, low)
	}
}

func TestTheReportIsKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	for i := range 12 {
		do(t, e, op.Save, &op.SaveRequest{Content: fmt.Sprintf("pebble %d of the beach", i), CreatedAt: h.daysAgo(float64(5*i + 1)), LastUsed: h.daysAgo(float64(5*i + 1))})
	}
	a, b := save(t, e, sameA), save(t, e, sameB)
	oldRecords(t, e, "test test test")
	unusedAgree(t, e, 6, 10)
	h.advance(31 * 24 * 3600 * 1e9)
	first := do(t, e, op.Health, &op.HealthRequest{})
	if first.Memories != 15 || first.Stale != 15 || first.LowAccess != 15 || first.Duplicates != 1 || first.Clusters != 1 || first.Migrate != 1 || first.Cached || first.Junk == nil || *first.Junk == 0 {
		t.Errorf("the report is %+v", first)
	}
	if want := []string{"emberd health duplicates -c all", "emberd health groups", "emberd health cleanup -c all", "emberd health stale -c all", "emberd health unused -c all"}; !slices.Equal(first.Next, want) {
		t.Errorf("next are %q", first.Next)
	}
	if got := first.Examples["duplicates"]; !slices.Equal(got, []string{string(min(a.ID, b.ID)) + " " + string(max(a.ID, b.ID))}) {
		t.Errorf("examples are %q", got)
	}
	total := func(bands []op.HealthBand) (n int) {
		for _, b := range bands {
			n += b.Count
		}
		return n
	}
	if total(first.Scores) != 15 || total(first.Ages) != 15 || first.Ages[len(first.Ages)-2] != (op.HealthBand{Name: "90 days", Count: 15}) {
		t.Errorf("bands are %+v and %+v", first.Scores, first.Ages)
	}
	ok(t, e.Close())
	e = h.open(t)
	h.advance(23 * 3600 * 1e9)
	second := do(t, e, op.Health, &op.HealthRequest{})
	if !second.Cached || !second.At.Equal(first.At) || second.Stale != first.Stale {
		t.Errorf("after a restart and 23 hours it is %+v", second)
	}
	if res := do(t, e, op.Health, &op.HealthRequest{Fresh: true}); res.Cached || res.At.Equal(first.At) {
		t.Errorf("fresh it is %+v", res)
	}
	if res := do(t, e, op.Health, &op.HealthRequest{Collection: "knowledge"}); res.Cached || res.Memories != 15 {
		t.Errorf("of one collection: %+v", res)
	}
	h.advance(2 * day)
	if do(t, e, op.Health, &op.HealthRequest{}).Cached {
		t.Error("a report of the day before yesterday still stands")
	}
	for i := range 4 {
		save(t, e, fmt.Sprint("many more ", i))
	}
	if res := do(t, e, op.Health, &op.HealthRequest{}); res.Cached || res.Memories != 19 {
		t.Errorf("after four saves: %+v", res)
	}
}

// Who gives up is told so, and the log of no fault.
func TestWhatIsGivenUpIsNoFault(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	oldRecords(t, e, "the kettle leaks", "the tide turns")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, listed := op.HealthDuplicates.Call(ctx, e, &op.HealthDuplicatesRequest{})
	_, told := op.Health.Call(ctx, e, &op.HealthRequest{Fresh: true})
	_, migrated := op.Migrate.Call(ctx, e, &op.MigrateRequest{})
	for _, err := range []error{listed, told, migrated} {
		if failed, ok := errors.AsType[*memory.Error](err); !ok || failed.Code != memory.Unavailable || !errors.Is(err, context.Canceled) || !strings.Contains(failed.Message, "was canceled (") {
			t.Errorf("given up, it ended with %v", err)
		}
	}
	if res := do(t, e, op.Migrate, &op.MigrateRequest{}); res.Migrated != 2 {
		t.Errorf("then %+v", res)
	}
}

// A claimed item is undecided, too: the report counts what review list lists.
func TestWhatIsClaimedIsListed(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	item := fileOne(t, e, op.ReviewUser, "review", true, save(t, e, "the kettle whistles"))
	fileOne(t, e, op.ReviewUser, "review", true, save(t, e, "the tide turns at six"))
	do(t, e, op.ReviewClaim, &op.ReviewClaimRequest{ID: item.ID, By: "ada"})
	report := do(t, e, op.Health, &op.HealthRequest{Fresh: true})
	if listed := do(t, e, op.ReviewList, &op.ReviewListRequest{}); report.Review != 2 || listed.Total != 2 {
		t.Errorf("%d wait and %d are listed, want two", report.Review, listed.Total)
	}
}

package engine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// move puts a memory into another stage, as the lifecycle will.
// A rehydratable one is found by all its words.
func move(t testing.TB, e *engine.Engine, id memory.ID, stage memory.Stage) {
	t.Helper()
	_, err := e.Stm.Update(t.Context(), []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		set := map[string]json.RawMessage{"stage": json.RawMessage(`"` + stage + `"`)}
		if stage == memory.Rehydratable {
			var err error
			if set["key_terms"], err = core.Encode(strings.Fields(rows[0].Content())); err != nil {
				return nil, err
			}
		}
		return &stm.Tx{Verb: "stage", Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnExactMatchOfAnyAgeStaysAboveWeakFreshOnes(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	old := do(t, e, op.Save, &op.SaveRequest{Content: "copper valve torque", CreatedAt: clock.daysAgo(3650), LastUsed: clock.daysAgo(3650)}).Memory
	move(t, e, old.ID, memory.Demoted)
	for _, word := range []string{"copper", "valve", "torque"} {
		save(t, e, word+" paint today")
	}
	hits := searchFor(t, e, "copper valve torque")
	if len(hits) != 4 || hits[0].ID != old.ID {
		t.Errorf("order is %q, want the exact match first", hitContents(hits))
	}
}

func TestOfEqualMatchesTheFresherComesFirst(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	for _, days := range []float64{40, 0, 400, 4} {
		do(t, e, op.Save, &op.SaveRequest{Content: fmt.Sprintf("tide table %g", days), CreatedAt: clock.daysAgo(days), LastUsed: clock.daysAgo(days)})
	}
	want := []string{"tide table 0", "tide table 4", "tide table 40", "tide table 400"}
	for _, query := range []string{"tide", ""} {
		if got := hitContents(searchFor(t, e, query)); !slices.Equal(got, want) {
			t.Errorf("search %q orders %q, want %q", query, got, want)
		}
	}
}

func TestCoreMemoriesNeverFade(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	year := clock.daysAgo(365)
	do(t, e, op.Save, &op.SaveRequest{Content: "anchor chain", CreatedAt: year, LastUsed: year})
	do(t, e, op.Save, &op.SaveRequest{Content: "anchor light", CreatedAt: year, LastUsed: year, Core: true, Strength: new(0.0)})
	hits := searchFor(t, e, "anchor")
	if len(hits) != 2 || !hits[0].Core || hits[0].Score != 1 || hits[1].Score >= 0.1 {
		t.Errorf("got %+v, want the core one first with score 1", hits)
	}
}

func TestStagesDoNotWeighOnRankAndAllAreSearched(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "barometer barometer vane gauge")
	for _, stage := range memory.Stages() {
		move(t, e, save(t, e, "barometer reading "+string(stage)).ID, stage)
	}
	hits := searchFor(t, e, "barometer vane gauge")
	if len(hits) != 5 {
		t.Fatalf("found %q, want all four stages", hitContents(hits))
	}
	for _, h := range hits[2:] {
		if math.Abs(h.Rank/hits[1].Rank-1) > 1e-9 {
			t.Errorf("%q ranks %v, and %q %v", h.Content, h.Rank, hits[1].Content, hits[1].Rank)
		}
	}
}

func TestExplainMultipliesOutToTheRank(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.STMWeight = 0.9
	e := h.open(t)
	for i, days := range []float64{0, 3, 30, 300} {
		m := do(t, e, op.Save, &op.SaveRequest{
			Content:   "rope and anchor " + strings.Repeat("rope ", i),
			CreatedAt: h.daysAgo(days), LastUsed: h.daysAgo(days), UseCount: int64(i), Strength: new(0.5 * float64(i)), Core: i == 3,
		}).Memory
		move(t, e, m.ID, memory.Stages()[i])
	}
	res := do(t, e, op.Search, &op.SearchRequest{Query: "rope anchor", Explain: true})
	if len(res.Hits) != 4 {
		t.Fatalf("found %d, want 4", len(res.Hits))
	}
	for _, hit := range res.Hits {
		x := hit.Explain
		if product := x.Relevance * x.Age * x.Tier; math.Abs(product-hit.Rank) > 1e-12 {
			t.Errorf("%s: the parts give %v, the rank is %v", hit.Stage, product, hit.Rank)
		}
		sum := 0.0
		for _, term := range x.Terms {
			sum += term.Score
		}
		// Each word counts by its text, and by its form.
		if len(x.Terms) != 4 || math.Abs(sum-x.Relevance) > 1e-9 {
			t.Errorf("%s: %d terms sum to %v, the relevance is %v", hit.Stage, len(x.Terms), sum, x.Relevance)
		}
		days := e.Opt.Now().Sub(hit.LastUsed).Hours() / 24
		if hit.Core {
			days = 0
		}
		if math.Abs(x.AgeDays-days) > 1e-6 || math.Abs(x.Age-math.Pow(1+days, -0.03)) > 1e-9 || x.Tier != 0.9 {
			t.Errorf("%s: explain %+v does not show what holds", hit.Stage, x)
		}
	}
	if plain := searchFor(t, e, "rope anchor"); plain[0].Explain != nil {
		t.Error("explained without being asked")
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	for _, r := range []op.SaveRequest{
		{Content: "one", Tags: []string{"work/api", "go"}, Project: "boat"},
		{Content: "two", Tags: []string{"work"}, Collection: "attic", Category: "note"},
		{Content: "three", Tags: []string{"workshop"}, CreatedAt: clock.daysAgo(100), LastUsed: clock.daysAgo(100)},
		{Content: "four", CreatedAt: clock.daysAgo(100), LastUsed: clock.daysAgo(2), UseCount: 30},
	} {
		r.Content += " fish"
		do(t, e, op.Save, &r)
	}
	move(t, e, searchFor(t, e, "two")[0].ID, memory.Archived)
	for _, c := range []struct {
		name   string
		filter op.Filter
		want   []string
	}{
		{"none", op.Filter{}, []string{"four", "one", "three", "two"}},
		{"a tag", op.Filter{Tags: []string{"go"}}, []string{"one"}},
		{"a tag above", op.Filter{Tags: []string{"#Work"}}, []string{"one", "two"}},
		{"all of the tags", op.Filter{Tags: []string{"work", "go"}}, []string{"one"}},
		{"project", op.Filter{Project: "boat"}, []string{"one"}},
		{"unknown project", op.Filter{Project: "plane"}, nil},
		{"collection", op.Filter{Collection: "attic"}, []string{"two"}},
		{"default collection", op.Filter{Collection: "knowledge"}, []string{"four", "one", "three"}},
		{"every collection", op.Filter{Collection: "all"}, []string{"four", "one", "three", "two"}},
		{"category", op.Filter{Category: "note"}, []string{"two"}},
		{"cold", op.Filter{Stages: []memory.Stage{"Archived", "rehydratable"}}, []string{"two"}},
		{"window", op.Filter{WindowDays: 2.5}, []string{"four", "one", "two"}},
		{"score", op.Filter{MinScore: 0.9}, []string{"four", "one", "two"}},
		{"high score", op.Filter{MinScore: 1.5}, []string{"four"}},
	} {
		res := do(t, e, op.Search, &op.SearchRequest{Query: "fish", Filter: c.filter})
		listed := do(t, e, op.List, &op.ListRequest{Filter: c.filter})
		for what, found := range map[string][]string{"search": hitContents(res.Hits), "list": contents(listed.Memories)} {
			var got []string
			for _, s := range found {
				got = append(got, strings.TrimSuffix(s, " fish"))
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s by %s: got %q, want %q", what, c.name, got, c.want)
			}
		}
	}
}

func TestLimitAndTotal(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SearchLimit = 3
	e := h.open(t)
	for i := range 8 {
		save(t, e, fmt.Sprint("gull number ", i))
	}
	for limit, want := range map[int]int{0: 3, 1: 1, 100: 8} {
		res := do(t, e, op.Search, &op.SearchRequest{Query: "gull", Limit: limit})
		if len(res.Hits) != want || res.Total != 8 {
			t.Errorf("limit %d: %d hits of %d, want %d of 8", limit, len(res.Hits), res.Total, want)
		}
	}
}

func TestSnippetsMarkWhatMatched(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.PreviewLength = 40
	e := h.open(t)
	save(t, e, strings.Repeat("nothing to see here ", 50)+"but the lighthouse keeper "+strings.Repeat("nothing to see here ", 50))
	snippet := searchFor(t, e, "lighthouses")[0].Snippet
	if len(snippet.Marks) != 1 {
		t.Fatalf("snippet %+v has no single mark", snippet)
	}
	if m := snippet.Marks[0]; snippet.Text[m[0]:m[1]] != "lighthouse" {
		t.Errorf("the mark is on %q", snippet.Text[m[0]:m[1]])
	}
	if n := len([]rune(snippet.Text)); n > 42 {
		t.Errorf("snippet has %d characters, want about 40", n)
	}
}

func TestPreviewLengthZeroShowsTheWholeText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.PreviewLength = 0
	e := h.open(t)
	text := strings.TrimSpace(strings.Repeat("a long and winding story ", 100))
	save(t, e, text)
	if got := searchFor(t, e, "winding")[0].Snippet.Text; got != text {
		t.Errorf("snippet has %d bytes, want all %d", len(got), len(text))
	}
}

func TestASearchCountsAccessesAndNothingElse(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	words := []string{"anchor", "bilge", "capstan"}
	before := make(map[memory.ID]op.Memory)
	for _, w := range words {
		m := save(t, e, w+" on deck", "ship")
		before[m.ID] = m
	}
	for i := range 1000 {
		do(t, e, op.Search, &op.SearchRequest{Query: words[i%3], Explain: i%2 == 0})
	}
	clock.advance(time.Hour)
	for id, want := range before {
		got := look(t, e, id)
		if got.AccessCount < 333 || got.LastAccessed.IsZero() {
			t.Errorf("%q was accessed %d times, last %v, want a third of 1,000", got.Content, got.AccessCount, got.LastAccessed)
		}
		got.AccessCount, got.LastAccessed = 0, time.Time{}
		if !reflect.DeepEqual(got.Memory, want.Memory) || got.Rev != want.Rev {
			t.Errorf("searching changed %+v to %+v", want, got)
		}
	}
	if undone := do(t, e, op.Undo, &op.UndoRequest{DryRun: true}); undone.Entry.Verb != "save" {
		t.Errorf("the newest entry is %q, want the last save", undone.Entry.Verb)
	}
}

func TestAccessesAreNotCountedWhenNotWanted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m := save(t, e, "quiet waters")
	do(t, e, op.Search, &op.SearchRequest{Query: "waters", Track: new(false)})
	if got := look(t, e, m.ID).AccessCount; got != 0 {
		t.Errorf("track_access=false counted %d", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	h.TrackAccess = false
	e = h.open(t)
	searchFor(t, e, "waters")
	if got := look(t, e, m.ID).AccessCount; got != 0 {
		t.Errorf("with tracking off, %d accesses were counted", got)
	}
}

func TestWhileTheIndexLoadsEverythingIsFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	for i := range 20 {
		save(t, e, fmt.Sprintf("buoy b%02d in the channel", i))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(h.State); err != nil {
		t.Fatal(err)
	}
	e = h.open(t)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "b07", Explain: true})
	if res.Loading == nil || res.Loading.Total != 20 || len(res.Hits) != 1 || !res.Hits[0].Explain.Coarse {
		t.Errorf("before the index: %+v", res)
	}
	if got := do(t, e, op.Status, &op.StatusRequest{}).Health; got != "loading" {
		t.Errorf("health is %q, want loading", got)
	}
	e.Storage.BuildIndex(t.Context())
	res = do(t, e, op.Search, &op.SearchRequest{Query: "b07", Explain: true})
	if res.Loading != nil || len(res.Hits) != 1 || res.Hits[0].Explain.Coarse {
		t.Errorf("after building the index: %+v", res)
	}
}

// The parts of a long memory's relevance add up, with its best passage and what the query
// says twice.
func TestExplainAddsUpForALongMemory(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	long := strings.Repeat("The tide comes in twice a day and the boat lies dry between. ", 12)
	do(t, e, op.Save, &op.SaveRequest{Content: long + "Anchors rust where the chain chafes. " + long})
	do(t, e, op.Save, &op.SaveRequest{Content: "Nothing of the kind."})
	res := do(t, e, op.Search, &op.SearchRequest{Query: "anchor chain, anchor rust", Explain: true})
	if len(res.Hits) != 1 {
		t.Fatalf("found %d, want the long one", len(res.Hits))
	}
	x, sum, fields := res.Hits[0].Explain, 0.0, map[string]int{}
	for _, term := range x.Terms {
		sum += term.Score
		fields[term.Field]++
		if (term.Term == "anchor") != (term.Weight == 2) {
			t.Errorf("%s counts %v times", term.Term, term.Weight)
		}
		share := map[string]float64{"": 0.54, op.FieldPassage: 0.36}[term.Field]
		want := max(term.Weight, 1) * term.IDF * share * float64(term.TF) / (float64(term.TF) + term.Norm)
		if term.Field != op.FieldForm && math.Abs(term.Score-want) > 1e-9 {
			t.Errorf("%s in %q adds %v, its parts give %v", term.Term, term.Field, term.Score, want)
		}
	}
	// The query says anchor and rust, and the memory anchors and rust.
	if math.Abs(sum-x.Relevance) > 1e-9 || fields[""] != 3 || fields[op.FieldPassage] != 3 || fields[op.FieldForm] != 2 {
		t.Errorf("%v sum to %v, the relevance is %v", fields, sum, x.Relevance)
	}
}

// What is written as the query is comes first, and long texts do not bury short ones.
func TestExactFormsAndShortFactsRankFirst(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	step := "The Flask app gets a module for the budget, with tests and a review of each part of it. "
	plan := strings.Repeat(step+"Milestones follow one another, and a tracker of issues tells what is late. ", 12) +
		"Each deadline of the tracker is in the plan, and no deadline moves. "
	for _, content := range []string{"Bill Mason prefers tea.", "Bill Okafor moved to Lagos.", "billing runs on the Postgres database of finance",
		plan + "One.", plan + "Two.", plan + "Three.", "My Flask budget tracker has its deadline on April 15.",
		"a tom is a drum without snares", "toms are tuned by ear", "Tom has his birthday on 3 May"} {
		do(t, e, op.Save, &op.SaveRequest{Content: content})
	}
	for query, want := range map[string]string{
		"what database does billing use":       "billing runs on the Postgres database of finance",
		"Bill":                                 "Bill Mason prefers tea.",
		"billing":                              "billing runs on the Postgres database of finance",
		"deadline of the Flask budget tracker": "My Flask budget tracker has its deadline on April 15.",
		"Tom":                                  "Tom has his birthday on 3 May",
	} {
		if got := searchFor(t, e, query)[0].Content; got != want {
			t.Errorf("%q finds %.60q first, want %q", query, got, want)
		}
	}
}

// In a message that is passed on whole, quotes quote; in a short query they select.
func TestQuotesInALongMessageSelectNothing(t *testing.T) {
	t.Parallel()
	e := newHouse(t).open(t)
	do(t, e, op.Save, &op.SaveRequest{Content: "The kiln reaches its temperature at noon"})
	do(t, e, op.Save, &op.SaveRequest{Content: "A glaze is \"almost ready\" when it stops to bubble"})
	message := "My neighbour wrote that the kiln is \"almost ready\" and asked me to find out when it reaches its " +
		"temperature, because clay pots, mugs, plates, bowls, vases, tiles, figures, jugs, lids, spoons, " +
		"candlesticks, buttons and beads wait on shelves in her workshop"
	if hits := searchFor(t, e, message); len(hits) != 2 || !strings.HasPrefix(hits[0].Content, "The kiln") {
		t.Errorf("a message finds %d, want both and the kiln first", len(hits))
	}
	if hits := searchFor(t, e, "kiln \"almost ready\""); len(hits) != 1 {
		t.Errorf("a phrase finds %d, want what holds it", len(hits))
	}
}

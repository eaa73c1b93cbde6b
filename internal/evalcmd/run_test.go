package evalcmd

import (
	"slices"
	"testing"
	"time"

	"emberd/internal/eval"
	"emberd/op"
	"emberd/rekindle"
)

// A question is asked as it is, and within its conversation by what a user would
// narrow a search with. No search of an evaluation counts as access.
func TestEvalRequest(t *testing.T) {
	t.Parallel()
	q := eval.Question{ID: "q", Text: "Who sails?", Group: "the boat"}
	for _, test := range []struct {
		unit       eval.Unit
		scope      string
		query      string
		collection string
	}{
		{eval.Turns, eval.ScopeAll, "Who sails?", ""},
		{eval.Turns, eval.ScopeGroup, "Who sails?", "the boat"},
		{eval.Notes, eval.ScopeAll, "Who sails?", ""},
		{eval.Notes, eval.ScopeGroup, `path:"the boat/" Who sails?`, ""},
	} {
		req := (&unitRun{set: &eval.Set{Unit: test.unit}}).request(q, test.scope)
		if req.Query != test.query || req.Collection != test.collection {
			t.Errorf("%s %s: query %q in collection %q, want %q in %q", test.unit, test.scope, req.Query,
				req.Collection, test.query, test.collection)
		}
		if req.Limit != 10 || !req.Trial {
			t.Errorf("%s %s: limit %d, trial %v; want a trial of 10", test.unit, test.scope, req.Limit, req.Trial)
		}
	}
}

// Where several places of one note are found, figures are told both ways.
func TestEvalTellsRepeatedHits(t *testing.T) {
	t.Parallel()
	set := &eval.Set{
		Unit:       eval.Notes,
		Docs:       []eval.Doc{{Name: "a"}, {Name: "b"}},
		Questions:  []eval.Question{{ID: "q", Text: "kite"}},
		Judgements: []eval.Judgements{{File: "qrels.tsv", Relevant: map[string]map[string]int{"q": {"b": 1}}}},
		Baselines:  []eval.Baseline{{Name: "plain BM25", Texts: []string{"", "kite"}}},
	}
	r := &unitRun{set: set}
	r.judge(eval.ScopeAll, []eval.Answer{{ID: "q", Top: []string{"a", "a", "a", "b"}}},
		[]system{{"emberd, meaning 0.5", eval.Run{"q": {"b"}}}})
	got := map[string]float64{}
	for _, line := range r.report.Results {
		got[line.System] = line.MRR10
	}
	if got["emberd"] != 0.25 || got["emberd, each note once"] != 0.5 || got["plain BM25"] != 1 ||
		got["emberd, meaning 0.5"] != 1 {
		t.Errorf("MRR@10 %v, want 0.25, 0.5 with each note once, and 1 for plain BM25", got)
	}
	if want := []eval.Place{{Judgements: "qrels.tsv", Name: "b", Rank: 4,
		Plain: 1}}; !slices.Equal(r.report.Answers[0].Relevant, want) {
		t.Errorf("places %+v, want %+v", r.report.Answers[0].Relevant, want)
	}
	if r.report.Repeated != 2 {
		t.Errorf("%d repeated hits, want 2", r.report.Repeated)
	}
}

func TestEvalNames(t *testing.T) {
	t.Parallel()
	r := &unitRun{paths: map[string]string{"boat/a.md": "notes/boat/a.md"}}
	res := &op.SearchResult{Hits: []op.Hit{{Note: &op.Note{Path: "boat/a.md"}}, {Note: &op.Note{Path: "new.md"}}}}
	if got, want := r.names(res), []string{"notes/boat/a.md", "new.md"}; !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
}

func TestIncomplete(t *testing.T) {
	t.Parallel()
	whole := eval.SetReport{Documents: 2, Loaded: 2}
	for _, test := range []struct {
		name string
		set  eval.SetReport
		want bool
	}{
		{"all there", whole, false},
		{"unjudged questions", eval.SetReport{Unjudged: []string{"q"}}, false},
		{"document not loaded", eval.SetReport{Documents: 2, Loaded: 1}, true},
		{"judged document lost", eval.SetReport{Lost: 1}, true},
		{"question refused", eval.SetReport{Failed: []eval.Refusal{{Name: "q"}}}, true},
		{"question without text", eval.SetReport{Missing: []string{"q"}}, true},
	} {
		if got := incomplete(&eval.Report{Sets: []eval.SetReport{whole, test.set}}); got != test.want {
			t.Errorf("%s: incomplete %v, want %v", test.name, got, test.want)
		}
	}
}

// The ages keep their proportions, and the oldest memories of a share are archived by
// the end.
func TestLifetime(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2024, 1, n, 9, 0, 0, 0, time.UTC) }
	set := &eval.Set{Unit: eval.Turns, Docs: []eval.Doc{{Created: day(31)}, {Created: day(1)},
		{Created: day(1).Add(time.Hour)}, {Created: day(21)}, {Created: day(26)}}}
	l, err := newLifetime(set, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.days) != 4 || len(l.days[0]) != 2 || !l.end().Equal(day(31)) {
		t.Errorf("%d days, %d memories on the first, the end at %s", len(l.days), len(l.days[0]), l.end())
	}
	hours := 10 * 24 * time.Hour
	if want := (rekindle.Ages{Demote: hours * 7 / 30, Archive: hours,
		Rehydrate: 3 * hours}); l.ages.Archive != want.Archive || l.ages.Rehydrate != want.Rehydrate ||
		l.ages.Demote.Round(time.Second) != want.Demote.Round(time.Second) {
		t.Errorf("ages are %v, want %v", l.ages, want)
	}
	for name, docs := range map[string][]eval.Doc{"no dates": {{Name: "a"}}, "one moment": {{Created: day(1)},
		{Created: day(1)}}, "nothing": nil} {
		if _, err := newLifetime(&eval.Set{Unit: eval.Turns, Docs: docs}, 0.5); err == nil {
			t.Errorf("a set with %s has a lifetime", name)
		}
	}
}

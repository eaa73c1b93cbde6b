package cleanup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
)

func TestQueries(t *testing.T) {
	entries := collection("The kettle leaks at the seam", "The kettle is old", "The kettle and the gasket of host alder", "The tide turns at six", "The tide is low at the kettle", "???")
	entries[4].Fixed = "it is core"
	entries[3].Away = "it is archived"
	entries[2].Manual = false
	got := Queries(analysis.New(), entries, 10)
	var said []string
	for _, q := range got {
		said = append(said, fmt.Sprint(q.Text, " ", q.Want, q.Critical))
	}
	if want := []string{"tide low kettle [000004] true", "kettle leaks seam [000000] false", "kettle old [000001] false"}; !slices.Equal(said, want) {
		t.Errorf("got %q, want %q", said, want)
	}
	slices.Reverse(entries)
	if again := Queries(analysis.New(), entries, 10); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("in another order of the entries they are %v", again)
	}
	var many []Entry
	for i := range 100 {
		many = append(many, Entry{ID: id(i), Text: fmt.Sprintf("relay %d of the signal box", i), Manual: true})
	}
	few := Queries(analysis.New(), many, 4)
	if len(few) != 4 || few[0].Want[0] != id(0) || few[3].Want[0] != id(75) || !strings.HasPrefix(few[3].Text, "relay 75") {
		t.Errorf("of many they are %+v", few)
	}
}

func TestEvaluate(t *testing.T) {
	want := func(critical bool, ids ...memory.ID) Query { return Query{Want: ids, Critical: critical} }
	for _, c := range []struct {
		name    string
		queries []Query
		answers [][]memory.ID
		moved   map[memory.ID]memory.ID
		want    op.CleanupAccuracy
	}{
		{name: "none", want: op.CleanupAccuracy{Precision: 1, Recall: 1}},
		{"found first", []Query{want(false, "a")}, [][]memory.ID{{"a", "b"}}, nil, op.CleanupAccuracy{Queries: 1, Precision: 1, Recall: 1}},
		{"found later", []Query{want(false, "a")}, [][]memory.ID{{"b", "a"}}, nil, op.CleanupAccuracy{Queries: 1, Recall: 1}},
		{"half of two", []Query{want(false, "a", "b")}, [][]memory.ID{{"a", "c", "d"}}, nil, op.CleanupAccuracy{Queries: 1, Precision: 0.5, Recall: 0.5}},
		{"one of two queries", []Query{want(false, "a"), want(false, "b")}, [][]memory.ID{{"a"}, {"c"}}, nil, op.CleanupAccuracy{Queries: 2, Precision: 0.5, Recall: 0.5}},
		{"merged", []Query{want(false, "a")}, [][]memory.ID{{"m"}}, map[memory.ID]memory.ID{"a": "m"}, op.CleanupAccuracy{Queries: 1, Precision: 1, Recall: 1}},
		{"not merged yet", []Query{want(false, "a")}, [][]memory.ID{{"a"}}, map[memory.ID]memory.ID{"a": "m"}, op.CleanupAccuracy{Queries: 1, Precision: 1, Recall: 1}},
		{"deleted", []Query{want(false, "a"), want(false, "b")}, [][]memory.ID{{}, {"b"}}, map[memory.ID]memory.ID{"a": ""}, op.CleanupAccuracy{Queries: 1, Precision: 1, Recall: 1}},
		{"critical and deleted", []Query{want(true, "a")}, [][]memory.ID{{"b"}}, map[memory.ID]memory.ID{"a": ""}, op.CleanupAccuracy{Queries: 1, Missing: []memory.ID{"a"}}},
		{"no answer", []Query{want(true, "a")}, nil, nil, op.CleanupAccuracy{Queries: 1, Missing: []memory.ID{"a"}}},
	} {
		got := Evaluate(c.queries, c.answers, c.moved)
		if got.Queries != c.want.Queries || got.Precision != c.want.Precision || got.Recall != c.want.Recall || !slices.Equal(got.Missing, c.want.Missing) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestWorse(t *testing.T) {
	acc := func(p, r float64, missing ...memory.ID) *op.CleanupAccuracy {
		return &op.CleanupAccuracy{Queries: 10, Precision: p, Recall: r, Missing: missing}
	}
	for _, c := range []struct {
		before, after *op.CleanupAccuracy
		want          string
	}{
		{acc(1, 1), acc(1, 1), ""},
		{acc(1, 1), acc(0.8, 0.8), ""}, // by one fifth, and not more
		{acc(1, 1), acc(0.79, 1), "precision"},
		{acc(1, 1), acc(1, 0.79), "recall"},
		{acc(0.5, 0.5), acc(0.41, 0.41), ""},
		{acc(0.5, 0.5), acc(0.39, 0.5), "precision"},
		{acc(0.5, 0.5), acc(1, 1), ""},
		{acc(0, 0), acc(0, 0), ""},
		{acc(1, 1), acc(1, 1, "a"), "memory a"},
		{acc(1, 1, "a"), acc(1, 1, "a"), ""},
		{acc(1, 1, "a"), acc(1, 1, "a", "b"), "memory b"},
	} {
		if got := Worse(c.before, c.after, 0.2); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("from %+v to %+v: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

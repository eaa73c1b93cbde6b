package engine_test

import (
	"slices"
	"testing"

	"emberd/engine"
	"emberd/op"
)

// all returns what a query finds, in any order.
func all(t testing.TB, e *engine.Engine, query string) []string {
	t.Helper()
	got := names(do(t, e, op.Search, &op.SearchRequest{Query: query, Limit: 100, Trial: true}).Hits)
	slices.Sort(got)
	return got
}

// typist is a store of memories and notes with words that begin alike.
func typist(t *testing.T) *engine.Engine {
	e := vaultHouse(t, map[string]string{
		"Zettelkasten.md": "Slips of paper, and how they are planned and planted.\n",
		"Zettel.md":       "A planner for hoping people.\n",
		"Hopes.md":        "What an author was hoping for: plantations.\n",
	}).following(t)
	save(t, e, "The authentication service runs on port 8443")
	save(t, e, "Ask the author of the auth letter")
	save(t, e, "The Who are authentic")
	save(t, e, "A hoped-for plan")
	return e
}

func TestTheLastWordBeginsOthers(t *testing.T) {
	t.Parallel()
	e := typist(t)
	for query, want := range map[string][]string{
		"auth": {"Ask the author of the auth letter", "Hopes.md", "The Who are authentic",
			"The authentication service runs on port 8443"},
		"auth ":        {"Ask the author of the auth letter"},
		"authenti":     {"The Who are authentic", "The authentication service runs on port 8443"},
		"letter servi": {"Ask the author of the auth letter", "The authentication service runs on port 8443"},
		"the wh":       {"Hopes.md", "The Who are authentic"},
		`"auth"`:       {"Ask the author of the auth letter"},
	} {
		if got := all(t, e, query); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	hits := do(t, e, op.Search, &op.SearchRequest{Query: "auth"}).Hits
	if first := names(hits)[0]; first != "Ask the author of the auth letter" {
		t.Errorf("%q is first, want what has the word itself", first)
	}
}

func TestHitsOnlyNarrowWhileAWordIsTyped(t *testing.T) {
	t.Parallel()
	e := typist(t)
	for _, typed := range []string{"zettelkasten", "authentication", "authors", "letter plantations", "hoping", "planned", "the who"} {
		var before []string
		for n := 1; n <= len(typed); n++ {
			got := all(t, e, typed[:n])
			grown := slices.ContainsFunc(got, func(name string) bool { return !slices.Contains(before, name) })
			if n > 1 && typed[n-1] != ' ' && typed[n-2] != ' ' && grown {
				t.Errorf("%q finds %q, and one letter less found %q", typed[:n], got, before)
			}
			before = got
		}
		if len(before) == 0 {
			t.Errorf("%q finds nothing in the end", typed)
		}
	}
}

// An agent's question ends with a word, not within one.
func TestAQuestionEndsWithAWord(t *testing.T) {
	t.Parallel()
	e := typist(t)
	if got := inScope(t, e, "notes", "who asks about auth"); len(got.Results) != 1 {
		t.Errorf("auth is also the beginning of words: %q", lines(got.Results))
	}
	if got := inScope(t, e, "notes", "zettelk"); len(got.Results) != 1 {
		t.Errorf("what no text has is not taken for a beginning: %q", lines(got.Results))
	}
}

package ltm

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/internal/text/spelling"
)

// library is a small vault to filter.
func library(t *testing.T) *Index {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	x := open(t)
	put(t, x,
		Doc{Path: "Projects/Alpha.md", Title: "Alpha", Tags: []string{"Project/Active", "go"}, Created: day("2024-01-10"), Modified: day("2024-04-01"),
			Properties: []Property{{"Status", "In Progress"}, {"priority", "1"}},
			Sections:   []Section{{Line: 1, Text: "The quick brown fox jumps. See the café."}}},
		Doc{Path: "Projects/Beta.md", Title: "Beta", Tags: []string{"project"}, Created: day("2024-02-10"), Modified: day("2024-02-11"),
			Properties: []Property{{"status", "done"}, {"priority", "10"}},
			Sections:   []Section{{Line: 1, Text: "A brown quick fox sleeps."}}},
		Doc{Path: "日記/Été 2024.md", Title: "Été", Tags: []string{"projects"}, Created: day("2024-03-10"), Modified: day("2024-02-12"),
			Sections: []Section{{Line: 1, Text: "東京都に住んでいます。 No fox here."}}},
	)
	return x
}

// libraryText is what the notes' files say.
func libraryText(path string) (string, bool) {
	body, ok := map[string]string{
		"Projects/Alpha.md": "The quick brown fox jumps. See the café.",
		"Projects/Beta.md":  "A brown quick fox sleeps.",
		"日記/Été 2024.md":    "東京都に住んでいます。 No fox here.",
	}[path]
	return body, ok
}

func TestFilters(t *testing.T) {
	x := library(t)
	tests := []struct {
		name string
		must Filter
		not  Filter
		want string
	}{
		{name: "nothing", want: "Été Beta Alpha"},
		{name: "path", must: Filter{Paths: []string{"projects/"}}, want: "Beta Alpha"},
		{name: "path of any form", must: Filter{Paths: []string{"日記/E\u0301te\u0301"}}, want: "Été"},
		{name: "two paths", must: Filter{Paths: []string{"Projects", "日記"}}, want: ""},
		{name: "not path", not: Filter{Paths: []string{"PROJECTS"}}, want: "Été"},
		{name: "file", must: Filter{Files: []string{"ALPHA"}}, want: "Alpha"},
		{name: "file is not folder", must: Filter{Files: []string{"projects"}}, want: ""},
		{name: "tag", must: Filter{Tags: []string{"PROJECT"}}, want: "Beta Alpha"},
		{name: "nested tag", must: Filter{Tags: []string{"project/active"}}, want: "Alpha"},
		{name: "not tag", not: Filter{Tags: []string{"project"}}, want: "Été"},
		{name: "property", must: Filter{Properties: []Property{{Key: "Priority"}}}, want: "Beta Alpha"},
		{name: "value", must: Filter{Properties: []Property{{"priority", "1"}}}, want: "Alpha"},
		{name: "word of a value", must: Filter{Properties: []Property{{"status", "progress"}}}, want: "Alpha"},
		{name: "part of a word of a value", must: Filter{Properties: []Property{{"status", "prog"}}}, want: ""},
		{name: "not value", not: Filter{Properties: []Property{{"status", "Done"}}}, want: "Été Alpha"},
		{name: "word", must: Filter{Phrases: []string{"jumping"}}, want: "Alpha"},
		{name: "not word", not: Filter{Phrases: []string{"sleep"}}, want: "Été Alpha"},
		{name: "phrase", must: Filter{Phrases: []string{"quick brown FOX"}}, want: "Alpha"},
		{name: "phrase with a stop word", must: Filter{Phrases: []string{"see the cafe"}}, want: "Alpha"},
		{name: "phrase in Japanese", must: Filter{Phrases: []string{"京都に住"}}, want: "Été"},
		{name: "phrase in the wrong order", must: Filter{Phrases: []string{"fox quick"}}, want: ""},
		{name: "not phrase", not: Filter{Phrases: []string{"quick brown"}}, want: "Été Beta"},
		{name: "phrase without a word", must: Filter{Phrases: []string{"..."}}, want: ""},
		{name: "both", must: Filter{Tags: []string{"project"}}, not: Filter{Phrases: []string{"brown quick"}}, want: "Alpha"},
	}
	for _, tt := range tests {
		q := Query{Must: tt.must, Not: tt.not, Limit: 10, Text: libraryText}
		r := search(t, x, q)
		var titles []string
		for _, h := range r.Hits {
			titles = append(titles, h.Title)
		}
		if got := strings.Join(titles, " "); got != tt.want || r.Total != len(r.Hits) {
			t.Errorf("%s: found %q of %d, want %q", tt.name, got, r.Total, tt.want)
		}
		// With a word that all notes have, the same notes are found.
		q.Terms = words("fox").Terms
		if got := search(t, x, q).Total; got != r.Total {
			t.Errorf("%s: with a common word %d notes are found, without %d", tt.name, got, r.Total)
		}
	}
}

func TestDates(t *testing.T) {
	x := library(t)
	date := func(month, day int) time.Time { return time.Date(2024, time.Month(month), day, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		after, before, modified time.Time
		want                    string
	}{
		{modified: date(4, 1), want: "Projects/Alpha"},
		{modified: date(4, 2), want: ""},
		{modified: date(3, 1), before: date(2, 1), want: "Projects/Alpha"},
		{after: date(2, 10), want: "日記/Été 2024 Projects/Beta"},
		{before: date(2, 10), want: "Projects/Alpha"},
		{after: date(1, 11), before: date(3, 10), want: "Projects/Beta"},
	}
	for _, tt := range tests {
		if got := found(t, x, Query{After: tt.after, Before: tt.before, Modified: tt.modified, Limit: 10}); got != tt.want {
			t.Errorf("after %v before %v modified %v: found %q, want %q", tt.after, tt.before, tt.modified, got, tt.want)
		}
	}
}

func TestPhraseWithoutTexts(t *testing.T) {
	x := library(t)
	if got := search(t, x, Query{Must: Filter{Phrases: []string{"quick brown"}}, Limit: 10}).Total; got != 0 {
		t.Errorf("without texts %d notes have a phrase, want none", got)
	}
	if got := search(t, x, Query{Not: Filter{Phrases: []string{"quick brown"}}, Limit: 10}).Total; got != 3 {
		t.Errorf("without texts %d notes lack a phrase, want all 3", got)
	}
}

func TestPhrasesAreLookedUpInTheBestCandidates(t *testing.T) {
	x := open(t)
	var docs []Doc
	for i := range maxTexts + 5 {
		docs = append(docs, named(fmt.Sprintf("n%04d", i), "one two"))
	}
	put(t, x, docs...)
	all := func(string) bool { return true }
	late := func(path string) bool { return path >= "n0500" }
	tests := []struct {
		name  string
		has   func(path string) bool // the phrase
		limit int
		// So many texts are looked into, and so many notes found.
		looked, total, hits int
		first               string
		partial             bool
	}{
		{"hits enough among the first", all, 3, fewTexts, fewTexts, 3, "n0000.md", true},
		{"more hits wanted than texts are looked into", all, maxTexts + 10, maxTexts + 5, maxTexts + 5, maxTexts + 5, "n0000.md", false},
		{"later hits", late, 3, 64 * fewTexts, 64*fewTexts - 500, 3, "n0500.md", true},
		{"a count", all, 0, maxTexts, maxTexts, 0, "", true},
	}
	for _, tt := range tests {
		var texts atomic.Int64
		q := Query{Must: Filter{Phrases: []string{"one two"}}, Terms: words("one").Terms, Limit: tt.limit, Text: func(path string) (string, bool) {
			texts.Add(1)
			if tt.has(path) {
				return "one two", true
			}
			return "two " + path + " one", true
		}}
		r := search(t, x, q)
		if r.Total != tt.total || r.Partial != tt.partial || len(r.Hits) != tt.hits {
			t.Errorf("%s: %d notes found, partial %v, %d hits; want %d, %v, %d", tt.name, r.Total, r.Partial, len(r.Hits), tt.total, tt.partial, tt.hits)
		}
		if len(r.Hits) > 0 && r.Hits[0].Path != tt.first {
			t.Errorf("%s: the best is %s, want %s", tt.name, r.Hits[0].Path, tt.first)
		}
		if got := int(texts.Load()); got != tt.looked {
			t.Errorf("%s: %d texts were read, want %d", tt.name, got, tt.looked)
		}
	}
}

// TestRowsSpareTexts looks for a phrase among notes that all have its words. Of those whose text
// lacks it, hardly any is read.
func TestRowsSpareTexts(t *testing.T) {
	x := open(t)
	bodies, docs := make(map[string]string), []Doc(nil)
	for i := range 500 {
		d := named(fmt.Sprintf("n%03d", i), "three two one")
		if d.Text = "three two one"; i%100 == 7 {
			d.Text = "one two three"
		}
		bodies[d.Path], docs = d.Text, append(docs, d)
	}
	put(t, x, docs...)
	var texts atomic.Int64
	q := Query{Must: Filter{Phrases: []string{"one two three"}}, Terms: words("one").Terms, Limit: 10, Text: func(path string) (string, bool) {
		texts.Add(1)
		return bodies[path], true
	}}
	if r := search(t, x, q); r.Total != 5 || r.Partial || texts.Load() != 5 {
		t.Errorf("%d notes found, partial %v, %d texts read; want 5, false, 5", r.Total, r.Partial, texts.Load())
	}
	q.Must, q.Not = Filter{}, Filter{Phrases: []string{"one two three"}}
	texts.Store(0)
	if r := search(t, x, q); r.Total != 39 || len(r.Hits) != 10 || texts.Load() != 1 { // n007 is among the first
		t.Errorf("%d notes without the phrase found, %d hits, %d texts read; want 39, 10, 1", r.Total, len(r.Hits), texts.Load())
	}
}

func TestExpand(t *testing.T) {
	x := open(t)
	put(t, x,
		named("a", "authentication by password"),
		named("b", "the author writes, and authors read"),
		named("c", "Ärger and trouble"),
	)
	for prefix, want := range map[string][]spelling.Near{
		"auth":  {{Word: "authent", Docs: 1}, {Word: "author", Docs: 1}},
		"autho": {{Word: "author", Docs: 1}},
		"arg":   {{Word: "arger", Docs: 1}},
		"zebra": {},
	} {
		got, err := x.Expand(prefix)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q begins %v, %v; want %v", prefix, got, err, want)
		}
	}
	group := Term{Text: "auth*", Of: []string{"authent", "author", "nothing"}, Weight: 1}
	r := search(t, x, Query{Terms: []Term{group}, Limit: 10, Explain: true})
	if len(r.Hits) != 2 {
		t.Fatalf("the group finds %d notes, want 2", len(r.Hits))
	}
	for _, h := range r.Hits {
		if h.Scores[0].Term != "auth*" || h.Scores[0].DF != 2 {
			t.Errorf("scores of %s are %+v, want the group auth* that two notes have", h.Path, h.Scores)
		}
	}
}

func TestNotesThatHoldBoth(t *testing.T) {
	x := open(t)
	put(t, x, named("a", "red fox"), named("b", "red hen"), named("c", "fox"), named("d", "red fox hen"))
	remove(t, x, "d.md")
	if n, err := x.Together(t.Context(), "red", []string{"fox", "hen", "none"}); n != 2 || err != nil {
		t.Errorf("red stands beside a fox or a hen in %d notes, %v; want 2", n, err)
	}
}

func TestSimilar(t *testing.T) {
	x := open(t)
	put(t, x, named("a", "kubernetes cluster"), named("b", "kubernetes"), named("c", "cat clutter"), named("d", "clusher"))
	remove(t, x, "d.md")
	tests := []struct {
		term  string
		edits int
		want  []spelling.Near
	}{
		{"kubernit", 2, []spelling.Near{{Word: "kubernet", Edits: 1, Docs: 2}}},
		{"kuebrnet", 1, []spelling.Near{{Word: "kubernet", Edits: 1, Docs: 2}}}, // neighbours swapped
		{"kbuernte", 1, nil},
		{"clustre", 2, []spelling.Near{{Word: "cluster", Edits: 1, Docs: 1}, {Word: "clutter", Edits: 2, Docs: 1}}},
		{"elephant", 2, nil},
	}
	for _, tt := range tests {
		near, err := x.Similar(tt.term, tt.edits)
		if err != nil {
			t.Fatal(err)
		}
		near = slices.DeleteFunc(near, func(n spelling.Near) bool { return n.Docs == 0 }) // still there, in no note
		if !slices.Equal(near, tt.want) {
			t.Errorf("%d edits from %q there are %+v, want %+v", tt.edits, tt.term, near, tt.want)
		}
	}
}

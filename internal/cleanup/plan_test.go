package cleanup

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"emberd/internal/cleanup/quality"
	"emberd/internal/dedupe"
	"emberd/internal/text/analysis"
	"emberd/memory"
)

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// collection makes manual entries with ids in their order, saved a day after the other.
func collection(texts ...string) []Entry {
	out := make([]Entry, len(texts))
	for i, s := range texts {
		out[i] = Entry{ID: id(i), Text: s, Manual: true, Created: day(i + 1)}
	}
	return out
}

func id(i int) memory.ID { return memory.ID(fmt.Sprintf("%06d", i)) }

// judged are the scores of entries by rules.
func judged(entries []Entry) map[memory.ID]quality.Score {
	out := make(map[memory.ID]quality.Score)
	for _, e := range entries {
		out[e.ID] = quality.Heuristic(&quality.Entry{ID: e.ID, Text: e.Text, Created: e.Created, Confidence: 1}, day(200))
	}
	return out
}

func alike(t testing.TB, entries []Entry) Likeness {
	t.Helper()
	like, err := Alike(t.Context(), analysis.New(), entries, dedupe.Options{Threshold: 0.85, MaxSize: 12}, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return like
}

// said are the actions of a plan, each on a line, without preserved ones.
func said(p Plan) string {
	var out []string
	for _, a := range p.Actions {
		var s strings.Builder
		s.WriteString(a.Action + " " + a.Strategy)
		for _, id := range a.MemoryIDs {
			s.WriteString(" " + strings.TrimLeft(string(id), "0"))
			if id == a.Keep {
				s.WriteString("*")
			}
		}
		for _, l := range a.Links {
			s.WriteString(" " + l.Value)
		}
		out = append(out, strings.Join(strings.Fields(s.String()), " "))
	}
	return strings.Join(out, "\n")
}

func TestPlans(t *testing.T) {
	for _, c := range []struct {
		name    string
		texts   []string // of which the first has the id 1: 0 is something else
		change  func([]Entry)
		worth   []float64 // quality, where it is not what the rules say
		want    string
		open    int // conflicts that are not resolved
		settled int
	}{
		{name: "duplicates", texts: []string{"The kettle leaks at the seam", "At the seam the kettle is leaking", "Tomatoes want water in the morning"}, want: "merge merge 1 2"},
		{name: "junk", texts: []string{"asdf", "This is a test memory, please ignore", "API key rotates every 90 days"}, want: "delete 1\ndelete 2"},
		{name: "versions", texts: []string{"In Python 2.7 the print statement takes no parentheses", "In Python 3.12 the print statement takes parentheses"},
			want: "hierarchy version 1 2* python 2.7", settled: 1},
		{name: "versions in another order of words", texts: []string{"With Redis 7.4, poppy-mailer has a batch size of 48", "In poppy-mailer the batch size is 256 with Redis 8.0"},
			want: "hierarchy version 1 2* redis 7.4", settled: 1},
		{name: "versions beside different programs", texts: []string{"With Postgres 11.3, juniper-indexer has a keep-alive time of 40 seconds", "With Postgres 9.1, clover-relay has a keep-alive time of 60 seconds"}, want: ""},
		{name: "versions beside different settings", texts: []string{"With Redis 7.4, poppy-mailer has a batch size of 48", "With Redis 8.0, poppy-mailer has a pool size of 12"}, want: ""},
		{name: "versions beside different people", texts: []string{"On Windows 10 the laptop of Lena keeps its settings in the profile", "On Windows 11 the laptop of Omar keeps its settings in the profile"}, want: ""},
		{name: "paths by platform", texts: []string{"On Windows, poppy-mailer keeps its drafts in %APPDATA%\\poppy-mailer", "On macOS, poppy-mailer keeps its drafts in ~/Library/Application Support/poppy-mailer"},
			want: "hierarchy platform 1 2* windows", settled: 1},
		{name: "platforms of different programs", texts: []string{"On Windows the kettle-monitor keeps its settings in the profile folder", "On macOS the garden-pump keeps its settings in the library folder"}, want: ""},
		{name: "three versions", texts: []string{"On PostgreSQL 12 the vacuum of a table locks it", "On PostgreSQL 14 the vacuum of a table does not lock it", "On PostgreSQL 9.6 the vacuum of a table locks it all"},
			want: "hierarchy version 1 2* 3 postgresql 12 postgresql 9.6", settled: 1},
		{name: "platforms", texts: []string{"On Windows the kettle keeps its settings in the profile folder", "On macOS the kettle keeps its settings in the library folder"},
			want: "hierarchy platform 1 2* windows", settled: 1},
		{name: "environments", texts: []string{"The staging database of the shop listens on port 5433", "The production database of the shop listens on port 5432"},
			want: "hierarchy platform 1 2* staging", settled: 1},
		{name: "a version that is told", texts: []string{"The billing service runs on Python 3.11", "The billing service runs on Python 3.12"},
			want: "hierarchy supersedes 1 2*", settled: 1},
		{name: "a later value", texts: []string{"The ledger database listens on port 5432", "The ledger database listens on port 5433"},
			want: "hierarchy supersedes 1 2*", settled: 1},
		{name: "names that may both hold", texts: []string{"Jo owns a rabbit called Moss, who brings comfort to her days", "Jo has a rabbit called Fern that has been with her for years and brings her comfort"}, want: ""},
		{name: "what was news twice", texts: []string{"The on-call engineer for dune-balancer is now Ann", "The on-call engineer for dune-balancer is now Omar"},
			want: "hierarchy supersedes 1 2*", settled: 1},
		{name: "a value that was moved", texts: []string{"The nightly job of dune-balancer starts at 01:20", "The nightly job of dune-balancer was moved to 03:40"},
			want: "hierarchy supersedes 1 2*", settled: 1},
		{name: "values of one moment", texts: []string{"The ledger database listens on port 5432", "The ledger database listens on port 5433"},
			change: func(e []Entry) { e[2].Created = e[1].Created.Add(time.Second) }, want: "review 1 2", open: 1},
		{name: "a later value of a tool", texts: []string{"The ledger database listens on port 5432", "The ledger database listens on port 5433"},
			change: func(e []Entry) { e[2].Origin, e[2].DataOnly = memory.FromTool, true }, want: "hierarchy supersedes 1* 2", settled: 1},
		{name: "a later value about what is core", texts: []string{"The ledger database listens on port 5432", "The ledger database listens on port 5433"},
			change: func(e []Entry) { e[1].Fixed = "it is core" }, want: "review 1 2", open: 1},
		{name: "a later state", texts: []string{"The telemetry of the ledger service is enabled", "The telemetry of the ledger service is disabled"},
			want: "hierarchy supersedes 1 2*", settled: 1},
		{name: "a denial", texts: []string{"The backup of the ledger runs at night", "The backup of the ledger never runs at night"}, want: "review 1 2", open: 1},
		{name: "a denial by the user", texts: []string{"The backup of the ledger runs at night", "The backup of the ledger never runs at night"},
			change: func(e []Entry) { e[2].Origin = memory.FromUser }, want: "hierarchy supersedes 1 2*", settled: 1},
		{name: "a denial later than what the user said", texts: []string{"The backup of the ledger runs at night", "The backup of the ledger never runs at night"},
			change: func(e []Entry) { e[1].Origin = memory.FromUser }, want: "review 1 2", open: 1},
		{name: "much better and no older", texts: []string{"The ledger database listens on port 5433", "The ledger database listens on port 5432"},
			worth: []float64{1: 0.4, 2: 0.8}, want: "delete quality 1 2*", settled: 1},
		{name: "much better and older", texts: []string{"The ledger database listens on port 5433", "The ledger database listens on port 5432"},
			worth: []float64{1: 0.8, 2: 0.4}, want: "hierarchy supersedes 1 2*", settled: 1},
		{name: "much better and core the other", texts: []string{"The ledger database listens on port 5433", "The ledger database listens on port 5432"},
			worth: []float64{1: 0.4, 2: 0.8}, change: func(e []Entry) { e[1].Fixed = "it is core" }, want: "review 1 2", open: 1},
		{name: "a much worse duplicate that says no more", texts: []string{"The kettle leaks at the seam", "At the seam the kettle is leaking"},
			worth: []float64{1: 0.4, 2: 0.8}, want: "delete quality 1 2*"},
		{name: "a much worse duplicate that says more", texts: []string{"The old copper kettle in the kitchen leaks at the seam", "The old copper kettle in the kitchen leaks at the seam, loudly"},
			worth: []float64{1: 0.8, 2: 0.4}, want: "merge merge 1 2"},
		{name: "linked already", texts: []string{"The ledger database listens on port 5432", "The ledger database listens on port 5433"},
			change: func(e []Entry) { e[1].Linked = []memory.ID{id(2)} }, want: ""},
		{name: "of an indexer", texts: []string{"asdf", "The kettle leaks at the seam", "At the seam the kettle is leaking"},
			change: func(e []Entry) { e[1].Manual, e[2].Manual = false, false }, want: ""},
		{name: "core duplicates", texts: []string{"The kettle leaks at the seam", "At the seam the kettle is leaking", "Kettle leaks at its seam"},
			change: func(e []Entry) { e[2].Fixed = "it is core" }, want: "merge merge 1 3"},
		{name: "core junk", texts: []string{"asdf"}, change: func(e []Entry) { e[1].Fixed = "it is core" }, want: "preserve 1"},
		{name: "junk with an implementation", texts: []string{"test"}, change: func(e []Entry) { e[1].HasImplementation = true }, want: "preserve 1"},
		{name: "chunks of two types", texts: []string{"The kettle leaks at the seam", "At the seam the kettle is leaking"},
			change: func(e []Entry) { e[1].ChunkType, e[2].ChunkType = "metadata", "implementation" }, want: ""},
		{name: "of two groups", texts: []string{"The kettle leaks at the seam", "At the seam the kettle is leaking"},
			change: func(e []Entry) { e[1].Group = "other" }, want: ""},
		{name: "away", texts: []string{"asdf", "The kettle leaks at the seam", "At the seam the kettle is leaking"},
			change: func(e []Entry) { e[1].Away, e[2].Away = "x", "x" }, want: ""},
		{name: "outdated", texts: []string{"The Leith gateway of the shop is deprecated"}, want: "update 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			entries := collection(append([]string{"Something else is said of the harbour at Leith"}, c.texts...)...)
			if c.change != nil {
				c.change(entries)
			}
			scores := judged(entries)
			for i, q := range c.worth {
				if s := scores[id(i)]; q > 0 {
					s.Floor, s.Overall = q, q
					scores[id(i)] = s
				}
			}
			policy := DefaultPolicy()
			policy.Deletions = 1
			p := Make(analysis.New(), entries, alike(t, entries), scores, policy)
			if got := said(p); got != c.want {
				t.Errorf("the plan is\n%s\nwant\n%s", got, c.want)
			}
			if p.Conflicts-p.Resolved != c.open || p.Resolved != c.settled {
				t.Errorf("%d of %d conflicts are resolved, want %d and %d open", p.Resolved, p.Conflicts, c.settled, c.open)
			}
			for _, a := range p.Actions {
				if !strings.HasSuffix(a.Evidence, ".") {
					t.Errorf("the evidence of %s is %q", a.Action, a.Evidence)
				}
			}
		})
	}
}

// So many are deleted in a run, the worst first, and the rest is counted.
func TestDeletionsAreLimited(t *testing.T) {
	for _, c := range []struct{ manual, junk, indexed, deleted, limited int }{
		{20, 10, 0, 3, 7}, {20, 2, 0, 2, 0}, {20, 10, 80, 3, 7}, {6, 3, 0, 0, 3}, {7, 3, 0, 1, 2}, {0, 0, 5, 0, 0},
	} {
		texts := make([]string, c.manual+c.indexed)
		for i := range texts {
			texts[i] = fmt.Sprintf("relay %d", i)
		}
		entries := collection(texts...)
		scores := make(map[memory.ID]quality.Score)
		for i := range entries {
			entries[i].Manual = i < c.manual
			scores[id(i)] = quality.Score{Floor: 0.9, Overall: 0.9}
			if i < c.junk {
				q := 0.29 - 0.01*float64(i)
				scores[id(i)] = quality.Score{Floor: q, Overall: q}
			}
		}
		p := Make(analysis.New(), entries, Likeness{}, scores, DefaultPolicy())
		if len(p.Actions) != c.deleted || p.Limited != c.limited || p.Deletions != c.manual*15/100 {
			t.Errorf("of %+v the plan is %+v", c, p)
		}
		for i, a := range p.Actions {
			if a.MemoryIDs[0] != id(c.junk-1-i) {
				t.Errorf("number %d that goes is %s, and not the worst", i, a.MemoryIDs[0])
			}
		}
	}
}

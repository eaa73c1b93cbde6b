package quality

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
)

func now() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }

// fresh is an entry that was just saved.
func fresh(text string) *Entry { return &Entry{Text: text, Created: now(), Confidence: 1} }

func TestJunkIsBelowWhatIsDeleted(t *testing.T) {
	for _, text := range junk() {
		if s := Heuristic(fresh(text), now()); s.Overall >= 0.3 || len(s.Reasons) == 0 {
			t.Errorf("%q has %v: %q", text, s.Overall, s.Reasons)
		}
	}
}

func TestShortFactsAreKept(t *testing.T) {
	for _, text := range valuable() {
		e := fresh(text)
		if s := Heuristic(e, now()); s.Overall < 0.3 {
			t.Errorf("%q has %v when saved: %q", text, s.Overall, s.Reasons)
		}
		e.Created = now().AddDate(-10, 0, 0)
		if s := Heuristic(e, now()); s.Overall < 0.3 {
			t.Errorf("%q has %v after ten years: %q", text, s.Overall, s.Reasons)
		}
	}
}

// anyEntry draws an entry with any of the texts of the fixtures, or anything.
func anyEntry(t *rapid.T) *Entry {
	texts := slices.Concat(junk(), valuable())
	e := &Entry{
		Text:       rapid.OneOf(rapid.SampledFrom(texts), rapid.String()).Draw(t, "text"),
		Created:    now().Add(-time.Duration(rapid.Int64Range(0, 5e17).Draw(t, "age"))),
		UseCount:   rapid.Int64Range(0, 100).Draw(t, "uses"),
		Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
		Origin:     rapid.SampledFrom([]string{"", memory.FromUser, memory.FromTool, memory.FromWeb}).Draw(t, "origin"),
		Confirmed:  rapid.Bool().Draw(t, "confirmed"),
		Learned:    rapid.IntRange(0, 50).Draw(t, "learned"),
		Disputed:   rapid.IntRange(0, 5).Draw(t, "disputed"),
		Superseded: rapid.Bool().Draw(t, "superseded"),
		Copies:     rapid.IntRange(0, 5).Draw(t, "copies"),
	}
	if rapid.Bool().Draw(t, "used") {
		e.LastUsed = e.Created.Add(time.Duration(rapid.Int64Range(0, 4e17).Draw(t, "used after")))
	}
	return e
}

// Quality fades with the time since the last use and grows with use, whatever the entry.
func TestQualityFadesAndGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEntry(t)
		before := Heuristic(e, now())
		for _, x := range []float64{before.Accuracy, before.Completeness, before.Specificity, before.Reusability, before.Recency, before.Overall} {
			if !(x >= 0 && x <= 1) {
				t.Fatalf("%+v is out of bounds", before)
			}
		}
		later := now().Add(time.Duration(rapid.Int64Range(0, 5e17).Draw(t, "later")))
		if s := Heuristic(e, later); s.Overall > before.Overall || s.Recency > before.Recency {
			t.Fatalf("%v rose to %v by time", before, s)
		}
		more := *e
		more.UseCount += rapid.Int64Range(0, 100).Draw(t, "more uses")
		if s := Heuristic(&more, now()); s.Overall < before.Overall {
			t.Fatalf("%v fell to %v by use", before, s)
		}
		if more.LastUsed = now(); Heuristic(&more, now()).Overall < before.Overall {
			t.Fatalf("%v fell by a use of now", before)
		}
	})
}

func TestWhatCounts(t *testing.T) {
	plain := func() *Entry { return fresh("The staging database listens on port 5432") }
	base := Heuristic(plain(), now())
	for _, c := range []struct {
		name   string
		change func(*Entry)
		lower  bool
		reason string
	}{
		{"hedged", func(e *Entry) { e.Text = "Maybe the staging database listens on port 5432, not sure" }, true, "uncertain wording"},
		{"asked", func(e *Entry) { e.Text = "Does the staging database listen on port 5432?" }, true, "only asks"},
		{"to be done", func(e *Entry) { e.Text = "TODO the staging database has to listen on port 5432" }, true, "an open task"},
		{"interrupted", func(e *Entry) { e.Text += "..." }, true, "incomplete"},
		{"contradicted", func(e *Entry) { e.Disputed = 1 }, true, "other memories contradict the memory"},
		{"superseded", func(e *Entry) { e.Superseded = true }, true, "another memory supersedes it"},
		{"doubted", func(e *Entry) { e.Confidence = 0.2 }, true, "low confidence"},
		{"of the web", func(e *Entry) { e.Origin = memory.FromWeb }, true, ""},
		{"of the user", func(e *Entry) { e.Origin = memory.FromUser }, false, ""},
		{"confirmed", func(e *Entry) { e.Origin, e.Confirmed = memory.FromWeb, true }, false, ""},
		{"learned again", func(e *Entry) { e.Learned = 4 }, false, ""},
		{"used", func(e *Entry) { e.UseCount = 3 }, false, ""},
		{"about somebody", func(e *Entry) { e.Entities = []string{"ann"} }, false, ""},
	} {
		e := plain()
		c.change(e)
		got := Heuristic(e, now())
		if c.lower != (got.Overall < base.Overall) || got.Overall == base.Overall {
			t.Errorf("%s it has %v, before %v", c.name, got.Overall, base.Overall)
		}
		if c.reason != "" && !slices.Contains(got.Reasons, c.reason) {
			t.Errorf("%s the reasons are %q", c.name, got.Reasons)
		}
	}
}

// What was used again and again is kept, whatever it looks like.
func TestJunkThatIsUsedIsKept(t *testing.T) {
	for _, text := range junk() {
		e := fresh(text)
		e.UseCount, e.LastUsed = 8, now()
		if s := Heuristic(e, now()); s.Overall < 0.3 {
			t.Errorf("%q has %v after eight uses", text, s.Overall)
		}
	}
}

func TestReasonsHoldNothingOfTheText(t *testing.T) {
	for _, text := range []string{"maybe zanzibar?", "TODO zanzibar", "zanzibar..."} {
		for _, why := range Heuristic(fresh(text), now()).Reasons {
			if strings.Contains(why, "zanzibar") {
				t.Errorf("a reason is %q", why)
			}
		}
	}
}

func BenchmarkHeuristic(b *testing.B) {
	texts := slices.Concat(junk(), valuable())
	for i := 0; b.Loop(); i++ {
		Heuristic(fresh(texts[i%len(texts)]), now())
	}
}

// Low is Heuristic below a bound, whatever the text and the bound.
func TestLowAgreesWithTheScore(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	texts := []string{"", "test", "asdf qwer", "TODO: fix it", "lorem ipsum dolor sit amet", "The gate is at Mill Lane 5", "maybe something?",
		"Ada Lovelace wrote to Charles Babbage about the Analytical Engine in London", "Thank you for contacting us", "ok"}
	for _, text := range texts {
		for _, e := range []Entry{{Text: text, Confidence: 1}, {Text: text, Confidence: 0.1, Superseded: true, Disputed: 3}, {Text: text, Confidence: 0.5, UseCount: 9, Confirmed: true}} {
			e.Created = now.Add(-400 * 24 * time.Hour)
			for bound := 0.05; bound < 1; bound += 0.05 {
				s := Heuristic(&e, now)
				if got := Low(&e, now, bound); got != s.Below(bound) {
					t.Errorf("%q with %.4f is low: %v, of %.2f", text, s.Overall, got, bound)
				}
			}
		}
	}
}

// What each dimension counts for is what the specification "memory cleanup" says.
func TestWeights(t *testing.T) {
	for _, c := range []struct {
		of   Dimensions
		want float64
	}{
		{Dimensions{Accuracy: 1}, 0.3},
		{Dimensions{Completeness: 1}, 0.25},
		{Dimensions{Specificity: 1}, 0.2},
		{Dimensions{Reusability: 1}, 0.15},
		{Dimensions{Recency: 1}, 0.1},
		{Dimensions{1, 1, 1, 1, 1}, 1},
	} {
		if got := c.of.Overall(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v is worth %v, want %v", c.of, got, c.want)
		}
	}
}

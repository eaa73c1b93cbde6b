package dedupe

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
)

func TestCasesOfContent(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"C68", []string{"Python is great", "Python is great for programming", "python is GREAT"}, "Python is great for programming"},
		{"C69", []string{"bb one", "aa two longer", "bb one"}, "aa two longer\n\nbb one"},
		{"part of a number", []string{"the port is 54321 now", "the port is 5432"}, "the port is 54321 now\n\nthe port is 5432"},
		{"part of a word", []string{"it is an artist", "art"}, "it is an artist\n\nart"},
		{"the second time as a word", []string{"a cart and art", "art"}, "a cart and art"},
		{"held by the second", []string{"the lamp is lit at dusk", "the keeper walks", "The keeper  walks!", "keeper walks."}, "the lamp is lit at dusk\n\nThe keeper  walks!"},
		{"a question", []string{"a longer text stands first", "is it so?", "is it so."}, "a longer text stands first\n\nis it so?"},
		{"white space and case", []string{" One thing. ", "one THING.", "another"}, "One thing.\n\nanother"},
	} {
		if got := Content(c.texts); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCasesOfStrength(t *testing.T) {
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	for _, c := range []struct {
		name      string
		strengths []float64
		cohesion  float64
		want      float64
	}{
		{"C70", []float64{1, 1.5, 0.8}, 0.9, 1.77},
		{"C70, less cohesive", []float64{1, 1.5, 0.8}, 0.5, 1.65},
		{"C71", ones(2), 0.75, 1.15},
		{"C71, twelve", ones(12), 0.9, 1.5},
		{"C71, strong", []float64{1.9, 1}, 0.8, 2},
	} {
		if got := Strength(c.strengths, c.cohesion); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCasesOfMerge(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	got, err := mergeFields([]memory.Memory{
		{ID: "b", Aliases: []string{"B-1", "both"}, Content: "the kettle leaks at the seam", CreatedAt: day(2), LastUsed: day(9), UseCount: 3, Strength: 1, Stage: memory.Demoted,
			Tags: []string{"kitchen", "repairs"}, Source: "phone", Meta: map[string]json.RawMessage{"room": json.RawMessage(`1`)}, Confidence: 0.5, PromotedTo: "Kettle.md", ReviewCount: 4},
		{ID: "a", Aliases: []string{"both"}, Content: "the kettle leaks", CreatedAt: day(1), LastUsed: day(3), UseCount: 5, Strength: 1, Stage: memory.Active,
			Tags: []string{"kitchen"}, Entities: []string{"Ann"}, Source: "mail", Category: "home", Confidence: 0.9},
		{ID: "c", Content: "The kettle leaks", CreatedAt: day(3), LastUsed: day(4), UseCount: 2, Strength: 1, Stage: memory.Demoted,
			Entities: []string{"Leith"}, Source: "phone", Meta: map[string]json.RawMessage{"room": json.RawMessage(`2`)}, Category: "other"},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := memory.Memory{Aliases: []string{"both", "B-1"}, Content: "the kettle leaks at the seam", CreatedAt: day(1), LastUsed: day(9), UseCount: 10, Strength: 1.3, Stage: memory.Active,
		Tags: []string{"kitchen", "repairs"}, Entities: []string{"Ann", "Leith"}, Source: "mail; phone", Category: "home", Confidence: 0.9,
		Meta: map[string]json.RawMessage{"room": json.RawMessage(`2`)}, ConsolidatedFrom: []memory.ID{"a", "b", "c"}}
	if a, b := asJSON(t, got), asJSON(t, want); a != b {
		t.Errorf("C72: got %s\nwant %s", a, b)
	}
	_, err = mergeFields([]memory.Memory{{ID: "a", Content: "alone"}}, 1)
	if memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), "1 memories cannot be merged") {
		t.Errorf("C73: %v", err)
	}
}

func asJSON(t *testing.T, m memory.Memory) string {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAMergeOutOfBoundsIsRefused(t *testing.T) {
	long := func(r string, n int) memory.Memory {
		return memory.Memory{ID: memory.ID(r), Content: strings.Repeat(r, n)}
	}
	tagged := func(id string) memory.Memory {
		m := memory.Memory{ID: memory.ID(id), Content: "the same"}
		for i := range 30 {
			m.Tags = append(m.Tags, id+strings.Repeat("x", i))
		}
		return m
	}
	for _, c := range []struct {
		a, b memory.Memory
		says string
	}{
		{long("a", 30_000), long("b", 30_000), "too many characters in content: 60002 (limit 50000); save the text in parts"},
		{tagged("a"), tagged("b"), "too many tags: 60"},
		{memory.Memory{Content: "x", Source: strings.Repeat("a", 300)}, memory.Memory{Content: "x", Source: strings.Repeat("b", 300)}, "too many characters in source: 602"},
		{memory.Memory{Content: "x", Context: strings.Repeat("a", 600)}, memory.Memory{Content: "x", Context: strings.Repeat("b", 600)}, "too many characters in context: 1202"},
	} {
		_, err := mergeFields([]memory.Memory{c.a, c.b}, 1)
		if memory.CodeOf(err) != memory.TooLarge || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want %s", err, c.says)
		}
	}
}

// No merge loses a text: each is still there, as it is or within a longer one, and the
// order of the members does not matter.
func TestAMergeKeepsEveryText(t *testing.T) {
	words := rapid.SampledFrom(strings.Fields("the kettle leaks LEAKS at seam 4417 44 Ann's, 漢字 -"))
	rapid.Check(t, func(t *rapid.T) {
		var members []memory.Memory
		for i := range rapid.IntRange(2, 6).Draw(t, "members") {
			text := strings.Join(rapid.SliceOfN(words, 1, 6).Draw(t, "words"), " ")
			members = append(members, memory.Memory{ID: memory.ID(rune('a' + i)), Content: text, UseCount: int64(i), Strength: 1})
		}
		got, err := mergeFields(members, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			if !strings.Contains(strings.ToLower(got.Content), strings.ToLower(m.Content)) {
				t.Fatalf("%q lacks %q", got.Content, m.Content)
			}
		}
		slices.Reverse(members)
		if again, err := mergeFields(members, 0.9); err != nil || again.Content != got.Content || again.UseCount != got.UseCount {
			t.Fatalf("in another order it is %q, %v, not %q", again.Content, err, got.Content)
		}
	})
}

package rekindle_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/rekindle"
)

func TestDigest(t *testing.T) {
	// The digest of nothing, from FIPS 180-4's own example values.
	if got, want := rekindle.Digest(""), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; got != want {
		t.Errorf("digest of nothing = %s, want %s", got, want)
	}
	if rekindle.Digest("a\n") == rekindle.Digest("a") {
		t.Error("a line break makes no difference")
	}
}

func TestJudge(t *testing.T) {
	const path = "Memories/Archive/port.md"
	const mine, other = memory.ID("mine"), memory.ID("other")
	for _, c := range []struct {
		name  string
		notes []rekindle.Note
		want  rekindle.Outcome
	}{
		{"as it was", []rekindle.Note{{path, mine, "old"}}, rekindle.Outcome{Verdict: rekindle.Unchanged, Path: path}},
		{"edited", []rekindle.Note{{path, mine, "new"}}, rekindle.Outcome{Verdict: rekindle.Edited, Path: path, Edited: true}},
		{"moved", []rekindle.Note{{"Work/port.md", mine, "old"}}, rekindle.Outcome{Verdict: rekindle.Moved, Path: "Work/port.md"}},
		{"moved and edited", []rekindle.Note{{"Work/port.md", mine, "new"}},
			rekindle.Outcome{Verdict: rekindle.Moved, Path: "Work/port.md", Edited: true}},
		{"nowhere", nil, rekindle.Outcome{Verdict: rekindle.Gone}},
		{"another memory's note in its place", []rekindle.Note{{path, other, "new"}}, rekindle.Outcome{Verdict: rekindle.Gone}},
		{"another's with the same text", []rekindle.Note{{path, other, "old"}}, rekindle.Outcome{Verdict: rekindle.Gone}},
		{"in its place, without the id", []rekindle.Note{{path, "", "old"}}, rekindle.Outcome{Verdict: rekindle.Unchanged, Path: path}},
		{"in its place, without id and text", []rekindle.Note{{path, "", "new"}}, rekindle.Outcome{Verdict: rekindle.Gone}},
		{"moved, and its place taken", []rekindle.Note{{path, other, "x"}, {"b.md", mine, "old"}},
			rekindle.Outcome{Verdict: rekindle.Moved, Path: "b.md"}},
		{"copied and edited", []rekindle.Note{{"a.md", mine, "old"}, {path, mine, "new"}},
			rekindle.Outcome{Verdict: rekindle.Edited, Path: path, Edited: true}},
		{"two copies elsewhere, one as it was", []rekindle.Note{{"a.md", mine, "new"}, {"b.md", mine, "old"}},
			rekindle.Outcome{Verdict: rekindle.Moved, Path: "b.md"}},
		{"two equal copies elsewhere", []rekindle.Note{{"b.md", mine, "old"}, {"a.md", mine, "old"}},
			rekindle.Outcome{Verdict: rekindle.Moved, Path: "a.md"}},
	} {
		if got := rekindle.Judge(mine, path, "old", c.notes); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestJudgeIsStable(t *testing.T) {
	pick := func(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(words) }
	rapid.Check(t, func(t *rapid.T) {
		var notes []rekindle.Note
		for i := range rapid.IntRange(0, 5).Draw(t, "notes") {
			notes = append(notes, rekindle.Note{
				Path:   fmt.Sprintf("%d.md", i),
				ID:     memory.ID(pick("", "mine", "other").Draw(t, "id")),
				Digest: pick("old", "new").Draw(t, "digest"),
			})
		}
		got := rekindle.Judge("mine", "0.md", "old", notes)
		if again := rekindle.Judge("mine", "0.md", "old", rapid.Permutation(notes).Draw(t, "order")); got != again {
			t.Fatalf("judged %+v, in another order %+v", got, again)
		}
		for _, n := range notes {
			if n.ID == "mine" && got.Verdict == rekindle.Gone {
				t.Fatalf("%+v is taken for gone", n)
			}
			if n.Path == got.Path && n.ID == "other" {
				t.Fatalf("%+v belongs to another memory", n)
			}
		}
	})
}

func TestStrong(t *testing.T) {
	for _, c := range []struct {
		name string
		hits []float64
		want []int
	}{
		{"nothing found", nil, nil},
		{"the memory that was meant", []float64{0.8, 0.3}, []int{0}},
		{"just as probably as not", []float64{0.5, 0.49}, []int{0}},
		{"more than one request rekindles", []float64{0.68, 0.69, 0.67, 0.7}, []int{3, 1, 0}},
		{"a word that is everywhere", slices.Repeat([]float64{0.6}, 11), nil},
	} {
		if got := rekindle.DefaultThreshold().Strong(c.hits); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

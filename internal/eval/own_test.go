package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func texts(o *Own, class string) []string {
	var all []string
	for _, q := range o.Questions {
		if q.Category == class {
			all = append(all, q.Text)
		}
	}
	slices.Sort(all)
	return all
}

func TestOwnQuestions(t *testing.T) {
	items := []Item{
		{Kind: Title, Text: "Rust", Note: "Care/Rust.md"},
		{Kind: Title, Text: "Sharpening", Note: "Sharpening.md"},
		{Kind: Title, Text: "Handles", Note: "Handles.md"},
		{Kind: Alias, Text: "oil", Note: "Care/Rust.md"},
		{Kind: Alias, Text: "rust and oil", Note: "Care/Rust.md"},
		{Kind: Alias, Text: "Sharpening", Note: "Sharpening.md"}, // its own name
		{Kind: Link, Text: "whet  it", Note: "Sharpening.md"},
		{Kind: Link, Text: "Whet it", Note: "Sharpening.md"},
		{Kind: Link, Text: "stains", Note: "Care/Rust.md"},
		{Kind: Heading, Text: "Stains", Note: "Handles.md"},  // the link above stands for another
		{Kind: Link, Text: "handles", Note: "Sharpening.md"}, // the name of another
		{Kind: Heading, Text: "Summary", Note: "Handles.md"},
		{Kind: Heading, Text: "Summary", Note: "Sharpening.md"},
		{Kind: Heading, Text: "Grip tape", Note: "Handles.md"},
		{Kind: Asked, Text: "Which stone comes first?", Note: "Sharpening.md"},
		{Kind: Asked, Text: "Why?", Note: "Sharpening.md"},
		{Kind: Asked, Text: "先用哪一块磨石？", Note: "Sharpening.md"},
		{Kind: Asked, Text: "Did the glue hold?", Note: "0192-id", Memory: true},
		{Kind: Heading, Text: "🔥", Note: "Handles.md"},
		{Kind: Heading, Text: "the", Note: "Handles.md"},
		{Kind: Heading, Text: strings.Repeat("long ", 60), Note: "Handles.md"},
	}
	o := OwnQuestions(items, 100, 1)
	for class, want := range map[string][]string{
		"link":     {"whet it"},
		"alias":    {"oil"},
		"heading":  {"Grip tape"},
		"question": {"Did the glue hold?", "Which stone comes first?", "先用哪一块磨石？"},
		Named:      {"rust and oil"},
	} {
		if got := texts(o, class); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", class, got, want)
		}
		if o.Found[class] != len(want) {
			t.Errorf("%s: %d found, want %d", class, o.Found[class], len(want))
		}
	}
	if want := 3; o.Ambiguous != want { // stains, handles, summary
		t.Errorf("%d ambiguous texts, want %d", o.Ambiguous, want)
	}
	if !o.Memory["0192-id"] || o.Memory["Handles.md"] {
		t.Errorf("memories are %v, want 0192-id alone", o.Memory)
	}
}

func TestOwnQuestionsOfNothing(t *testing.T) {
	if o := OwnQuestions(nil, 100, 1); len(o.Questions) != 0 || len(o.Weigh()) != 0 {
		t.Errorf("%d questions of nothing", len(o.Questions))
	}
}

// A sample has as many of each class as there are, and is the same each time.
func TestOwnQuestionsAreASample(t *testing.T) {
	items := []Item{{Kind: Alias, Text: "only one", Note: "a.md"}}
	for i := range 100 {
		items = append(items, Item{Kind: Heading, Text: fmt.Sprintf("heading %c%c", 'a'+i/26, 'a'+i%26), Note: fmt.Sprintf("%d.md", i)})
	}
	o := OwnQuestions(items, 10, 7)
	if got := len(texts(o, "heading")); got != 9 || len(o.Questions) != 10 || o.Found["heading"] != 100 {
		t.Errorf("%d headings of %d questions, %d found; want 9 of 10, 100", got, len(o.Questions), o.Found["heading"])
	}
	slices.Reverse(items)
	if again := OwnQuestions(items, 10, 7); !slices.Equal(texts(o, "heading"), texts(again, "heading")) {
		t.Error("another order of items made another sample")
	}
	if other := OwnQuestions(items, 10, 8); slices.Equal(texts(o, "heading"), texts(other, "heading")) {
		t.Error("another seed made the same sample")
	}
}

func TestAsking(t *testing.T) {
	got := Asking("# What is rust?\n- [ ] Why does it spread?\n> Does oil help? Some say so.\n为什么？\nNo.\n?")
	if want := []string{"What is rust?", "Why does it spread?", "为什么？", "?"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Notes and memories count half each, and what names its answer nothing.
func TestWeigh(t *testing.T) {
	o := &Own{Memory: map[string]bool{"m": true}, Questions: []Question{
		{Group: "a", Category: "link"}, {Group: "b", Category: "link"}, {Group: "m", Category: "question"}, {Group: "a", Category: Named},
	}}
	if got, want := o.Weigh(), []float64{0.25, 0.25, 0.5, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	o.Questions = o.Questions[:2]
	if got, want := o.Weigh(), []float64{0.5, 0.5}; !slices.Equal(got, want) {
		t.Errorf("notes alone: got %v, want %v", got, want)
	}
}

func TestHeldOutKeepsAnswersTogether(t *testing.T) {
	o := &Own{}
	for i := range 400 {
		o.Questions = append(o.Questions, Question{Group: fmt.Sprint(i / 4)})
	}
	held, n := o.HeldOut(3), 0
	for i, out := range held {
		if out {
			n++
		}
		if out != held[i/4*4] {
			t.Errorf("question %d is not where another of the same answer is", i)
		}
	}
	if n < 120 || n > 280 {
		t.Errorf("%d of 400 are held out, want about half", n)
	}
}

func TestCompare(t *testing.T) {
	same := make([]float64, 200)
	weights := slices.Repeat([]float64{1.0 / 200}, 200)
	if d := Compare(same, weights, 1); d != (Difference{}) {
		t.Errorf("no difference: got %+v", d)
	}
	noise, gain := slices.Clone(same), slices.Clone(same)
	for i := range noise {
		noise[i] = float64(i%2*2-1) * 0.5
		gain[i] = 0.1 + noise[i]*0.1
	}
	if d := Compare(noise, weights, 1); d.Low > -0.04 || d.High < 0.04 || math.Abs(d.Mean) > 1e-9 {
		t.Errorf("noise: got %+v, want bounds around 0", d)
	}
	if d := Compare(gain, weights, 1); d.Low < 0.09 || d.High > 0.11 {
		t.Errorf("gain: got %+v, want 0.1 with bounds close by", d)
	}
	if d := Compare(nil, nil, 1); d != (Difference{}) {
		t.Errorf("nothing: got %+v", d)
	}
}

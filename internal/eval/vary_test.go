package eval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSample(t *testing.T) {
	s := &Set{}
	for i := range 10 {
		s.Questions = append(s.Questions, Question{ID: fmt.Sprint(i)})
	}
	s.Sample(20)
	if len(s.Questions) != 10 {
		t.Errorf("%d of 10 questions, want all", len(s.Questions))
	}
	odd, even := &Set{Questions: s.Questions}, &Set{Questions: s.Questions}
	odd.Half(true)
	even.Half(false)
	if len(odd.Questions)+len(even.Questions) != 10 || odd.Questions[1].ID != "2" || even.Questions[0].ID != "1" {
		t.Errorf("the halves are %v and %v", odd.Questions, even.Questions)
	}
	s.Sample(4)
	var got strings.Builder
	for _, q := range s.Questions {
		got.WriteString(q.ID)
	}
	if want := "0257"; got.String() != want {
		t.Errorf("kept %s, want %s", got.String(), want)
	}
}

// A slip is one letter too many or too few, or two that are swapped; words that are
// short or not of letters stay.
func TestMisspell(t *testing.T) {
	const text = "Does the magnesium in v2.10 help 磨石磨石磨石 against cramps?"
	got := misspell(text)
	if got != misspell(text) {
		t.Error("misspelled differently each time")
	}
	words, were := strings.Fields(got), strings.Fields(text)
	if words[2] == "magnesium" {
		t.Errorf("got %q, want a slip in its longest word", got)
	}
	for i, w := range words {
		n, of := utf8.RuneCountInString(w), utf8.RuneCountInString(were[i])
		if n < of-1 || n > of+1 || w[0] != were[i][0] {
			t.Errorf("%q became %q", were[i], w)
		}
	}
	for _, i := range []int{1, 3, 4, 6} {
		if words[i] != were[i] {
			t.Errorf("%q became %q, want it as it was", were[i], words[i])
		}
	}
}

// shelf is a set of notes with titles for questions.
func shelf() *Set {
	s := &Set{Judgements: []Judgements{{Relevant: map[string]map[string]int{}}}, Baselines: []Baseline{{}}}
	for i, title := range []string{"Garden compost", "Kettle repairs today", "Long titles have too many words", "東京 tower", "v2 release"} {
		name := fmt.Sprint(i)
		s.Docs = append(s.Docs, Doc{Name: name, Group: name})
		s.Questions = append(s.Questions, Question{ID: name, Text: title, Group: name})
		s.Judgements[0].Relevant[name] = map[string]int{name: 1}
		s.Baselines[0].Texts = append(s.Baselines[0].Texts, title+" common words <!-- hidden"+name+" secret -->")
	}
	return s
}

func TestTypos(t *testing.T) {
	s := shelf()
	got := s.Typos(10, 1)
	if len(got) != 2 || !slices.Equal(got, s.Typos(10, 1)) {
		t.Fatalf("questions %+v, want two and always the same", got)
	}
	for _, q := range got {
		right, wrong := strings.Fields(q.Right), strings.Fields(q.Wrong)
		changed := 0
		for i := range right {
			if right[i] != wrong[i] {
				changed++
			}
		}
		if changed != 1 || s.Docs[q.Name[0]-'0'].Name != q.Name {
			t.Errorf("%+v, want one word changed", q)
		}
	}
	for _, q := range s.RareWords(10, 1) {
		if q.Wrong != "" || strings.Contains(q.Right, "hidden") {
			t.Errorf("%+v, want a right question of what can be found", q)
		}
	}
}

func TestWithoutHalf(t *testing.T) {
	s := shelf()
	present, absent := s.WithoutHalf(2, 1)
	if len(s.Docs) != 3 || len(present) != 2 || len(absent) != 2 {
		t.Fatalf("%d things, %d questions there, %d not; want 3, 2 and 2", len(s.Docs), len(present), len(absent))
	}
	for _, q := range present {
		if !slices.ContainsFunc(s.Docs, func(d Doc) bool { return d.Group == q.Group }) {
			t.Errorf("question %s is about what is not there", q.ID)
		}
	}
}

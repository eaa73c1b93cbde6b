package eval

import (
	"fmt"
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

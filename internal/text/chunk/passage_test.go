package chunk_test

import (
	"strings"
	"testing"

	"emberd/internal/text/chunk"
)

// wordStarts is where the words of a text begin.
func wordStarts(s string) (starts []int) {
	space := func(i int) bool { return s[i] == ' ' || s[i] == '\n' }
	for i := range len(s) {
		if !space(i) && (i == 0 || space(i-1)) {
			starts = append(starts, i)
		}
	}
	return starts
}

func passages(s string) (out []string) {
	starts := append(chunk.Passages(s, wordStarts(s)), len(s))
	for i := range len(starts) - 1 {
		out = append(out, s[starts[i]:starts[i+1]])
	}
	return out
}

func TestPassages(t *testing.T) {
	sentence := "A" + strings.Repeat(" word", 23) + " ends. "
	tests := []struct {
		name, text string
		want       []int // words of each passage
	}{
		{"nothing", "", nil},
		{"short", strings.Repeat("word ", 120), nil},
		{"no sentence", strings.Repeat("word ", 121), []int{121}},
		{"no sentence, longer", strings.Repeat("word ", 300), []int{120, 120, 60}},
		{"sentences", strings.Repeat(sentence, 9), []int{75, 75, 75}},
		{"a rest", strings.Repeat(sentence, 6) + "The rest is short.", []int{75, 79}},
		{"one line each", strings.Repeat("- "+strings.Repeat("item ", 21)+"\n", 6), []int{66, 66}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			for _, p := range passages(test.text) {
				got = append(got, len(wordStarts(p)))
			}
			if len(got) != len(test.want) {
				t.Fatalf("passages have %v words, want %v", got, test.want)
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Fatalf("passages have %v words, want %v", got, test.want)
				}
			}
		})
	}
}

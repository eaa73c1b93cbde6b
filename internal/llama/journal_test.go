package llama

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// said is a piece of what llama.cpp says.
type said struct {
	level int
	text  string
}

func TestJournalPutsLinesTogether(t *testing.T) {
	for name, test := range map[string]struct {
		said  []said
		want  []string
		error string
	}{
		"a line":                     {[]said{{3, "careful\n"}}, []string{"3 careful"}, ""},
		"in pieces":                  {[]said{{2, "load: "}, {5, "tensors"}, {5, " ...\n"}, {4, "failed\n"}}, []string{"2 load: tensors ...", "4 failed"}, "failed"},
		"several at once":            {[]said{{4, "one\ntwo\n"}}, []string{"4 one", "4 two"}, "one"},
		"no end before the next":     {[]said{{2, "half"}, {3, "whole\n"}}, []string{"2 half", "3 whole"}, ""},
		"how far it is":              {[]said{{2, "."}, {5, "."}, {5, "\n"}, {2, "\n"}}, nil, ""},
		"not UTF-8":                  {[]said{{4, "bad \xff token\n"}}, []string{"4 bad  token"}, "bad  token"},
		"not for a terminal":         {[]said{{4, "bad \x1b[2J\rtoken\a\n"}}, []string{"4 bad [2Jtoken"}, "bad [2Jtoken"},
		"what follows from an error": {[]said{{3, "hm\n"}, {4, "cause\n"}, {4, "so it failed\n"}}, []string{"3 hm", "4 cause", "4 so it failed"}, "cause"},
		"no end of it": {
			[]said{{4, strings.Repeat("x", maxLine-1)}, {5, "yz"}, {5, "z\n"}},
			[]string{"4 " + strings.Repeat("x", maxLine-1) + "y"}, strings.Repeat("x", maxLine-1) + "y",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			j := &journal{to: func(level int, text string) { got = append(got, fmt.Sprint(level, " ", text)) }}
			for _, s := range test.said {
				text := append([]byte(s.text), 0)
				j.native(int32(s.level), &text[0], 0)
			}
			if !slices.Equal(got, test.want) || j.firstError() != test.error {
				t.Errorf("got %.200q with the error %.200q, want %.200q with %.200q", got, j.firstError(), test.want, test.error)
			}
			if j.forget(); j.firstError() != "" {
				t.Error("the first error is not forgotten")
			}
		})
	}
}

func TestJournalCutsWhatDoesNotEnd(t *testing.T) {
	text := []byte(strings.Repeat("x", 3*maxLine))
	j := &journal{}
	j.native(levelError, &text[0], 0) // no NUL anywhere
	j.native(levelError, nil, 0)
	if j.hear(levelWarning, "next\n"); len(j.firstError()) != maxLine {
		t.Errorf("the line has %d bytes, want %d", len(j.firstError()), maxLine)
	}
}

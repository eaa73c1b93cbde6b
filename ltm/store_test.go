package ltm

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Long notes are several documents, which count once, and not when they were replaced.
func TestFrequenciesCountNotes(t *testing.T) {
	x := open(t)
	rapid.Check(t, func(r *rapid.T) {
		want := 0
		for i := range 6 {
			d := Doc{Path: fmt.Sprintf("%d.md", i)}
			holds := false
			for passage := range rapid.IntRange(1, 3*partPassages).Draw(r, "passages") {
				word := rapid.SampledFrom([]string{"other", "other", "other", "sought"}).Draw(r, "word")
				holds = holds || word == "sought"
				d.Sections = append(d.Sections, Section{HeadingPath: []string{"Part"}, Line: 1 + passage, Text: strings.Repeat(word+" ", 3)})
			}
			if holds {
				want++
			}
			put(r, x, d)
		}
		docs, df, err := x.Frequencies(t.Context(), []string{"sought", "nowhere"})
		if err != nil || docs != 6 || df["sought"] != want || df["nowhere"] != 0 {
			r.Errorf("%d notes, %v, %v; want 6, of which %d hold the word", docs, df, err, want)
		}
	})
}

package ltm

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"emberd/internal/text/analysis"
)

// TestCutterForgets gives one cutter long and short notes in turn.
func TestCutterForgets(t *testing.T) {
	a := analysis.New()
	reused := passageSplitter{analyzer: a}
	for i, words := range []int{10, 9_000, 500, 0, 20_000, 10} {
		d := Doc{Path: fmt.Sprintf("n%d.md", i), Title: "note", Sections: []Section{{HeadingPath: []string{"top"}, Line: 1}}}
		for w := range words {
			d.Sections[0].Text += fmt.Sprintf("w%dx%d ", i, w%700)
		}
		got, want := reused.analyze(&d), analyze(a, false, &d)
		if !reflect.DeepEqual(got.record, want.record) {
			t.Errorf("record of note %d differs from that of a fresh cutter", i)
		}
		if len(got.parts) != len(want.parts) {
			t.Fatalf("note %d has %d parts, want %d", i, len(got.parts), len(want.parts))
		}
		for k := range got.parts {
			if !maps.Equal(got.parts[k], want.parts[k]) {
				t.Errorf("part %d of note %d differs from that of a fresh cutter", k, i)
			}
			for term := range got.parts[k] {
				if strings.HasPrefix(term, "w") && !strings.HasPrefix(term, fmt.Sprintf("w%dx", i)) {
					t.Fatalf("note %d has the term %s of another", i, term)
				}
			}
		}
	}
}

package contradiction

import (
	"os"
	"strings"
	"testing"

	"emberd/internal/text/analysis"
)

// Who does what to whom, in five languages. Each line has two texts and what they are: the same,
// a conflict of order, or something other that is neither.
func TestRoles(t *testing.T) {
	data, err := os.ReadFile("testdata/roles.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		want, texts, _ := strings.Cut(strings.TrimSpace(line), "\t")
		a, b, ok := strings.Cut(texts, "\t")
		if !ok {
			t.Fatalf("%q has no two texts", line)
		}
		for _, c := range [][2]string{{a, b}, {b, a}} {
			if got := verdict(c[0], c[1]); got != want && (want != "other" || got == "order" || c[0] == a && got == "same") {
				t.Errorf("%q and %q are %q, want %q", c[0], c[1], got, want)
			}
		}
	}
}

// verdict is what a text is to one that is known.
func verdict(claim, known string) string {
	an := analysis.New()
	f, g := Of(an, claim), Of(an, known)
	switch found := f.Find(g); {
	case len(found) > 0:
		return found[0].Kind
	case f.Differ(g) == "" && f.Adds(g) == "" && f.Unsaid(g) == "":
		return "same"
	}
	return "other"
}

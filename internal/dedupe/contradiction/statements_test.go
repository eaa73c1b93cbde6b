package contradiction

import (
	"os"
	"strings"
	"testing"

	"emberd/internal/text/analysis"
)

// Statements of other scopes, people and opinions, limits, order in time, reversed roles and
// formulas, in five languages. Each line has two texts and what they are either way: the same, a
// conflict, or neither.
func TestStatements(t *testing.T) {
	data, err := os.ReadFile("testdata/statements.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		want, texts, _ := strings.Cut(strings.TrimSpace(line), "\t")
		a, b, ok := strings.Cut(strings.ReplaceAll(texts, `\n`, "\n"), "\t")
		if !ok {
			t.Fatalf("%q has no two texts", line)
		}
		for _, c := range [][2]string{{a, b}, {b, a}} {
			if got := answer(c[0], c[1]); got != want {
				t.Errorf("%q and %q: %s, want %s", c[0], c[1], got, want)
			}
		}
	}
}

// answer is what a text is to one that is known.
func answer(claim, known string) string {
	switch v := verdict(claim, known); v {
	case "same", "other":
		return v
	}
	return "conflict"
}

// A note says of what its sentences are by its title and headings too.
func TestStatementsUnderHeadings(t *testing.T) {
	an := analysis.New()
	claim := Of(an, "In project Orion the port is 8080")
	for heading, want := range map[string]int{"Project Lyra": 0, "Project Orion": 1, "": 1} {
		if found := claim.Find(Of(an, "The port is 9090", heading)); len(found) != want {
			t.Errorf("under %q: found %+v, want %d", heading, found, want)
		}
	}
}

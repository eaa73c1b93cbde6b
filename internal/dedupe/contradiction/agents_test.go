package contradiction

import (
	"os"
	"strings"
	"testing"

	"emberd/internal/text/analysis"
)

// What agents write down, in pairs that disagree and in pairs that do not: each line of the
// file is what is found, or "-" for nothing, and the two texts.
func TestWhatAgentsWriteDown(t *testing.T) {
	data, err := os.ReadFile("testdata/agents.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var cases []disagreement
	for line := range strings.Lines(string(data)) {
		found, texts, _ := strings.Cut(strings.TrimSpace(line), "\t")
		a, b, ok := strings.Cut(strings.ReplaceAll(texts, `\n`, "\n"), "\t")
		if !ok {
			t.Fatalf("%q is no pair", line)
		}
		cases = append(cases, disagreement{a, b, strings.Trim(found, "-")})
	}
	check(t, cases)
}

// Whoever merges is kept from what people are told of.
func TestUnitsAndDaysKeepTextsApart(t *testing.T) {
	for _, c := range [][2]string{
		{"The upload limit is 10 MB", "The upload limit is 10 GB"},
		{"The launch is planned for June 3", "The launch is planned for June 10"},
		{"Test coverage must be at least 80%", "Test coverage must be at least 90%"},
		{"The config file is config.yaml", "The config file is config.toml"},
		{"The user prefers tabs", "The user prefers spaces"},
		{"Backups run nightly", "Backups run hourly"},
		{"The migration succeeded", "The migration failed"},
	} {
		if a := analysis.New(); Differ(a, c[0], c[1]) == "" || Differ(a, c[1], c[0]) == "" {
			t.Errorf("%q and %q may be merged", c[0], c[1])
		}
	}
}

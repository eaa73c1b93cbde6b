package contradiction

import (
	"testing"

	"emberd/internal/text/analysis"
)

func TestWhatAContrastDenies(t *testing.T) {
	check(t, []disagreement{
		{"We decided to store money as integer cents, never floats.",
			"No, that's wrong. Actually we store money as decimal strings, not integer cents.",
			"negation: integer cents against not integer cents"},
		{"We decided to store money as integer cents, never floats.", "We don't store money as integer cents.",
			"negation"},
		{"We store money as integer cents, never floats", "We store money as floats",
			"negation: never floats against floats"},
		{"The API returns JSON", "The API returns XML, not JSON", "negation: JSON against not JSON"},
		{"We decided to log in JSON", "Correction: we log in plain text, not JSON", "negation: JSON against not JSON"},
		{"We deploy with Helm", "We deploy with Kustomize rather than Helm", "negation"},
		{"Use npm in this repository", "Use pnpm, not npm, in this repository", "negation"},
		// another subject, verb or circumstance, or the same choice
		{"The API returns JSON", "The worker returns XML, not JSON", ""},
		{"The API parses JSON", "The API returns XML, not JSON", ""},
		{"We use Redis for queues", "We use Kafka, not Redis", ""},
		{"Use tabs for the Makefile", "Use spaces, not tabs", ""},
		{"I prefer tea", "My wife prefers coffee, not tea", ""},
		{"We prefer tea", "She prefers coffee, not tea", ""},
		{"We store money as decimal strings", "We store money as decimal strings, not integer cents", ""},
		{"The API returns XML, never JSON", "The API returns XML, not JSON", ""},
		{"The API returns XML or JSON", "The API returns XML, not HTML", ""},
	})
}

// A reply before a correction is not what the correction is about, so an agent may file the pair.
func TestACorrectionBehindAReplyIsSettled(t *testing.T) {
	an := analysis.New()
	known := Of(an, "We decided to store money as integer cents, never floats.")
	for text, want := range map[string]int{
		"No, that's wrong. Actually we store money as decimal strings, not integer cents.":        1,
		"The old service is gone. Actually we store money as decimal strings, not integer cents.": 0,
	} {
		if got := Settled(Of(an, text), known, Related, Related); len(got) != want {
			t.Errorf("%q: %+v, want %d findings", text, got, want)
		}
	}
}

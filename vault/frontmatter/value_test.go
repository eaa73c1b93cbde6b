package frontmatter_test

import (
	"math"
	"testing"
	"time"

	"emberd/vault/frontmatter"
)

func TestValuesAreWrittenPlainly(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, c := range []struct {
		value frontmatter.Value
		want  string
	}{
		{frontmatter.Text(`say "hi" \ there`), ` "say \"hi\" \\ there"`},
		{frontmatter.Text("a\nb\tc\rd\x00"), ` "a\nb\tc\x0Dd\x00"`},
		{frontmatter.Text("\u0085\u2028\ufeff\u202e\U000e0041é😀"), ` "\u0085\u2028\uFEFF\u202E` + "\U000e0041" + `é😀"`},
		{frontmatter.Text("\xff"), ` "` + "\ufffd" + `"`},
		{frontmatter.Number(3), " 3"}, {frontmatter.Number(0.1), " 0.1"}, {frontmatter.Number(1e21), " 1000000000000000000000"}, {frontmatter.Number(math.Inf(1)), " 0"},
		{frontmatter.DateTime(at), " 2026-01-02T03:04:05"}, {frontmatter.List(), " []"},
	} {
		if got := c.value.Render("", "", "\n"); got != c.want+"\n" {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What YAML 1.1 or 1.2 reads as more than text is never taken for text.
func TestAmbiguousWords(t *testing.T) {
	for _, s := range []string{
		"", "~", "Null", "yes", "NO", "On", "y", "true", "012", "0o14", "0x1F", "0b1", "1_000", "1.10", "1e3", "-.5", "+1", ".inf", "-.INF", ".NaN",
		"2024-01-01", "2024-01-01T10:00:00Z", "190:20:30", "=", "<<",
	} {
		if !frontmatter.Ambiguous(s) {
			t.Errorf("%q is taken for text", s)
		}
	}
	for _, s := range []string{"word", "a1", "one two", "-ish", "v1.2", "nothing"} {
		if frontmatter.Ambiguous(s) {
			t.Errorf("%q is not taken for text", s)
		}
	}
}

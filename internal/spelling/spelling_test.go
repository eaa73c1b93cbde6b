package spelling

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"search", "serach", 2}, {"limit", "limits", 1},
		{"kitten", "sitting", 3}, {"Limit", "LIMIT", 0},
		{strings.Repeat("a", 64) + "x", strings.Repeat("a", 64) + "yz", 0},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	name := rapid.StringMatching(`[a-c]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		ab := Distance(a, b)
		if ab != Distance(b, a) || (ab == 0) != (a == b) || ab > Distance(a, c)+Distance(c, b) {
			t.Fatalf("Distance(%q, %q) = %d is no metric", a, b, ab)
		}
	})
}

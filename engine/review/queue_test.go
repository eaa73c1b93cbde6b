package review_test

import (
	"strings"
	"testing"

	"emberd/engine/review"
	"emberd/memory"
)

func TestDiffBySentences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		texts []string
		want  string
	}{
		"one":  {[]string{"A b."}, ""},
		"same": {[]string{"One here. Two there.", "one  HERE.\nTwo there."}, "  One here.|  Two there."},
		"another value": {[]string{"It is old. Port is 1. End of it.", "It is old. Port is 2. End of it."},
			"  It is old.|- Port is 1.|+ Port is 2.|  End of it."},
		"more first": {[]string{"One here.", "Zero it is. One here. Two there."},
			"+ Zero it is.|  One here.|+ Two there."},
		"nothing common": {[]string{"One here.", "Two there."}, "- One here.|+ Two there."},
		"three": {[]string{"One here. Two there.", "One here. Three everywhere.",
			"One here. Two there. Three everywhere."}, "  One here.|- Two there.|+ Three everywhere."},
		"said repeatedly": {[]string{"One here.", "One here. One here. Two there. Two there."},
			"  One here.|+ Two there."},
	} {
		var members []memory.Memory
		for _, text := range c.texts {
			members = append(members, memory.Memory{Content: text})
		}
		if got := strings.Join(review.DiffOf(members), "|"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

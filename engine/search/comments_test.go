package search

import (
	"strings"
	"testing"
)

func TestHideComments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"no comment --> here", "no comment --> here"},
		{"a <!-- b --> c", "a      b     c"},
		{"a\n<!-- emberd:related -->\n[[b]]\n<!-- /emberd:related -->", "a\n" + strings.Repeat(" ", 23) + "\n[[b]]\n" + strings.Repeat(" ", 24)},
		{"a <!-- never closed", "a      never closed"},
		{"<!-- a --><!-- b --> x --> y", "     a         b     x --> y"},
	} {
		if got := hideComments(c.text); got != c.want {
			t.Errorf("hideComments(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

package cli

import (
	"strings"
	"testing"

	"emberd/memory"
)

// What you said at your own terminal is not called claimed. What a program says of itself is, and so is what
// came with a token.
func TestYourOwnWordsAreNotCalledClaimed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by      memory.Actor
		claimed bool
	}{
		{memory.Actor{Via: "cli", UID: 1000, PID: 7}, false},
		{memory.Actor{Via: "emberd", Client: "vault"}, false},
		{memory.Actor{Via: "cli", Token: "work"}, true},
		{memory.Actor{Via: "mcp", Client: "cursor"}, true},
		{memory.Actor{Via: "http", Client: "cli"}, true},
	} {
		got := linkText(New(), &memory.Source{Kind: memory.FromUser, By: &c.by})
		if strings.Contains(got, "(claimed)") != c.claimed {
			t.Errorf("of %+v it says %q", c.by, got)
		}
	}
}

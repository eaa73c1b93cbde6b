package cli

import "testing"

// A command that a message names works when it is copied, also if this command was about another home.
func TestHintsNameTheDaemon(t *testing.T) {
	t.Parallel()
	s := &App{Home: "/tmp/a b"}
	flags := placeFlags(s)
	for message, want := range map[string]string{
		"to undo, run: emberd undo 12":                    "to undo, run: emberd --home '/tmp/a b' undo 12",
		"not found; run: emberd list, or emberd search":   "not found; run: emberd --home '/tmp/a b' list, or emberd --home '/tmp/a b' search",
		`it is down; start it with "emberd serve"`:        `it is down; start it with "emberd --home '/tmp/a b' serve"`,
		"run: " + Again(s, "review", "list"):              "run: emberd review list --home '/tmp/a b'",
		"llm.url names another machine: emberd sends all": "llm.url names another machine: emberd sends all",
	} {
		if got := placed(message, flags); got != want {
			t.Errorf("%q became %q, want %q", message, got, want)
		}
		if got := placed(message, placeFlags(&App{})); got != message && message == want {
			t.Errorf("without flags, %q became %q", message, got)
		}
	}
	if got := (&App{Home: "/tmp/100%d"}).format("run: emberd undo %s"); got != "run: emberd --home /tmp/100%%d undo %s" {
		t.Errorf("the format became %q", got)
	}
}

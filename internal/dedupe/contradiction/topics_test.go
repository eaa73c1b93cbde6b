package contradiction

import (
	"testing"

	"emberd/internal/text/analysis"
)

func TestTopics(t *testing.T) {
	check(t, []disagreement{
		{"Trip to Rome: hotel Adler. Checkout is at 10.", "Trip to Oslo: hotel Fjord. Checkout is at 12.", ""},
		{"Trip to Rome: hotel Adler. Checkout is at 10.", "Trip to Rome: hotel Adler. Checkout is at 12.",
			"number: 10 against 12"},
		{"Trip to Rome: hotel Adler. Checkout is at 10.", "Checkout is at 12", "number: 10 against 12"},
		{"Trip to Rome: hotel Adler. Checkout is at 10.", "Checkout of hotel Fjord is at 12", ""},
		{"The ESP32 board was replaced; the old one is in drawer 47",
			"The newsletter was replaced; the old one is in drawer 6", ""},
		{"Anna rents the flat in Kiel since May. It has two rooms.",
			"Anna rents the flat in Bremen since June. It has three rooms.", ""},
		{"Anna rents the flat in Kiel since May. It has two rooms.",
			"Anna rents the flat in Kiel since May. It has three rooms.", "number: two against three"},
		{"Anna rents the flat in Kiel. It has two rooms.", "The house in Bremen has three rooms", ""},
		{"Anna rents the flat in Kiel. It has two rooms.", "The flat in Kiel has three rooms", "number: two against three"},
		{"Sprint 41 has begun. The release is on Monday.", "Sprint 42 has begun. The release is on Friday.", ""},
		{"The kettle leaks. Anna is off.\nThe database runs on port 5432.", "The database runs on port 5433",
			"number: 5432 against 5433"},
		{"The database runs on port 5432. It is backed up nightly.",
			"The database runs on port 5433. Restarts happen on Sundays.", "number: 5432 against 5433"},
		{"Die Wohnung in Kiel ist gemietet. Sie hat 2 Zimmer.", "Die Wohnung in Bremen ist gemietet. Sie hat 3 Zimmer.", ""},
		{"Here is the code:\n```\nport = 5432\n```", "Here is the code:\n```\nport = 5433\n```", ""},
		{"Which port is it? The database runs on port 5432?", "The database runs on port 5433", ""},
		{"Can you move the database to port 5432", "The database is on port 5433", ""},
		{"I'm not sure that Redis is fast", "I'm sure that Redis is fast", ""},
		{"1. Port 5432", "2. Port 5432", ""},
		{"Pairs can't share a cake because pairs share plates", "Pairs can't share a cake, because pairs share plates", ""},
		{"Ann had plans and couldn't meet Bob", "Bob proposed to meet Ann, who had plans", ""},
		{"Ann expresses thanks for her friendship with Bob", "Bob values friendship with Ann and expresses thanks for it", ""},
	})
}

// What acts by itself leaves alone what only a sentence of a long text says, or of what only one text names.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		settled bool
	}{
		{"The database runs on port 5432", "The database runs on port 5433", true},
		{"Trip to Rome: hotel Adler. Checkout is at 10.", "Checkout is at 12", false},
		{"Ask Ann. Ask Bob. Ask Cid. Ask Dan. The database runs on port 5432", "The database runs on port 5433", false},
	} {
		a := analysis.New()
		if got := Settled(Of(a, c.a), Of(a, c.b), 1, Related); (len(got) > 0) != c.settled {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

package record_test

import (
	"encoding/json"
	"testing"

	"emberd/memory"
	"emberd/stm/record"
)

// An entry and its line agree about who asked for it.
func TestUnasked(t *testing.T) {
	t.Parallel()
	hook := memory.Actor{Via: "http", Client: "hook/claude-code"}
	for _, test := range []struct {
		verb string
		by   memory.Actor
		want bool
	}{
		{"save", memory.Actor{Via: "cli", Client: "cli"}, false},
		{"archive", memory.Actor{Via: record.Itself, Client: "lifecycle"}, true},
		{"add", hook, true},
		{record.ImportVerb, hook, false},
	} {
		raw, err := json.Marshal(test.by)
		if err != nil {
			t.Fatal(err)
		}
		line := record.Line{Verb: test.verb, By: raw}
		entry := line.EntryBy(test.by)
		if line.Unasked() != test.want || entry.Unasked() != test.want {
			t.Errorf("%s by %+v: the line %v, the entry %v, want %v", test.verb, test.by, line.Unasked(), entry.Unasked(),
				test.want)
		}
	}
}

package memories

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/op"
)

// A version's entry stays whole on a terminal, and what emberd keeps for itself is not
// listed.
func TestVersionFitsATerminal(t *testing.T) {
	t.Parallel()
	v := &op.HistoryVersion{Action: "changed", Verb: "note", Tx: "01a1fd0c6c0d-0000-k7q2mzxa",
		At:     time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		Fields: []op.FieldChange{{Name: "note_seen", To: []byte(`{"content":"1"}`)}}}
	for width, want := range map[int]string{
		0: "2026-01-02 00:00:00 (just now)  changed by note, emberd vault  " + v.Tx +
			"\n        the memory and its note have the same text\n",
		80: "2026-01-02 00:00:00 (just now)  changed by note, emberd vault\n        " + v.Tx +
			"\n        the memory and its note have the same text\n",
	} {
		var out strings.Builder
		s := cli.New()
		s.Stdout, s.Screen, s.Zone, s.Now = bufio.NewWriter(&out), cli.Screen{Width: width}, time.UTC,
			func() time.Time { return v.At }
		printVersion(s, v, ", emberd vault")
		s.Stdout.Flush()
		if got := out.String(); got != want {
			t.Errorf("at width %d: %q, want %q", width, got, want)
		}
	}
}

func TestOverallQuality(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"accuracy":0.95,"overall":0.8702,"scorer":"heuristic"}`: `0.8702`, `"mine"`: `"mine"`,
		`{"other":1}`: `{"other":1}`, `null`: `null`, ``: ``,
	} {
		if got := overall(json.RawMessage(raw)); string(got) != want {
			t.Errorf("overall(%s) = %s, want %s", raw, got, want)
		}
	}
}

package agent

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// The list of what was done has the entry of each change, which undo and history take, whole on a
// terminal too.
func TestAuditEventsHaveTheirEntry(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	ids := []memory.ID{"0192f3a1-b2c3-7d4e-8f50-61728394a5b6"}
	change := op.AuditEvent{At: at, Kind: op.AuditWrite, What: "save", Caller: "cli", Of: "via", Count: 1, IDs: ids,
		Tx: "01a1fd0c6c0d-0000-k7q2mzxa", Undone: true}
	read := op.AuditEvent{At: at, Kind: op.AuditRead, What: "show", Caller: "cli", Of: "via", Count: 1, IDs: ids}
	for width, gap := range map[int]string{0: "  ", 80: "\n             ", 120: "  "} {
		var out strings.Builder
		s := cli.New()
		s.Stdout, s.Screen, s.Now = bufio.NewWriter(&out), cli.Screen{Width: width}, func() time.Time { return at }
		printAuditEvent(s, &change)
		printAuditEvent(s, &read)
		s.Stdout.Flush()
		short := ids[0].Short()
		want := "just now     save            cli                     " + short + "  undone" + gap + change.Tx +
			"\njust now     show            cli                     " + short + "\n"
		if got := out.String(); got != want {
			t.Errorf("at width %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// A change of notes has the path of its first note, cut to the width, and how many more there are.
func TestAuditEventsNameNotes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	ev := op.AuditEvent{At: at, Kind: op.AuditWrite, What: "note.move", Caller: "cli", Of: "via",
		Notes: []string{"Agents/Road map.md", "Agents/Log.md"}, Tx: "01a1fd0c6c0d-0000-vaultlog"}
	for width, want := range map[int]string{
		0:  "just now     note.move       cli                     Agents/Road map.md +1  01a1fd0c6c0d-0000-vaultlog\n",
		80: "just now     note.move       cli                     Agents/Road map.md +1\n             01a1fd0c6c0d-0000-vaultlog\n",
	} {
		var out strings.Builder
		s := cli.New()
		s.Stdout, s.Screen, s.Now = bufio.NewWriter(&out), cli.Screen{Width: width}, func() time.Time { return at }
		printAuditEvent(s, &ev)
		s.Stdout.Flush()
		if got := out.String(); got != want {
			t.Errorf("at width %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

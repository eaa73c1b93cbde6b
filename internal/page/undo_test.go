package page

import (
	"testing"

	"emberd/op"
)

// The daemon refuses to undo an edit of a note, because it would apply the text of the note again.
func TestNoUndoOfWhatTheDaemonRefuses(t *testing.T) {
	for verb, want := range map[string]bool{"save": true, "forget": true, "note gone": true, "note": false, "purge": false} {
		c := change{AuditEvent: op.AuditEvent{What: verb, Tx: "tx"}}
		v := version{HistoryVersion: op.HistoryVersion{Verb: verb, Tx: "tx"}}
		if c.CanUndo() != want || v.CanUndo() != want {
			t.Errorf("%s: undo of the change %t, of the version %t, want %t", verb, c.CanUndo(), v.CanUndo(), want)
		}
	}
}

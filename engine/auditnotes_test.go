package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/ledger"
	"emberd/op"
)

// A change of a note is a write, with its path and its entry; a preview of one is a read.
func TestAuditListsChangesOfNotesAsWrites(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, nil)
	edit := op.NoteEditRequest{Path: "Agents/Plan", Find: "one", Replace: "two", Preview: true}
	wrote := asked(t, e, anAgent, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/Plan", Text: "Step one.\n"})
	asked(t, e, anAgent, op.NoteEdit, &edit)
	edit.Preview = false
	asked(t, e, anAgent, op.NoteEdit, &edit)
	asked(t, e, another, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/Plan", Text: "Step three."})
	moved := asked(t, e, anAgent, op.NoteMove, &op.NoteMoveRequest{Path: "Agents/Plan", To: "Agents/Road map"})
	asked(t, e, theUser, op.Undo, &op.UndoRequest{Tx: moved.Tx})

	res := do(t, e, op.Audit, &op.AuditRequest{Kind: op.AuditWrite})
	want := "write undo by cli\nwrite note.move by cursor\nwrite note.append by zed\nwrite note.edit by cursor\n" +
		"write note.write by cursor"
	if got := eventsIn(res.Events); got != want {
		t.Fatalf("the writes are\n%s\nwant\n%s", got, want)
	}
	if ev := res.Events[1]; ev.Tx != moved.Tx || !ev.Undone || !slices.Equal(ev.Notes, []string{"Agents/Road map.md"}) {
		t.Errorf("the move is told as %+v", ev)
	}
	if ev := res.Events[4]; ev.Tx != wrote.Tx || ev.Undone || ev.By.PID != anAgent.PID {
		t.Errorf("the first change is told as %+v", ev)
	}
	if got := eventsIn(do(t, e, op.Audit, &op.AuditRequest{Kind: op.AuditRead}).Events); got != "read note.edit by cursor" {
		t.Errorf("the reads are\n%s", got)
	}
	if got := callerOf(t, e, anAgent); got.Wrote != 3 {
		t.Errorf("the agent wrote %d times, want 3", got.Wrote)
	}
	h.tamperNoteChange(t, checkAudit(t, e).Problems, e.Close())
}

// tamperNoteChange makes the changes of notes reads, and wants the audit to say so.
func (h *house) tamperNoteChange(t *testing.T, problems []string, closed error) {
	t.Helper()
	if len(problems) > 0 || closed != nil {
		t.Fatalf("problems %q, close: %v", problems, closed)
	}
	d := h.disk(t)
	d.reads(t, h, func(r []ledger.Read, _ *int64) []ledger.Read {
		for i := range r {
			r[i].Tx = ""
		}
		return r
	})
	d.put(t, h)
	found := checkAudit(t, h.open(t)).Problems
	told := slices.DeleteFunc(found, func(text string) bool {
		return !strings.Contains(text, "changed notes in change \"\" according to audit.json, but in change")
	})
	if len(told) != 5 {
		t.Errorf("the check finds %q", found)
	}
}

// Pages have every change of a note once.
func TestAuditPagesOfChangesOfNotes(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, nil)
	asked(t, e, anAgent, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/Log", Text: "# Log\n"})
	for range 7 {
		h.clock.advance(time.Second)
		asked(t, e, anAgent, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/Log", Text: "- done"})
		asked(t, e, anAgent, op.Save, &op.SaveRequest{Content: "Done at " + h.clock.Now().String()})
	}
	seen := make(map[string]bool)
	for cursor := ""; ; {
		res := do(t, e, op.Audit, &op.AuditRequest{Kind: op.AuditWrite, Limit: 3, Cursor: cursor})
		for _, ev := range res.Events {
			seen[ev.Tx] = true
		}
		if cursor = res.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != 15 {
		t.Errorf("the pages have %d changes, want 15", len(seen))
	}
}

package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// A hundred edits of a promoted memory, one a second, are all accepted, and in the end note and log are equal.
func TestAHundredEdits(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "text 0")
	pace := func() {
		h.advance(time.Second)
		e.Promote.WriteDue(t.Context())
	}
	waited := editOften(t, e, m.ID, pace)
	h.rest(t, e)
	wantLastEdit(t, h, e, m)
	if waited == 0 || waited > 99 {
		t.Errorf("%d edits waited for the note, want some, and the first one not", waited)
	}
}

// The same by the clock of this computer, while the watcher is at work: make contest.
func TestAHundredEditsInAsManySeconds(t *testing.T) {
	if os.Getenv("EMBERD_PROOF") == "" {
		t.Skip("takes three minutes; make contest")
	}
	h := vaultHouse(t, nil)
	h.Options.Now = time.Now
	e := h.following(t)
	m := promoteByID(t, e, save(t, e, "text 0").ID).Memory
	begun := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	waited := editOften(t, e, m.ID, func() { <-tick.C })
	t.Logf("100 edits accepted in %s, for %d of them the note waited", time.Since(begun).Round(time.Millisecond), waited)
	equal := notes.Fingerprints(&vault.Carried{Body: "text 100"})["content"]
	for look(t, e, m.ID).NoteSeen["content"] != equal && time.Since(begun) < 4*time.Minute {
		<-tick.C
	}
	t.Logf("note and log equal %s after the first edit", time.Since(begun).Round(time.Millisecond))
	wantLastEdit(t, h, e, m)
}

// editOften gives a memory a hundred texts, and returns how often its note had to wait.
func editOften(t *testing.T, e *engine.Engine, id memory.ID, pace func()) (waited int) {
	t.Helper()
	for i := range 100 {
		text := fmt.Sprint("text ", i+1)
		got := do(t, e, op.Edit, &op.EditRequest{ID: string(id), Content: &text})
		if got.Memory.Content != text {
			t.Errorf("edit %d answered %q", i+1, got.Memory.Content)
		}
		if got.Pending != nil {
			waited++
		}
		pace()
	}
	return waited
}

// wantLastEdit says that the note and the log have the last of a hundred texts.
func wantLastEdit(t *testing.T, h *house, e *engine.Engine, m op.Memory) {
	t.Helper()
	wantNote(t, h, m.PromotedTo, "---\ntext 100\n")
	if got := look(t, e, m.ID).Content; got != "text 100" {
		t.Errorf("the memory says %q", got)
	}
	wantSettled(t, e, m.ID)
	if left := e.Promote.Pending.List(); len(left) > 0 {
		t.Errorf("the queue is %+v", left)
	}
}

// forgetSeen has the log record again what memory and note agreed on before the last write of the note, as after
// a kill between that write and the log.
func forgetSeen(t *testing.T, e *engine.Engine, m op.Memory) {
	t.Helper()
	_, err := e.Stm.Update(t.Context(), []memory.ID{m.ID}, "", func([]*stm.Row) (*stm.Tx, error) {
		seen, err := json.Marshal(m.NoteSeen)
		return &stm.Tx{Verb: core.NoteVerb, By: core.VaultActor(),
			Changes: []stm.Change{{ID: m.ID, Set: map[string]json.RawMessage{"note_seen": seen}}}}, err
	})
	ok(t, err)
}

// An edit whose note waited is in the note after a restart, at whichever point the daemon was killed.
func TestAnEditReachesTheNoteAfterARestart(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before the note was written", "before the log recorded it"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			h, e, m := promotedHouse(t, "text")
			done := busy(t, h)
			if got := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("first")}); got.Pending == nil {
				t.Fatalf("the edit answered %+v", got)
			}
			queue, err := os.ReadFile(e.Promote.Pending.File)
			if err != nil {
				t.Fatal(err)
			}
			done()
			if point != "before the note was written" {
				h.rest(t, e)
				wantNote(t, h, m.PromotedTo, "---\nfirst\n")
				forgetSeen(t, e, m)
				if err := durable.ReplaceFile(durable.OS{}, e.Promote.Pending.File, queue); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = h.following(t)
			do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("second")})
			h.rest(t, e)
			wantNote(t, h, m.PromotedTo, "---\nsecond\n")
			if got := look(t, e, m.ID).Content; got != "second" {
				t.Errorf("the memory says %q", got)
			}
			wantSettled(t, e, m.ID)
		})
	}
}

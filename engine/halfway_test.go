package engine

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/watcher"
)

// Who asked for a change and left does not make its note one that is gone.
func TestARereadThatIsGivenUpTellsNothing(t *testing.T) {
	d, m := promotedDesk(t, "the tide turns at six")
	d.write(t, m.PromotedTo, "") // looked at again, for an editor may be in the middle of it
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.notes.reread(ctx, m.PromotedTo); err == nil {
		t.Error("read with no time left")
	}
	if d.truth.waits(m.ID) {
		t.Errorf("told of a note that nobody looked at: %+v", d.truth.all[m.ID])
	}
	if got := d.notes.carriers.of(m.ID); !slices.Equal(got, []string{m.PromotedTo}) {
		t.Errorf("the memory's notes are %q", got)
	}
}

// A note that is read by itself does not end the batch that is being read: what is gone
// there may be among the notes that are still to come.
func TestANoteReadWithinABatchDoesNotEndIt(t *testing.T) {
	d, m := promotedDesk(t, "the tide turns at six")
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, os.Rename(d.at("Kettle.md"), d.at("Elsewhere.md")))
	d.truth.begin(nil)
	ok(t, d.notes.apply(t.Context(), nil, []string{"Kettle.md"}))
	ok(t, d.notes.reread(t.Context(), m.PromotedTo))
	d.settle()
	if got := d.lines(id); !d.truth.waits(id) || d.stm.Trashed(id) {
		t.Errorf("settled within the batch, after %d lines", got)
	}
	d.batch([]string{"Elsewhere.md"}, nil)
	d.settle()
	if got := d.memory(id); got.PromotedTo != "Elsewhere.md" {
		t.Errorf("the memory's note is %q", got.PromotedTo)
	}
}

// What a batch said of names is over with it.
func TestAMoveIsForgottenAfterItsBatch(t *testing.T) {
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.move("Kettle.md", "Elsewhere.md")
	d.settle()
	d.batch(nil, nil, watcher.Move{From: "Elsewhere.md", To: "Kettle.md"})
	ok(t, os.Remove(d.at("Elsewhere.md")))
	ok(t, d.notes.reread(t.Context(), "Elsewhere.md"))
	if w := d.truth.all[id]; w == nil || len(w.Moved) > 0 || !slices.Equal(w.Went, []string{"Elsewhere.md"}) {
		t.Errorf("told %+v, want that it is gone", w)
	}
}

// Between the look at a note that is gone and the end of its memory it may be back.
func TestANoteThatIsBackInTimeForgetsNothing(t *testing.T) {
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, d.truth.bury(t.Context(), []*news{{ID: id, Went: []string{"Kettle.md"}}}))
	if d.stm.Trashed(id) {
		t.Error("the memory of a note that is there was forgotten")
	}
	if !d.truth.waits(id) {
		t.Error("nobody will look again")
	}
}

// What was written is remembered as long as a program may still save over it.
func TestWhatNotesSaidIsNotRememberedForGood(t *testing.T) {
	h, e, m := promotedHouse(t, "short")
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("habit")})
	said := func() int {
		e.writing.mu.Lock()
		defer e.writing.mu.Unlock()
		return len(e.writing.wrote)
	}
	if said() != 1 {
		t.Errorf("after an edit what %d notes said is remembered, want 1", said())
	}
	h.rest(t, e)
	if said() != 0 {
		t.Errorf("minutes after it what %d notes said is remembered", said())
	}
}

// Of a flood from another device not every entry is listed; the notes count all the same.
func TestAFloodFromAnotherDeviceIsSettled(t *testing.T) {
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks at the seam", "Kettle.md")
	_, err := d.stm.Update(t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		set := map[string]json.RawMessage{"content": json.RawMessage(`"the kettle leaks"`), "note_seen": json.RawMessage(`{"content":"0"}`)}
		return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	ok(t, err)
	d.arrived(stm.Arrival{Lines: 300, Memories: 300})
	d.settle()
	if got := d.memory(id).Content; got != "the kettle leaks at the seam" {
		t.Errorf("the memory says %q", got)
	}
}

// An edit while a note is away does not reach it when it comes back; a check says so.
func TestAnEditWhileTheNoteIsAwayIsFound(t *testing.T) {
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, os.Rename(d.at("Kettle.md"), d.at("kettle.txt")))
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new("the kettle is mended")})
	ok(t, os.Rename(d.at("kettle.txt"), d.at("Kettle.md")))
	d.batch([]string{"Kettle.md"}, nil)
	d.settle()
	d.wantFinding("memory Kettle.md", "memory "+id.Short()+" has another content than it")
	d.edit("Kettle.md", noteFor(id, "the kettle is mended"))
	d.wantNoFindings()
}

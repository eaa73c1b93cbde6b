package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"emberd/engine/notes"
	"emberd/engine/notesync"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/watcher"
)

// Who asked for a change and left does not make its note one that is gone.
func TestARereadThatIsGivenUpTellsNothing(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "the tide turns at six")
	d.write(t, m.PromotedTo, "") // looked at again, for an editor may be in the middle of it
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Notes.Vault.Reread(ctx, m.PromotedTo); err == nil {
		t.Error("read with no time left")
	}
	if d.Sync.Sync.Contains(m.ID) {
		t.Errorf("told of a note that nobody looked at: %+v", d.Sync.Sync.All[m.ID])
	}
	if got := d.Notes.Vault.Carriers.Of(m.ID); !slices.Equal(got, []string{m.PromotedTo}) {
		t.Errorf("the memory's notes are %q", got)
	}
}

// A note that is read by itself does not end the batch that is being read: what is gone
// there may be among the notes that are still to come.
func TestANoteReadWithinABatchDoesNotEndIt(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "the tide turns at six")
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, os.Rename(d.at("Kettle.md"), d.at("Elsewhere.md")))
	d.Sync.Sync.Begin(nil)
	ok(t, d.Notes.Vault.Apply(t.Context(), nil, []string{"Kettle.md"}))
	ok(t, d.Notes.Vault.Reread(t.Context(), m.PromotedTo))
	d.settle()
	if got := d.lines(id); !d.Sync.Sync.Contains(id) || d.Stm.Trashed(id) {
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
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.move("Kettle.md", "Elsewhere.md")
	d.settle()
	d.batch(nil, nil, watcher.Move{From: "Elsewhere.md", To: "Kettle.md"})
	ok(t, os.Remove(d.at("Elsewhere.md")))
	ok(t, d.Notes.Vault.Reread(t.Context(), "Elsewhere.md"))
	if w := d.Sync.Sync.All[id]; w == nil || len(w.Moved) > 0 || !slices.Equal(w.Removed, []string{"Elsewhere.md"}) {
		t.Errorf("told %+v, want that it is gone", w)
	}
}

// Between the look at a note that is gone and the end of its memory it may be back.
func TestANoteThatIsBackInTimeForgetsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	ok(t, d.Sync.Sync.TrashDeleted(t.Context(), []*notesync.NoteChange{{ID: id, Removed: []string{"Kettle.md"}}}))
	if d.Stm.Trashed(id) {
		t.Error("the memory of a note that is there was forgotten")
	}
	if !d.Sync.Sync.Contains(id) {
		t.Error("nobody will look again")
	}
}

// What was written is remembered as long as a program may still save over it.
func TestWhatNotesSaidIsNotRememberedForGood(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "short")
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("habit")})
	said := func() int {
		e.Promote.Writing.Mu.Lock()
		defer e.Promote.Writing.Mu.Unlock()
		return len(e.Promote.Writing.Wrote)
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
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks at the seam", "Kettle.md")
	_, err := d.Stm.Update(t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		set := map[string]json.RawMessage{"content": json.RawMessage(`"the kettle leaks"`), "note_seen": json.RawMessage(`{"content":"0"}`)}
		return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	ok(t, err)
	d.Admin.Arrived(t.Context(), stm.ForeignChange{Lines: 300, Memories: 300})
	d.settle()
	if got := d.memory(id).Content; got != "the kettle leaks at the seam" {
		t.Errorf("the memory says %q", got)
	}
}

// A note may be under a name that nobody has told of yet, or still on its way from
// another device: what is to be written to it waits until it is found.
func TestAnEditWhileTheNoteIsAwayWaitsForIt(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "the kettle leaks")
	ok(t, os.Rename(d.at(m.PromotedTo), d.at("Kettle.md")))
	got := do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the kettle is mended"), Category: new("repairs")})
	if got.Pending == nil || got.Pending.Reason != string(notes.NoteAway) {
		t.Errorf("the edit answered %+v", got)
	}
	d.rest(t, d.Engine)
	d.batch([]string{"Kettle.md"}, []string{m.PromotedTo}, watcher.Move{From: m.PromotedTo, To: "Kettle.md"})
	d.settle()
	if got := d.memory(m.ID); got.PromotedTo != "Kettle.md" || got.Content != "the kettle is mended" {
		t.Errorf("the memory is %+v", got.Memory)
	}
	d.advance(promote.LastTry)
	d.rest(t, d.Engine)
	wantNote(t, d.house, "Kettle.md", "the kettle is mended", `category: "repairs"`, "!leaks")
	if left := d.Promote.Pending.List(); len(left) > 0 {
		t.Errorf("still waiting: %+v", left)
	}
	d.seen("Kettle.md")
	wantSettled(t, d.Engine, m.ID)
}

// What was queued for a note is not given up because it is renamed just then.
func TestFieldsWaitForANoteThatIsRenamed(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "the kettle leaks")
	done := busy(t, d.house)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("repairs")})
	ok(t, os.Rename(d.at(m.PromotedTo), d.at("Kettle.md")))
	done()
	d.rest(t, d.Engine)
	d.batch([]string{"Kettle.md"}, []string{m.PromotedTo})
	d.settle()
	d.advance(promote.LastTry)
	d.rest(t, d.Engine)
	wantNote(t, d.house, "Kettle.md", `category: "repairs"`)
}

// Fields that wait for a note that does not carry the id any more wait for nothing.
func TestFieldsDoNotWaitForANoteThatLostItsID(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "the kettle leaks")
	done := busy(t, d.house)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("repairs")})
	done()
	d.edit(m.PromotedTo, "the kettle leaks\n")
	d.rest(t, d.Engine)
	if left := d.Promote.Pending.List(); len(left) > 0 {
		t.Errorf("still waiting: %+v", left)
	}
}

// A check finds a memory that has another text than its note without anything on its way.
func TestAMemoryAheadOfItsNoteIsFound(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	_, err := d.Stm.Update(t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		set := map[string]json.RawMessage{"content": json.RawMessage(`"the kettle is mended"`)}
		return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	ok(t, err)
	d.wantFinding("memory Kettle.md", "an edit of memory "+id.Short()+" changed its content, but not the note")
	d.edit("Kettle.md", noteFor(id, "the kettle is mended"))
	d.wantNoFindings()
}

// In the archive folder, too, a note that cannot be read may carry the id.
func TestANoteMovedIntoTheArchiveThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.edit("Memories/Archive/Kettle.md", "---\nmemory-id: \""+string(id)+"\"\ntags: [a\n---\nthe kettle leaks\n")
	d.remove("Kettle.md")
	if d.Stm.Trashed(id) || !d.Sync.Sync.Contains(id) {
		t.Errorf("the memory is in the trash: %t; waits: %t", d.Stm.Trashed(id), d.Sync.Sync.Contains(id))
	}
	d.edit("Memories/Archive/Kettle.md", noteFor(id, "the kettle leaks"))
	if d.Stm.Trashed(id) || d.Sync.Sync.Contains(id) {
		t.Errorf("mended, and the memory is in the trash: %t; waits: %t", d.Stm.Trashed(id), d.Sync.Sync.Contains(id))
	}
}

package engine

import (
	"context"
	"os"
	"slices"
	"testing"

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

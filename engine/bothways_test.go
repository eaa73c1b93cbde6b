package engine_test

import (
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

// promotedDesk is a desk with one promoted memory, whose note was settled.
func promotedDesk(t *testing.T, content string, tags ...string) (*desk, op.Memory) {
	t.Helper()
	d := newDesk(t, nil)
	d.ms.Store(time.Now().Add(time.Hour).UnixMilli())
	m := promoteByID(t, d.Engine, save(t, d.Engine, content, tags...).ID).Memory
	d.seen(m.PromotedTo)
	return d, m
}

// seen tells of a note as it is, and lets a minute pass.
func (d *desk) seen(path string) {
	d.t.Helper()
	d.batch([]string{path}, nil)
	d.settle()
}

func (d *desk) wantUnchanged(m op.Memory, after string) {
	d.t.Helper()
	if got := look(d.t, d.Engine, m.ID); got.Rev != m.Rev {
		d.t.Errorf("%s the memory was written again: %+v", after, got)
	}
}

// Human and emberd change text and properties in turn: each sees what the other did,
// and nothing is told twice.
func TestANoteAndEditsTakeTurns(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "first", "a")
	d.wantUnchanged(m, "after the promotion")
	d.edit(m.PromotedTo, strings.Replace(d.note(t, m.PromotedTo), "first\n", "a human's\n", 1))
	if got := look(t, d.Engine, m.ID); got.Content != "a human's" {
		t.Errorf("the memory says %q", got.Content)
	}
	got := do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("emberd's"), AddTags: []string{"b"}}).Memory
	wantNote(t, d.house, m.PromotedTo, "emberd's", "- \"b\"")
	d.seen(m.PromotedTo)
	d.wantUnchanged(got, "after the edit")
	d.rest(t, d.Engine)
	do(t, d.Engine, op.Undo, &op.UndoRequest{})
	d.seen(m.PromotedTo)
	if got := look(t, d.Engine, m.ID); got.Content != "a human's" {
		t.Errorf("after the undo the memory says %q", got.Content)
	}
	d.rest(t, d.Engine)
	wantNote(t, d.house, m.PromotedTo, "a human's", "!- \"b\"")
	d.seen(m.PromotedTo)
	wantSettled(t, d.Engine, m.ID)
}

// What emberd inserted into a note, so that no plugin runs its text, does not become the memory's text when a
// human edits another line.
func TestAnEditOfANoteTakesOverNoInsertions(t *testing.T) {
	t.Parallel()
	const said = "The date is <% tp.date.now() %>.\nUse <b>bold</b>, not %%hidden%%.\nThe end."
	want := strings.Replace(said, "The end.", "That was all.", 1)
	d, m := promotedDesk(t, said)
	d.edit(m.PromotedTo, strings.Replace(d.note(t, m.PromotedTo), "The end.", "That was all.", 1))
	if got := look(t, d.Engine, m.ID); got.Content != want {
		t.Errorf("the memory says %q", got.Content)
	}
	d.seen(m.PromotedTo)
	wantSettled(t, d.Engine, m.ID)

	id := save(t, d.Engine, said+" In the kitchen.").ID
	d.archived(id)
	home := look(t, d.Engine, id).VaultPath
	d.edit(home, strings.Replace(d.note(t, home), "The end.", "That was all.", 1))
	if got := d.rekindled(id).Memory; got.Content != want+" In the kitchen." {
		t.Errorf("the rekindled memory says %q", got.Content)
	}
}

// The note that an undone promotion takes away is nobody's deletion.
func TestANoteThatAnUndoTookAwayForgetsNothing(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "text")
	do(t, d.Engine, op.Undo, &op.UndoRequest{})
	d.batch(nil, []string{m.PromotedTo})
	d.settle()
	if got := look(t, d.Engine, m.ID); got.PromotedTo != "" || !got.NoteGone.IsZero() {
		t.Errorf("the memory is %+v", got)
	}
	d.rest(t, d.Engine)
	wantPromotion(t, promoteByID(t, d.Engine, m.ID), op.PromotionWritten, m.PromotedTo)
}

// While a field waits to be written, what the human writes beside it is taken over, and
// the field is not.
func TestAFieldThatWaitsIsNotTakenBack(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "text")
	done := busy(t, d.house)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("habit")})
	d.edit(m.PromotedTo, strings.Replace(d.note(t, m.PromotedTo), "text\n", "a human's\n", 1))
	if got := look(t, d.Engine, m.ID); got.Category != "habit" || got.Content != "a human's" {
		t.Errorf("the memory is %+v", got)
	}
	done()
	d.rest(t, d.Engine)
	wantNote(t, d.house, m.PromotedTo, "a human's", "category: \"habit\"")
	d.seen(m.PromotedTo)
	wantSettled(t, d.Engine, m.ID)
}

// A memory whose note was deleted comes back from the trash without it, and gets a note
// by promotion only.
func TestAMemoryBackFromTheTrashIsPromotedByHand(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "text")
	d.remove(m.PromotedTo)
	wantCode(t, refused(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(m.ID)}), memory.NotFound, "is in the trash")
	do(t, d.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(m.ID)}})
	d.settle()
	wantFiles(t, d.house)
	got := promoteByID(t, d.Engine, m.ID)
	wantPromotion(t, got, op.PromotionWritten, m.PromotedTo)
	if !got.Memory.NoteGone.IsZero() {
		t.Errorf("the memory is %+v", got.Memory)
	}
}

// A field that a human changes while it waits is the human's, in the memory too.
func TestAFieldThatAHumanChangedMeanwhileIsTakenOver(t *testing.T) {
	t.Parallel()
	d, m := promotedDesk(t, "text", "a")
	done := busy(t, d.house)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{"b"}})
	d.edit(m.PromotedTo, strings.Replace(d.note(t, m.PromotedTo), "- \"a\"", "- \"human\"", 1))
	for range 2 { // while the write waits, and after
		if got := look(t, d.Engine, m.ID); strings.Join(got.Tags, " ") != "human" {
			t.Errorf("the tags are %q, want the human's", got.Tags)
		}
		done()
		d.rest(t, d.Engine)
		d.settle()
	}
	wantSettled(t, d.Engine, m.ID)
}

// The user changes a field of a note that a write was to change, and then changes it back. That is the last word.
func TestAFieldThatAHumanChangedTwiceIsTakenOver(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md", "kitchen")
	said := func(tag string) {
		d.write(t, "Kettle.md", noteFor(id, "the kettle leaks", tag))
		d.batch([]string{"Kettle.md"}, nil)
	}
	done := busy(t, d.house)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Tags: new([]string{"pots"})})
	done()
	said("cans")
	d.rest(t, d.Engine) // the write looks at the note and leaves it alone
	said("kitchen")
	d.settle()
	d.rest(t, d.Engine)
	if got := d.memory(id).Tags; strings.Join(got, " ") != "kitchen" {
		t.Errorf("the tags are %q", got)
	}
	wantSettled(t, d.Engine, id)
}

// carries writes a note with the ID of a memory, and lets note sync read it.
func (d *desk) carries(path string, id memory.ID, properties, text string) {
	d.t.Helper()
	d.write(d.t, path, withProperties(id, properties, text))
	d.batch([]string{path}, nil)
}

// The same for the stage of a memory that faded meanwhile. Also a stage that the user takes out of the note before
// that, and puts back in after, is the last word.
func TestAStageThatAHumanChangedTwiceIsTakenOver(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ before, after string }{
		"changed after": {"stage: active\n", "stage: demoted\n"}, "taken out before": {"", ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := shelf(t, nil)
			text := longText(1)
			id := d.kept(text, "Kettle.md")
			said := func(properties string) { d.carries("Kettle.md", id, properties, text) }
			said("stage: active\n")
			d.settle()
			said(c.before)
			d.archived(id)
			said(c.after)
			d.rest(t, d.Engine)
			said("stage: active\n")
			d.settle()
			d.wantWarm(id, memory.Active, text)
		})
	}
}

// The same for a memory that was brought back.
func TestAStageThatAHumanTookOutBeforeARekindlingAndPutBack(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	text := longText(1)
	id := d.kept(text, "Kettle.md")
	said := func(properties string) { d.carries("Kettle.md", id, properties, text) }
	said("stage: archived\n")
	d.settle()
	said("")
	d.rekindled(id)
	said("stage: archived\n")
	d.settle()
	d.wantCold(id, memory.Archived, text)
}

package engine_test

import (
	"testing"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
)

// What a run of the lifecycle does between an archiving and its undo, or a rekindling and
// its undo, does not part a stage from its text.
func TestUndoKeepsStageAndTextTogether(t *testing.T) {
	t.Parallel()
	text := longText(1)
	shift := func(d *desk, id memory.ID, to memory.Stage) string {
		r := lifecycle.LifecycleRun{E: d.Engine.Lifecycle, By: keeper(), Now: d.clock.Now()}
		ok(t, r.SetStage(t.Context(), core.DemoteVerb, d.to(to, id)))
		return r.Res.Tx
	}
	undo := func(d *desk, tx string, force bool) {
		t.Helper()
		do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: tx, Force: force})
	}
	t.Run("an archiving, faded since", func(t *testing.T) {
		d := shelf(t, nil)
		id := save(t, d.Engine, text).ID
		tx := d.archived(id).Entry
		_, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Rehydratable, id), "", keeper(), "")
		ok(t, err)
		undo(d, tx, false)
		d.wantWarm(id, memory.Active, text)
	})
	t.Run("a rekindling, demoted since", func(t *testing.T) {
		d := shelf(t, nil)
		id := save(t, d.Engine, text).ID
		d.archived(id)
		tx := d.rekindled(id).Tx
		shift(d, id, memory.Demoted)
		undo(d, tx, false)
		d.wantCold(id, memory.Archived, text)
		if res := d.rekindled(id); res.Memory.Content != text {
			t.Errorf("rekindled to %q", res.Memory.Content)
		}
	})
	t.Run("an edit, archived since, by force", func(t *testing.T) {
		d := shelf(t, nil)
		id := save(t, d.Engine, longText(2)).ID
		tx := do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new(text)}).Tx
		d.archived(id)
		undo(d, tx, true)
		d.wantCold(id, memory.Archived, text)
	})
	t.Run("an edit of a short text, archived since", func(t *testing.T) {
		d := shelf(t, nil)
		id := save(t, d.Engine, "the tide turns at nine").ID
		tx := do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new("the tide turns at ten")}).Tx
		d.archived(id)
		undo(d, tx, false)
		if m := d.memory(id); m.Content != "the tide turns at ten" || !m.Stage.Cold() {
			t.Errorf("the memory is %+v", m.Memory)
		}
	})
	t.Run("a demotion, archived since, by force", func(t *testing.T) {
		d := shelf(t, nil)
		id := save(t, d.Engine, text).ID
		tx := shift(d, id, memory.Demoted)
		d.archived(id)
		undo(d, tx, true)
		d.wantCold(id, memory.Archived, text)
	})
	t.Run("a fading, rekindled since, by force", func(t *testing.T) {
		d := shelf(t, nil)
		id := save(t, d.Engine, text).ID
		d.archived(id)
		got, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Rehydratable, id), "", keeper(), "")
		ok(t, err)
		d.rekindled(id)
		undo(d, got.Entry, true)
		d.wantWarm(id, memory.Active, text)
	})
}

// The note that a promotion took out of the archive is not there any more when that is
// undone, and the memory fades as any other.
func TestArchivingAfterAnUndonePromotion(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky).ID
	d.archived(id)
	d.rekindled(id)
	got := promoteByID(t, d.Engine, id)
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Tx})
	d.batch(d.all(), d.vanished())
	d.settle()
	d.archived(id)
	if m := d.rekindled(id).Memory; m.Content != leaky {
		t.Errorf("the memory is %+v", m.Memory)
	}
}

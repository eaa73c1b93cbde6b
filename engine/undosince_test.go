package engine_test

import (
	"testing"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// An import of minutes ago goes whole, also what was archived since, but for what somebody edited. Archive notes stay,
// as after forgetting, so that undoing the undo archives the memories again with their texts.
func TestUndoOfAnImportTakesWhatWasArchivedSince(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	req, ids := &op.ImportRequest{Foreign: true}, []memory.ID(nil)
	for _, text := range []string{leaky, "The tide turns at six, and the harbour master wants it known.",
		"Ann orders coal from Leith on Mondays, never on Tuesdays."} {
		req.Records = append(req.Records, foreign(t, text))
		ids = append(ids, req.Records[len(req.Records)-1].ID)
	}
	in := do(t, d.Engine, op.Import, req)
	d.archived(ids[:2]...)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(ids[2]), AddTags: []string{"mine"}})
	undone := do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: in.Tx})
	for _, item := range undone.Items {
		if (item.Action == stm.Left) != (item.ID == ids[2]) {
			t.Errorf("undone: %+v", item)
		}
	}
	if m, err := d.Stm.ReadTrashed(ids[0]); err != nil || m.Content != leaky || core.NotePath(&m) != "" {
		t.Errorf("in the trash: %+v, %v", m, err)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: in.Tx, Force: true})
	if _, live := d.Stm.Get(ids[2]); live {
		t.Error("forced, it left the edited memory")
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: undone.Tx})
	if m := d.rekindled(ids[0]).Memory; m.Content != leaky {
		t.Errorf("with the undo undone and rekindled: %+v", m)
	}
}

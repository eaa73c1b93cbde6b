package engine_test

import (
	"emberd/memory"
	"emberd/op"
	"testing"
)

// The history shows a run as done again once its rollback was undone, whoever rolled it back.
func TestTheHistoryOfACleanupFollowsUndo(t *testing.T) {
	t.Parallel()
	c := newCottage(t)
	run := c.run(c.actions()...)
	history := func() *op.CleanupRun {
		return &do(t, c.e, op.CleanupHistory, &op.CleanupHistoryRequest{}).Runs[0]
	}
	is := func(state string, after int) {
		t.Helper()
		report := do(t, c.e, op.CleanupReport, &op.CleanupReportRequest{Run: run.ID})
		for _, r := range []*op.CleanupRun{history(), &report.Run} {
			if r.State != state || r.After != after || (r.RolledBack == "") != (state == op.CleanupDone) {
				t.Errorf("the run is %s (%q) with %d memories left, want %s with %d", r.State, r.RolledBack, r.After, state, after)
			}
		}
	}
	is(op.CleanupDone, run.After)
	back := do(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{})
	is(op.CleanupRolledBack, run.Entries)
	redo := do(t, c.e, op.Undo, &op.UndoRequest{Tx: back.Undo.Tx})
	is(op.CleanupDone, run.After)
	again := do(t, c.e, op.Undo, &op.UndoRequest{Tx: redo.Tx})
	is(op.CleanupRolledBack, run.Entries)
	wantCode(t, refused(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{Run: run.ID}), memory.Conflict, "is already rolled back")
	do(t, c.e, op.Undo, &op.UndoRequest{Tx: again.Tx})
	is(op.CleanupDone, run.After)
	do(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{Run: run.ID})
	is(op.CleanupRolledBack, run.Entries)
}

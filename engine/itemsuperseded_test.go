package engine_test

import (
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

// A contradiction does not wait for a decision if one memory superseded the other, as its hint says, or is in the
// trash. It waits again if that is undone.
func TestAContradictionThatIsOver(t *testing.T) {
	t.Parallel()
	s := tendedByItself(t, nil)
	s.advance(time.Minute)
	old := save(t, s.Engine, "The nightly backup runs at 02:00 on server alpha")
	later := save(t, s.Engine, "The nightly backup runs at 04:00 on server alpha")
	s.Engine.Agents.CheckSaved(t.Context())
	const open = "cluster contradiction high 2 open"
	s.wantItems(open)
	over := func(change func() string) {
		t.Helper()
		tx := change()
		if list := do(t, s.Engine, op.ReviewList, &op.ReviewListRequest{}); list.Total > 0 {
			t.Errorf("still open: %+v", list.Items)
		}
		do(t, s.Engine, op.Undo, &op.UndoRequest{Tx: tx})
		s.wantItems(open)
	}
	over(func() string {
		return do(t, s.Engine, op.Edit, &op.EditRequest{ID: string(later.ID), Supersedes: []string{string(old.ID)}}).Tx
	})
	for _, id := range []memory.ID{old.ID, later.ID} {
		over(func() string { return do(t, s.Engine, op.Forget, &op.ForgetRequest{ID: string(id)}).Tx })
	}
}

package engine_test

import (
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// If the user worked on one note of a promotion of several memories, the undo reverts the others and names that one.
// A later undo reverts the rest when the note is free.
func TestUndoOfAPromotionOfSeveralMemories(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	ids := []memory.ID{h.used(t, e, 10, 7, "first"), h.used(t, e, 10, 7, "second"), h.used(t, e, 10, 7, "third")}
	done := do(t, e, op.PromoteAuto, &op.PromoteAutoRequest{})
	if done.PromotedCount != 3 {
		t.Fatalf("it answers %+v", done)
	}
	const edited = "Memories/second.md"
	h.write(t, edited, h.note(t, edited)+"more\n")
	for _, dry := range []bool{true, false} {
		got := do(t, e, op.Undo, &op.UndoRequest{DryRun: dry})
		for _, item := range got.Items {
			left := item.ID == ids[1]
			if (item.Action == "left") != left || strings.Contains(item.Reason, edited) != left {
				t.Errorf("dry run %t: %+v", dry, item)
			}
		}
		if len(got.Items) != 3 {
			t.Errorf("dry run %t: undone %+v", dry, got)
		}
	}
	wantFiles(t, h, edited)
	for i, id := range ids {
		if m := look(t, e, id); (m.PromotedTo != "") != (i == 1) {
			t.Errorf("%q is promoted to %q", m.Content, m.PromotedTo)
		}
	}
	wantCode(t, refused(t, e, op.Undo, &op.UndoRequest{Tx: done.Tx, Force: true}), memory.Conflict, "has changed since emberd wrote it")
	h.write(t, edited, strings.Replace(h.note(t, edited), "memory-id", "once", 1))
	do(t, e, op.Undo, &op.UndoRequest{Tx: done.Tx, Force: true})
	if m := look(t, e, ids[1]); m.PromotedTo != "" {
		t.Errorf("it is still promoted to %q", m.PromotedTo)
	}
}

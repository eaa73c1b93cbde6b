package history

import (
	"context"
	"slices"
	"strings"

	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// withPrevious adds to the error of an undo that named no change the command that undoes the one before it. failed is
// the change that cannot be undone.
func (e *History) withPrevious(ctx context.Context, failed string, err error) error {
	if memory.CodeOf(err) != memory.Conflict {
		return err
	}
	previous := e.previous(ctx, failed)
	if previous == "" {
		return err
	}
	return memory.Errorf(memory.Conflict, "%w; to undo the previous change, run: emberd undo %s", err,
		previous).At("tx")
}

// previous returns the latest change before tx that an undo which names no change would choose, and that can be
// undone now, "" if there is none among the latest changes.
func (e *History) previous(ctx context.Context, tx string) string {
	all, err := e.Journal(ctx, &op.JournalRequest{Limit: memory.MaxResults})
	if err != nil {
		return ""
	}
	device := "-" + e.Stm.Status().Device
	for _, j := range all.Entries {
		own := strings.HasSuffix(j.Tx, device) || notejournal.Is(j.Tx)
		entry := stm.Entry{Verb: j.Verb, By: j.By}
		if own && j.Tx < tx && !j.Undone && j.Undoes == "" && !entry.Unasked() && e.undoable(ctx, j.Tx) {
			return j.Tx
		}
	}
	return ""
}

// undoable reports whether an undo of a change would change anything.
func (e *History) undoable(ctx context.Context, tx string) bool {
	would, err := e.Undo(ctx, &op.UndoRequest{Tx: tx, DryRun: true})
	return err == nil && !allLeft(would)
}

// allLeft reports whether an undo leaves everything that its change is about as it is.
func allLeft(res *op.UndoResult) bool {
	return len(res.Items) > 0 && !slices.ContainsFunc(res.Items, func(item op.UndoItem) bool {
		return item.Action != stm.Left
	})
}

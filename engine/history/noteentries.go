package history

import (
	"cmp"
	"context"
	"slices"

	"emberd/engine/notewrite"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// addNoteEntries adds the changes of notes before a cursor to those of memories, latest first.
func (e *History) addNoteEntries(res *op.JournalResult, cursor string) error {
	all, err := e.NoteWrite.Entries()
	if err != nil {
		return memory.Errorf(memory.ReadOnly, "cannot read the list of changes of notes: %w", err)
	}
	res.Total += len(all)
	undone := notejournal.Undone(all)
	for i := range all {
		if j := &all[i]; cursor == "" || j.Tx < cursor {
			res.Entries = append(res.Entries, op.JournalEntry{Entry: notewrite.Shown(j), Undone: undone[j.Tx],
				Undoes: j.Undoes})
		}
	}
	slices.SortStableFunc(res.Entries, func(a, b op.JournalEntry) int { return cmp.Compare(b.Tx, a.Tx) })
	return nil
}

// noteEntry returns the change of notes that an undo of a named entry reverts, "" if it reverts one of memories.
// Without a name that is the latest change.
func (e *History) noteEntry(ctx context.Context, tx string) string {
	if tx != "" {
		if notejournal.Is(tx) {
			return tx
		}
		return ""
	}
	newest := e.NoteWrite.Newest()
	if newest == "" {
		return ""
	}
	entry, err := e.OwnEntry(ctx, "")
	if err == nil {
		var would stm.Undone
		would, err = e.Stm.Undo(ctx, stm.Undo{Entry: entry, DryRun: true})
		entry = would.Entry.Tx
	}
	if err == nil && entry > newest {
		return ""
	}
	return newest
}

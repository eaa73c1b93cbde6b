package history

import (
	"cmp"
	"context"
	"slices"
	"strings"

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

// minBegin is how much of a change ID a caller gives at least.
const minBegin = 4

// changeNamed returns the ID of the only change of memories or notes whose ID begins with a text. Other texts than the
// beginning of an ID, and those of a caller with a grant, stay as they are.
func (e *History) changeNamed(begin string) (string, error) {
	_, err := stm.ParseStamp(begin)
	if err == nil || e.Grant != nil || len(begin) < minBegin || notejournal.Is(begin) {
		return begin, nil
	}
	var found []string
	for _, tx := range e.Stm.Named(begin) {
		found = append(found, tx.String())
	}
	notes, err := e.NoteWrite.Entries()
	if err != nil {
		return "", err
	}
	for i := range notes {
		if strings.HasPrefix(notes[i].Tx, begin) {
			found = append(found, notes[i].Tx)
		}
	}
	switch len(found) {
	case 0:
		return begin, nil
	case 1:
		return found[0], nil
	}
	return "", memory.Errorf(memory.Ambiguous, "several change IDs begin with %s; pass more characters",
		memory.Clip(begin)).At("tx")
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

package history

import (
	"context"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Undo reverts one change, memory by memory. A memory that changed again since stays and is listed,
// unless forced. If the newest change cannot be undone, the answer names the change before it.
func (e *History) Undo(ctx context.Context, req *op.UndoRequest) (*op.UndoResult, error) {
	if e.Cleaning.Load() {
		return nil, memory.Errorf(memory.Busy,
			"a cleanup run is in progress; try again when emberd health cleanup history shows the run as complete")
	}
	named, err := e.changeNamed(req.Tx)
	if err != nil {
		return nil, err
	}
	res, tx, err := e.undo(ctx, &op.UndoRequest{Tx: named, Force: req.Force, DryRun: req.DryRun})
	switch {
	case req.Tx != "":
	case memory.CodeOf(err) == memory.Conflict:
		err = e.withPrevious(ctx, tx, err)
	case err == nil && allLeft(res):
		res.Previous = e.previous(ctx, tx)
	}
	return res, err
}

// undo is Undo, and also returns the change that it chose.
func (e *History) undo(ctx context.Context, req *op.UndoRequest) (*op.UndoResult, string, error) {
	if tx := e.noteEntry(ctx, req.Tx); tx != "" {
		res, err := e.NoteWrite.Undo(ctx, tx, req.DryRun)
		if err == nil {
			e.Links.Reverted(ctx, res)
		}
		return res, tx, err
	}
	entry, err := e.OwnEntry(ctx, req.Tx)
	if err != nil {
		return nil, "", err
	}
	u := stm.Undo{Entry: entry, Force: req.Force, DryRun: req.DryRun, By: op.CallerFrom(ctx)}
	notes, err := e.prepareUndo(ctx, &u, req.Tx == "")
	if err != nil {
		return nil, u.Entry, err
	}
	done, err := e.Stm.Undo(ctx, u)
	if err != nil {
		return nil, u.Entry, err
	}
	res := &op.UndoResult{
		Entry: op.Entry{Tx: done.Entry.Tx, Verb: done.Entry.Verb, At: done.Entry.At, By: done.Entry.By,
			IDs: len(done.Entry.IDs)},
		Tx:     done.Tx,
		DryRun: req.DryRun,
		Items:  make([]op.UndoItem, 0, len(done.Items)),
	}
	for _, it := range finalStep(done.Items) {
		res.Items = append(res.Items, op.UndoItem{ID: it.ID, Action: it.Action, Reason: it.Reason})
	}
	if !req.DryRun {
		e.undoNotes(context.WithoutCancel(ctx), notes.changed, res)
		e.Promote.RemoveQueued(ctx, notes.archived)
	}
	return res, done.Entry.Tx, nil
}

// notesOfUndo are the notes that follow an undo in the log.
type notesOfUndo struct {
	changed  []undoneNote
	archived map[memory.ID]string // paths in the archive folder of texts that return from there
}

// prepareUndo names the entry to undo, checks that its notes can follow, and keeps the texts of memories that are
// archived again. newest says that the caller named no entry.
func (e *History) prepareUndo(ctx context.Context, u *stm.Undo, newest bool) (n notesOfUndo, err error) {
	if e.Notes.Vault == nil {
		return n, nil
	}
	would, err := e.Stm.Undo(ctx, stm.Undo{Entry: u.Entry, Force: u.Force, DryRun: true})
	if err == nil && newest && e.Grant == nil {
		err = e.checkPendingDeletions(would.Entry.At)
	}
	if err == nil {
		u.Entry = would.Entry.Tx // the newest one at this time
		err = e.checkNoteSource(ctx, would)
	}
	if err == nil {
		n.changed, u.Leave, err = e.notesToUndo(ctx, would)
	}
	if err == nil && len(u.Leave) > 0 {
		would, err = e.Stm.Undo(ctx, stm.Undo{Entry: u.Entry, Force: u.Force, DryRun: true, Leave: u.Leave})
	}
	if err != nil || u.DryRun {
		return n, err
	}
	n.archived = e.archivedBy(&would)
	if err = e.keepTexts(ctx, &would); err == nil {
		err = e.Promote.QueueRemovals(n.archived, u.By)
	}
	return n, err
}

// checkPendingDeletions returns an error if an undo of the newest change would miss confirmed
// deletions of notes, which are not in the journal yet.
func (e *History) checkPendingDeletions(newest time.Time) error {
	since, waits := e.Sync.Sync.Confirming()
	if !waits || newest.After(since) {
		return nil
	}
	return memory.Errorf(memory.Busy, "emberd is still applying the deletions that you confirmed; to undo the "+
		"deletions, wait until emberd history lists the change %q; to undo another change, name that change",
		core.GoneVerb)
}

// finalStep keeps the result of several steps with one memory, and why a part was not undone.
func finalStep(items []stm.UndoneItem) []stm.UndoneItem {
	last := make(map[memory.ID]int, len(items))
	for i, it := range items {
		last[it.ID] = i
	}
	var out []stm.UndoneItem
	for i, it := range items {
		final := items[last[it.ID]]
		if last[it.ID] == i || it.Action == stm.Left && (final.Action != stm.Left || final.Reason != it.Reason) {
			out = append(out, it)
		}
	}
	return out
}

// checkNoteSource returns an error for a change from a note that is still the memory's, because note
// sync would apply it again. Other notes with the ID change nothing.
func (e *History) checkNoteSource(ctx context.Context, would stm.Undone) error {
	if would.Entry.Verb != core.NoteVerb {
		return nil
	}
	for _, id := range would.Entry.IDs {
		row, live := e.Stm.Get(id)
		if !live {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			return err
		}
		note, _, err := e.Promote.FindNote(ctx, &m)
		if err != nil {
			return err
		}
		if note != nil {
			return memory.Errorf(memory.Conflict, "change %s is an edit of note %q, so emberd would apply it again; "+
				"to see the earlier text, run: emberd history %s; to restore that text, edit the note, or use "+
				"emberd edit", would.Entry.Tx, note.Path, m.ID.Short()).At("tx")
		}
	}
	return nil
}

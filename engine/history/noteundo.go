package history

import (
	"context"
	"crypto/sha256"
	"slices"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// undoneNote is the note of a memory that an undo changes.
type undoneNote struct {
	note      *vault.Note
	before    memory.Memory
	remove    bool // the change created it
	stageOnly bool // only its stage is written
	verb      string
}

// notesToUndo reads the notes of the memories that an undo will change. A memory whose note the user edited stays as
// it is, and is in leave with the reason; if no other would be undone, the reason is an error. A change of stage is
// undone anyway, because the log has the earlier memory, whatever the note contains.
func (e *History) notesToUndo(ctx context.Context, would stm.Undone) (all []undoneNote, leave map[memory.ID]string,
	err error) {
	leave = make(map[memory.ID]string)
	var first error
	staged, promoted := stagedBy(&would), promotedBy(&would)
	for i, item := range would.Items {
		op.Report(ctx, i, 2*len(would.Items))
		row, live := e.Stm.Get(item.ID)
		if item.Action != stm.Reverted || !live || changesNoNote(item.Verb) {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			return nil, nil, err
		}
		aged := core.Ages(item.Verb)
		if core.NotePath(&m) == "" {
			continue
		}
		note, _, err := e.Promote.FindNote(ctx, &m)
		// A change that archived, under any verb, wrote nothing to notes that an undo reverts.
		aged = aged || staged[item.ID] && note != nil && m.PromotedTo == "" && e.Notes.Vault.InArchive(note.Path)
		if err != nil && !aged && !m.Stage.Cold() {
			return nil, nil, err
		}
		if note == nil || aged && note.Carried.Fields["stage"] == "" || promoted[item.ID] && adopted(row, &m, note) {
			continue
		}
		u := undoneNote{note: note, before: m, remove: item.Verb == core.PromoteVerb && !m.Stage.Cold(),
			stageOnly: aged,
			verb:      item.Verb}
		why := e.checkCanRevert(ctx, &u)
		switch code := memory.CodeOf(why); {
		case why != nil && code != memory.Conflict && code != memory.Busy:
			return nil, nil, why
		case why != nil:
			first, leave[item.ID] = core.FirstError(first, why), why.Error()
		default:
			all = append(all, u)
		}
	}
	if first != nil && allIn(&would, leave) {
		return nil, nil, first
	}
	return all, leave, nil
}

// allIn reports whether every memory that an undo would change is in leave.
func allIn(would *stm.Undone, leave map[memory.ID]string) bool {
	return !slices.ContainsFunc(would.Items,
		func(item stm.UndoneItem) bool { return item.Action != stm.Left && leave[item.ID] == "" })
}

// stagedBy returns the memories whose stage a change set, by any of its lines.
func stagedBy(would *stm.Undone) map[memory.ID]bool {
	staged := make(map[memory.ID]bool)
	for _, item := range would.Items {
		if item.Stage != "" {
			staged[item.ID] = true
		}
	}
	return staged
}

// promotedBy returns the memories that a change promoted.
func promotedBy(would *stm.Undone) map[memory.ID]bool {
	promoted := make(map[memory.ID]bool)
	for _, item := range would.Items {
		if item.Verb == core.PromoteVerb {
			promoted[item.ID] = true
		}
	}
	return promoted
}

// adopted reports whether a memory got its note because the user confirmed one that emberd did not make.
// After an undo that note stays as it is, and the question about it is open again.
func adopted(row *stm.Row, m *memory.Memory, note *vault.Note) bool {
	_, asked := core.NoteItem(row, note.Path)
	return asked && !promote.IsMade(m, []byte(note.Text))
}

// changesNoNote reports whether a verb changes nothing in notes. A change may have such lines
// besides others about the same memory.
func changesNoNote(verb string) bool {
	return slices.Contains([]string{memories.RelateVerb, memories.UnrelateVerb, core.LinkVerb, core.FileVerb,
		core.ClaimVerb, core.CloseVerb}, verb)
}

// fieldsToWrite returns those fields that the note gets again. After a change of stage it is the
// stage only, and never an archived text.
func (u *undoneNote) fieldsToWrite(fields []string) []string {
	return slices.DeleteFunc(promote.InNote(&u.before, fields), func(field string) bool {
		return u.stageOnly && field != "stage" || field == core.ContentField &&
			(core.Shortened(&u.before) || u.before.PromotedTo == "")
	})
}

// checkCanRevert returns an error for a note that cannot be reverted.
func (e *History) checkCanRevert(ctx context.Context, u *undoneNote) error {
	if u.stageOnly {
		return nil
	}
	if !u.remove {
		if !promote.SameSeen(notes.Fingerprints(u.note.Carried), u.before.NoteSeen,
			u.fieldsToWrite(notes.NoteFields())) {
			return memory.Errorf(memory.Conflict, "note %q of memory %s has edits that emberd has not synced, "+
				"so emberd did not undo the change; repeat the undo in two "+
				"minutes, or restore the earlier text in the note", u.note.Path, u.before.ID)
		}
		return nil
	}
	digest := sha256.Sum256(promote.NoteBytes(&u.before))
	if text := []byte(u.note.Text); promote.IsMade(&u.before, text) && e.Links.IsOwn(u.before.ID, text) {
		digest = u.note.Digest
	}
	_, res, err := e.NoteWrite.Current(ctx, u.note.Path)
	switch {
	case err != nil:
		return err
	case res.Outcome == vault.Written && res.Digest != digest:
		return memory.Errorf(memory.Conflict, "note %q has changed since emberd wrote it, so emberd does not remove "+
			"it; to see earlier texts of the memory, run: emberd history %s; to separate the note from the memory, "+
			"remove the property memory-id of the note and undo again", u.note.Path, u.before.ID.Short())
	case res.Outcome == vault.Later:
		return memory.Errorf(memory.Busy, "cannot revert note %q now: %s", u.note.Path,
			promote.LaterText(&res, e.Opt.Now()))
	case res.Outcome != vault.Written:
		return memory.Errorf(memory.Conflict, "cannot revert note %q: %s", u.note.Path, res.Reason)
	}
	return nil
}

// undoNotes reverts the notes after an undo in the log, and records failures in the items.
func (e *History) undoNotes(ctx context.Context, all []undoneNote, res *op.UndoResult) {
	if len(all) == 0 {
		return
	}
	failed := func(u *undoneNote, err error) {
		i := slices.IndexFunc(res.Items, func(item op.UndoItem) bool { return item.ID == u.before.ID })
		res.Items[i].Reason = err.Error()
	}
	var reverted []undoneNote
	for i, u := range all {
		op.Report(ctx, len(all)+i, 2*len(all))
		follow := e.removeUndone
		switch {
		case e.archivePathBefore(&u) != "":
			follow = e.moveBack
		case !u.remove:
			reverted = append(reverted, u)
			continue
		}
		if err := follow(ctx, &u); err != nil {
			failed(&u, err)
		}
	}
	for some := range slices.Chunk(reverted, queuedAtOnce) {
		if err := e.queueReverted(ctx, some, res.Tx); err != nil {
			for i := range some {
				failed(&some[i], err)
			}
		}
	}
	e.Promote.Writing.Nudge()
}

// queuedAtOnce is how many notes are queued together, with their memories locked.
const queuedAtOnce = 512

// reverted returns the fields to write to the note of a memory after the undo.
func (u *undoneNote) reverted(m *memory.Memory) ([]string, error) {
	before, err := core.Fields(&u.before)
	if err != nil {
		return nil, err
	}
	after, err := core.Fields(m)
	if err != nil {
		return nil, err
	}
	return u.fieldsToWrite(core.ChangedFields(core.Difference(before, after))), nil
}

// archivePathBefore returns the path in the archive folder from which an undone promotion moved the
// note, "" if it did not.
func (e *History) archivePathBefore(u *undoneNote) string {
	row, live := e.Stm.Get(u.before.ID)
	if u.verb != core.PromoteVerb || !live {
		return ""
	}
	m, err := row.Memory()
	if err != nil || m.PromotedTo != "" || !e.Notes.Vault.InArchive(m.VaultPath) ||
		!notes.Absent(e.Notes.Vault.Root.Load(), m.VaultPath) {
		return ""
	}
	return m.VaultPath
}

// moveBack moves a note back to the archive folder, after the log. A crash in between leaves a
// note with the ID, and the memory is promoted again.
func (e *History) moveBack(ctx context.Context, u *undoneNote) error {
	to := e.archivePathBefore(u)
	res, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result,
		error) {
		return w.Move(ctx, u.note.Path, to)
	})
	if err != nil {
		return promote.DiskError(u.note.Path, err)
	}
	if res.Outcome != vault.Written {
		return memory.Errorf(memory.Conflict, "cannot move note %q of the memory: %s", u.note.Path, res.Reason)
	}
	e.Promote.IndexNote(ctx, to)
	e.Promote.IndexNote(ctx, u.note.Path)
	return nil
}

// removeUndone removes the note that an undone promotion created. The log comes first: a crash
// in between leaves a note with the ID, and not a memory with a deleted note.
func (e *History) removeUndone(ctx context.Context, u *undoneNote) error {
	res, err := e.Promote.RemoveNote(ctx, u.note)
	if err != nil {
		return promote.DiskError(u.note.Path, err)
	}
	if res.Outcome != vault.Written {
		return memory.Errorf(memory.Conflict, "cannot remove note %q of the memory: %s", u.note.Path, res.Reason)
	}
	if err := e.Promote.Pending.Drop(u.before.ID); err != nil {
		return err
	}
	// The promoted note may be that of the archive, which is deleted with it.
	return e.Lifecycle.Change(ctx, u.before.ID, core.GoneVerb, core.VaultActor(),
		func(_ *stm.Row, m *memory.Memory) bool {
			gone := m.VaultPath != "" && m.PromotedTo == "" && !core.Shortened(m) &&
				notes.Absent(e.Notes.Vault.Root.Load(), m.VaultPath)
			if gone {
				m.VaultPath, m.NoteSeen = "", nil
			}
			return gone
		})
}

// queueReverted queues the writes of the reverted fields to notes, and records what the notes have now.
func (e *History) queueReverted(ctx context.Context, some []undoneNote, entry string) error {
	ids := make([]memory.ID, len(some))
	for i := range some {
		ids[i] = some[i].before.ID
	}
	_, err := e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: core.NoteVerb, By: core.VaultActor(), Entry: entry}
		var writes []promote.PendingWrite
		for i := range some {
			if rows[i] == nil {
				continue
			}
			write, changes, err := e.revertedNote(&some[i], rows[i], entry)
			if err != nil {
				return nil, err
			}
			writes, tx.Changes = append(writes, write...), append(tx.Changes, changes...)
		}
		if err := e.Promote.Pending.PutAll(writes); err != nil || len(tx.Changes) == 0 {
			return nil, err
		}
		return tx, nil
	})
	return err
}

// revertedNote returns the write of the reverted fields to a note, and the change that records what the note
// has now; none if nothing in the note is reverted.
func (e *History) revertedNote(u *undoneNote, row *stm.Row, entry string) ([]promote.PendingWrite, []stm.Change,
	error) {
	m, err := row.Memory()
	if err != nil {
		return nil, nil, err
	}
	changed, err := u.reverted(&m)
	if err != nil || len(changed) == 0 {
		return nil, nil, err
	}
	write := []promote.PendingWrite{e.Promote.NoteUpdate(m.ID, u.note.Path, changed, core.VaultActor(), entry)}
	set, err := promote.Reread(&m, changed, u.before.NoteSeen)
	if err != nil || set == nil {
		return write, nil, err
	}
	return write, []stm.Change{{ID: m.ID, Set: set}}, nil
}

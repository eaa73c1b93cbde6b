package promote

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/noteedit"
)

// EditedNote writes an edit of a memory to its note, before the log gets it, and adds to set
// the fields that the note has then. Fields other than the text may wait: EditedNote returns
// the reason, and the log gets them at once. A note in the archive folder keeps the archived
// text until the next archiving.
func (e *Promote) EditedNote(ctx context.Context, m *memory.Memory, set map[string]json.RawMessage,
	by memory.Actor) (*op.PendingWrite, error) {
	changed := InNote(core.ChangedFields(set))
	if m.PromotedTo == "" {
		changed = notes.Without(changed, core.ContentField)
	}
	if core.NotePath(m) == "" || len(changed) == 0 {
		return nil, nil
	}
	if err := e.CheckFields(m, set); err != nil {
		return nil, err
	}
	text := slices.Contains(changed, core.ContentField)
	if e.Notes.Vault == nil {
		if text && m.NoteGone.IsZero() {
			return nil, memory.Errorf(memory.Conflict,
				"the text of memory %s is that of the note %q, in a vault that this emberd does not have; edit the "+
					"note", m.ID, core.NotePath(m))
		}
		return nil, nil
	}
	note, err := e.NoteOf(ctx, m)
	switch {
	case err != nil && text:
		return nil, err
	case err != nil:
		return e.queueFields(m, core.NotePath(m), changed, by, vault.Result{Reason: vault.Reason(err.Error())})
	case note == nil:
		return e.withoutNote(ctx, m, changed, by)
	}
	now := notes.Fingerprints(note.Carried)
	if !SameSeen(now, m.NoteSeen, changed) {
		return nil, memory.Errorf(memory.Conflict,
			"somebody edited the note %q of memory %s, and emberd takes that over within a minute or two; read the "+
				"memory again then", note.Path, m.ID)
	}
	after, err := with(m, set)
	if err != nil {
		return nil, err
	}
	res, err := e.WriteNote(ctx, note, NoteEdit(after, changed, note.Carried.Body))
	switch {
	case err != nil:
		return nil, DiskError(note.Path, err)
	case res.Outcome == vault.Written:
		return nil, e.recordWritten(ctx, m, note.Path, changed, set)
	case res.Outcome == vault.Later && text:
		return nil, memory.Errorf(memory.Busy,
			"the text of memory %s is that of the note %q, which is not written now: %s", m.ID, note.Path,
			LaterText(&res, e.Opt.Now()))
	case text || res.Outcome == vault.Conflict:
		return nil, errNotWritten(note.Path, res.Reason, "")
	}
	return e.queueFields(m, note.Path, changed, by, res)
}

// withoutNote handles an edit of a memory whose note was not found. While the vault cannot be
// searched, the text must stay.
func (e *Promote) withoutNote(ctx context.Context, m *memory.Memory, changed []string,
	by memory.Actor) (*op.PendingWrite, error) {
	if e.hasNoNote(m) {
		return nil, nil
	}
	if err := e.errIfClaimed(ctx, m); err != nil {
		return nil, err
	}
	res, looked := vault.Result{Reason: notes.NoteAway}, false
	switch {
	case !e.Notes.Vault.Root.Load().Current():
		res.Reason = vault.VaultReplaced
	case !e.Notes.Vault.Complete.Load():
		res.Reason = "the notes are still being read for the first time"
	default:
		looked = true
	}
	if slices.Contains(changed, core.ContentField) && !looked {
		return nil, memory.Errorf(memory.Busy,
			"the text of memory %s is that of the note %q, which cannot be looked for now: %s", m.ID, core.NotePath(m),
			res.Reason)
	}
	return e.queueFields(m, core.NotePath(m), changed, by, res)
}

// errIfClaimed returns an error if the memory's note is missing and another one has its ID: it may be the
// note, renamed and edited.
func (e *Promote) errIfClaimed(ctx context.Context, m *memory.Memory) error {
	for _, path := range e.Notes.Vault.Carriers.Of(m.ID) {
		if note, err := e.Notes.Vault.Root.Load().Read(ctx, path); err == nil && Carries(note, m.ID) {
			return e.Notes.ErrClaimed(m, path)
		}
	}
	return nil
}

// hasNoNote reports whether a memory has no note any more: it was deleted, or has lost the ID.
func (e *Promote) hasNoNote(m *memory.Memory) bool {
	return !m.NoteGone.IsZero() || e.Notes.Vault.Complete.Load() &&
		!notes.Absent(e.Notes.Vault.Root.Load(), core.NotePath(m))
}

// with returns the memory with some fields set.
func with(m *memory.Memory, set map[string]json.RawMessage) (*memory.Memory, error) {
	all, err := core.Fields(m)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, set)
	raw, err := core.Encode(all)
	if err != nil {
		return nil, err
	}
	after := memory.Memory{ID: m.ID}
	return &after, json.Unmarshal(raw, &after)
}

// WriteNote writes an edit to a note.
func (e *Promote) WriteNote(ctx context.Context, note *vault.Note, edit noteedit.Edit) (vault.Result, error) {
	res, err := e.Writing.Do(func(w *vault.Writer) (vault.Result, error) { return w.Update(ctx, note.Path, edit) })
	if res.Outcome == vault.Written && res.Backup != "" {
		e.Writing.replaced(note.Path, notes.Fingerprints(note.Carried))
	}
	return res, err
}

// recordWritten indexes a written note and adds its fields to set.
func (e *Promote) recordWritten(ctx context.Context, m *memory.Memory, path string, changed []string,
	set map[string]json.RawMessage) error {
	e.IndexNote(ctx, path)
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	if err != nil || !Carries(note, m.ID) {
		return nil // note sync applies it later
	}
	after, err := with(m, set)
	if err != nil {
		return err
	}
	said := notes.Agreed(after, note.Carried) // the user may have saved it since
	if SameSeen(said, m.NoteSeen, changed) {
		return nil
	}
	set["note_seen"], err = core.Encode(Renewed(m.NoteSeen, said, changed))
	return err
}

// RetryWrite tries the queued write of a memory's note now: the note was found at another path.
func (e *Promote) RetryWrite(id memory.ID) error {
	err := e.Pending.hasten(id, e.Opt.Now())
	e.Writing.Nudge()
	return err
}

// queueFields queues the write of a memory's fields to its note.
func (e *Promote) queueFields(m *memory.Memory, path string, changed []string, by memory.Actor,
	res vault.Result) (*op.PendingWrite, error) {
	w := e.newPendingWrite(m.ID, UpdateNote, path, by, string(res.Reason))
	w.Fields = changed
	if res.Until.After(w.Next) {
		w.Next = core.StampTime(res.Until)
	}
	if err := e.Pending.Put(w); err != nil {
		return nil, err
	}
	e.Writing.Nudge()
	shown := w.Shown()
	return &shown, nil
}

// tryWrite tries one queued write and removes or postpones it.
func (e *Promote) tryWrite(ctx context.Context, w PendingWrite) {
	res, err := vault.Result{}, error(nil)
	if w.What == CreateNote {
		var done *op.PromoteResult
		if done, err = e.PromoteMemory(ctx, Promotion{ID: w.Memory, By: w.By, Force: true}); err == nil &&
			done.Outcome == op.PromotionPending {
			res = vault.Result{Reason: vault.Reason(done.Reason), Until: done.Until}
		}
	} else {
		res, err = e.updateNote(ctx, w)
	}
	switch {
	case ctx.Err() != nil:
		return
	case memory.CodeOf(err) == memory.NotFound:
		e.Opt.Logger.Info("a note is not written, for its memory is gone", "memory", w.Memory, "what", w.What)
		err = e.Pending.Drop(w.Memory)
	case err != nil:
		err = e.Pending.postpone(w.Memory, err.Error(), e.Opt.Now(), res.Until)
	case res.Reason != "":
		err = e.Pending.postpone(w.Memory, string(res.Reason), e.Opt.Now(), res.Until)
	default:
		e.Opt.Logger.Info("a note that had to wait was written", "memory", w.Memory, "what", w.What)
	}
	e.Chores.Settle("list of notes to write", err)
}

// updateNote writes queued fields to the note, except those that the user has changed there
// since. A result without a reason is final.
func (e *Promote) updateNote(ctx context.Context, w PendingWrite) (res vault.Result, err error) {
	_, err = e.Stm.Update(ctx, []memory.ID{w.Memory}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, e.Missing(w.Memory)
		}
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		note, err := e.NoteOf(ctx, &m)
		if err != nil {
			return nil, err
		}
		if note == nil {
			if res.Reason = cmp.Or(vault.Reason(e.tooEarly(&m)), notes.NoteAway); e.hasNoNote(&m) {
				res.Reason = ""
				e.Opt.Logger.Info("fields are not written to a note, for it is gone or does not carry the id", "memory",
					m.ID)
				return nil, e.Pending.Drop(m.ID)
			}
			return nil, nil
		}
		return e.updateFields(ctx, w, &m, note, &res)
	})
	return res, err
}

func (e *Promote) updateFields(ctx context.Context, w PendingWrite, m *memory.Memory, note *vault.Note,
	res *vault.Result) (*stm.Tx, error) {
	now, waiting := notes.Fingerprints(note.Carried), e.Pending.Fields(m.ID)
	left := slices.DeleteFunc(slices.Clone(waiting), func(field string) bool {
		return !SameSeen(now, m.NoteSeen, []string{field})
	})
	set := map[string]json.RawMessage{}
	if len(left) > 0 {
		got, err := e.WriteNote(ctx, note, NoteEdit(m, left, note.Carried.Body))
		if err != nil {
			return nil, DiskError(note.Path, err)
		}
		if *res = got; got.Outcome != vault.Written {
			return nil, nil
		}
		if err := e.recordWritten(ctx, m, note.Path, left, set); err != nil {
			return nil, err
		}
	}
	if err := e.Pending.Drop(m.ID); err != nil {
		return nil, err
	}
	if len(left) < len(waiting) {
		e.Opt.Logger.Info("not all fields that waited are written to a note, for some were changed there", "memory",
			m.ID, "written", strings.Join(left, " "))
		e.IndexNote(ctx, note.Path)
	}
	if seen, err := core.Encode(m.NoteSeen); err != nil || len(set) == 0 || string(seen) == string(set["note_seen"]) {
		return nil, err
	}
	return &stm.Tx{Verb: core.NoteVerb, By: core.VaultActor(), Entry: w.Entry,
		Changes: []stm.Change{{ID: m.ID, Set: set}}}, nil
}

// writeAgain writes fields to a note again that a late save has reverted to the values before
// the write.
func (e *Promote) writeAgain(ctx context.Context, path string, said map[string]string) error {
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	if err != nil || note.Carried == nil {
		return err
	}
	id, err := memory.ParseID(note.MemoryID)
	if err != nil {
		return err
	}
	_, err = e.Stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		now, lost := notes.Fingerprints(note.Carried), []string{}
		for field, print := range said {
			if now[field] == print && m.NoteSeen[field] != print {
				lost = append(lost, field)
			}
		}
		slices.Sort(lost)
		return e.Requeue(&m, path, lost, Renewed(m.NoteSeen, now, lost), core.VaultActor(), "")
	})
	return err
}

// Requeue queues fields for the note that the log has already. It records the note's current
// values, so that note sync does not take them as newer.
func (e *Promote) Requeue(m *memory.Memory, path string, changed []string, seen map[string]string, by memory.Actor,
	entry string) (*stm.Tx, error) {
	if len(changed) == 0 {
		return nil, nil
	}
	raw, err := core.Encode(seen)
	if err != nil {
		return nil, err
	}
	now := core.StampTime(e.Opt.Now())
	err = e.Pending.Put(PendingWrite{Memory: m.ID, What: UpdateNote, Path: path, Fields: changed, By: by, Entry: entry,
		Since: now, Next: now})
	if err != nil || SameSeen(seen, m.NoteSeen, changed) {
		return nil, err
	}
	return &stm.Tx{Verb: core.NoteVerb, By: by, Entry: entry,
		Changes: []stm.Change{{ID: m.ID, Set: map[string]json.RawMessage{"note_seen": raw}}}}, nil
}

package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// editedNote brings an edit of a memory to its note before it goes to the log, and adds
// to set what the note says then. What is not the text may wait: the reason is returned,
// and the log has it at once. A note of the archive folder keeps the text that was
// archived until that is archived again.
func (e *Engine) editedNote(ctx context.Context, m *memory.Memory, set map[string]json.RawMessage, by memory.Actor) (*op.PendingWrite, error) {
	changed := inNote(changedFields(set))
	if m.PromotedTo == "" {
		changed = without(changed, contentField)
	}
	if homeOf(m) == "" || len(changed) == 0 {
		return nil, nil
	}
	if err := e.permits(m, set); err != nil {
		return nil, err
	}
	text := slices.Contains(changed, contentField)
	if e.notes == nil {
		if text && m.NoteGone.IsZero() {
			return nil, memory.Errorf(memory.Conflict, "the text of memory %s is that of the note %q, in a vault that this emberd does not have; edit the note", m.ID, homeOf(m))
		}
		return nil, nil
	}
	note, err := e.noteOf(ctx, m)
	switch {
	case err != nil && text:
		return nil, err
	case err != nil:
		return e.queueFields(m, homeOf(m), changed, by, vault.Result{Reason: vault.Reason(err.Error())})
	case note == nil:
		return e.withoutNote(m, changed, by)
	}
	now := fingerprints(note.Carried)
	if !sameSeen(now, m.NoteSeen, changed) {
		return nil, memory.Errorf(memory.Conflict, "somebody edited the note %q of memory %s, and emberd takes that over within a minute or two; read the memory again then", note.Path, m.ID)
	}
	after, err := with(m, set)
	if err != nil {
		return nil, err
	}
	res, err := e.writeNote(ctx, note, noteEdit(after, changed, note.Carried.Body))
	switch {
	case err != nil:
		return nil, diskError(note.Path, err)
	case res.Outcome == vault.Written:
		return nil, e.noteSaid(ctx, m, note.Path, changed, set)
	case res.Outcome == vault.Later && text:
		return nil, memory.Errorf(memory.Busy, "the text of memory %s is that of the note %q, which is not written now: %s", m.ID, note.Path, laterText(&res, e.opt.Now()))
	case text || res.Outcome == vault.Conflict:
		return nil, notWritten(note.Path, res.Reason, "")
	}
	return e.queueFields(m, note.Path, changed, by, res)
}

// noteAway is why something waits that is to be written to a note.
const noteAway vault.Reason = "it is not at its path; it may have been renamed, or be on its way from another device"

// withoutNote is for a memory whose note is not to be found. While nobody can look for
// it, its text stays as it is.
func (e *Engine) withoutNote(m *memory.Memory, changed []string, by memory.Actor) (*op.PendingWrite, error) {
	if e.parted(m) {
		return nil, nil
	}
	res, looked := vault.Result{Reason: noteAway}, false
	switch {
	case !e.notes.vault.Load().Current():
		res.Reason = vault.VaultReplaced
	case !e.notes.complete.Load():
		res.Reason = "the notes are still being read for the first time"
	default:
		looked = true
	}
	if slices.Contains(changed, contentField) && !looked {
		return nil, memory.Errorf(memory.Busy, "the text of memory %s is that of the note %q, which cannot be looked for now: %s", m.ID, homeOf(m), res.Reason)
	}
	return e.queueFields(m, homeOf(m), changed, by, res)
}

// parted reports whether a memory of which no note was found has none any more: its
// note was deleted, or does not carry the id.
func (e *Engine) parted(m *memory.Memory) bool {
	return !m.NoteGone.IsZero() || e.notes.complete.Load() && !absent(e.notes.vault.Load(), homeOf(m))
}

// with is the memory as it is with some fields set.
func with(m *memory.Memory, set map[string]json.RawMessage) (*memory.Memory, error) {
	all, err := fields(m)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, set)
	raw, err := encode(all)
	if err != nil {
		return nil, err
	}
	after := memory.Memory{ID: m.ID}
	return &after, json.Unmarshal(raw, &after)
}

func (e *Engine) writeNote(ctx context.Context, note *vault.Note, edit vault.Edit) (vault.Result, error) {
	res, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.Update(ctx, note.Path, edit) })
	if res.Outcome == vault.Written && res.Backup != "" {
		e.writing.replaced(note.Path, fingerprints(note.Carried))
	}
	return res, err
}

// noteSaid indexes a note that was written and puts into set what it says now.
func (e *Engine) noteSaid(ctx context.Context, m *memory.Memory, path string, changed []string, set map[string]json.RawMessage) error {
	e.indexNote(ctx, path)
	note, err := e.notes.vault.Load().Read(ctx, path)
	if err != nil || !carries(note, m.ID) {
		return nil // it is taken over when it can be read
	}
	after, err := with(m, set)
	if err != nil {
		return err
	}
	said := agreed(after, note.Carried) // somebody may have saved it since
	if sameSeen(said, m.NoteSeen, changed) {
		return nil
	}
	set["note_seen"], err = encode(renewed(m.NoteSeen, said, changed))
	return err
}

// queueFields has fields of a memory written to its note later.
func (e *Engine) queueFields(m *memory.Memory, path string, changed []string, by memory.Actor, res vault.Result) (*op.PendingWrite, error) {
	w := e.laterWrite(m.ID, updateNote, path, by, string(res.Reason))
	w.Fields = changed
	if res.Until.After(w.Next) {
		w.Next = stampTime(res.Until)
	}
	if err := e.pending.put(w); err != nil {
		return nil, err
	}
	e.writing.nudge()
	shown := w.shown()
	return &shown, nil
}

// carryOut makes a change that waited, or puts it off again.
func (e *Engine) carryOut(ctx context.Context, w pendingWrite) {
	res, err := vault.Result{}, error(nil)
	if w.What == createNote {
		var done *op.PromoteResult
		if done, err = e.promoteMemory(ctx, promotion{id: w.Memory, by: w.By, force: true}); err == nil && done.Outcome == op.PromotionPending {
			res = vault.Result{Reason: vault.Reason(done.Reason), Until: done.Until}
		}
	} else {
		res, err = e.updateNote(ctx, w)
	}
	switch {
	case ctx.Err() != nil:
		return
	case memory.CodeOf(err) == memory.NotFound:
		e.opt.Logger.Info("a note is not written, for its memory is gone", "memory", w.Memory, "what", w.What)
		err = e.pending.drop(w.Memory)
	case err != nil:
		err = e.pending.postpone(w.Memory, err.Error(), e.opt.Now(), res.Until)
	case res.Reason != "":
		err = e.pending.postpone(w.Memory, string(res.Reason), e.opt.Now(), res.Until)
	default:
		e.opt.Logger.Info("a note that had to wait was written", "memory", w.Memory, "what", w.What)
	}
	e.chores.settle("list of notes to write", err)
}

// updateNote writes fields that wait to the note, unless the human has changed them
// there since: then the note's count. A result without a reason is the end of it.
func (e *Engine) updateNote(ctx context.Context, w pendingWrite) (res vault.Result, err error) {
	_, err = e.stm.Update(ctx, []memory.ID{w.Memory}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, e.missing(w.Memory)
		}
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		note, err := e.noteOf(ctx, &m)
		if err != nil {
			return nil, err
		}
		if note == nil {
			if res.Reason = cmp.Or(vault.Reason(e.notYet(&m)), noteAway); e.parted(&m) {
				res.Reason = ""
				e.opt.Logger.Info("fields are not written to a note, for it is gone or does not carry the id", "memory", m.ID)
				return nil, e.pending.drop(m.ID)
			}
			return nil, nil
		}
		return e.updateFields(ctx, w, &m, note, &res)
	})
	return res, err
}

func (e *Engine) updateFields(ctx context.Context, w pendingWrite, m *memory.Memory, note *vault.Note, res *vault.Result) (*stm.Tx, error) {
	now, waiting := fingerprints(note.Carried), e.pending.fields(m.ID)
	left := slices.DeleteFunc(slices.Clone(waiting), func(field string) bool {
		return !sameSeen(now, m.NoteSeen, []string{field})
	})
	set := map[string]json.RawMessage{}
	if len(left) > 0 {
		got, err := e.writeNote(ctx, note, noteEdit(m, left, note.Carried.Body))
		if err != nil {
			return nil, diskError(note.Path, err)
		}
		if *res = got; got.Outcome != vault.Written {
			return nil, nil
		}
		if err := e.noteSaid(ctx, m, note.Path, left, set); err != nil {
			return nil, err
		}
	}
	if err := e.pending.drop(m.ID); err != nil {
		return nil, err
	}
	if len(left) < len(waiting) {
		e.opt.Logger.Info("not all fields that waited are written to a note, for some were changed there", "memory", m.ID, "written", strings.Join(left, " "))
		e.indexNote(ctx, note.Path)
	}
	if seen, err := encode(m.NoteSeen); err != nil || len(set) == 0 || string(seen) == string(set["note_seen"]) {
		return nil, err
	}
	return &stm.Tx{Verb: noteVerb, By: vaultActor(), Entry: w.Entry, Changes: []stm.Change{{ID: m.ID, Set: set}}}, nil
}

// writeAgain puts fields back into a note that a late save has taken them out of: those
// of which it says what it said before they were written.
func (e *Engine) writeAgain(ctx context.Context, path string, said map[string]string) error {
	note, err := e.notes.vault.Load().Read(ctx, path)
	if err != nil || note.Carried == nil {
		return err
	}
	id, err := memory.ParseID(note.MemoryID)
	if err != nil {
		return err
	}
	_, err = e.stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		now, lost := fingerprints(note.Carried), []string{}
		for field, print := range said {
			if now[field] == print && m.NoteSeen[field] != print {
				lost = append(lost, field)
			}
		}
		slices.Sort(lost)
		return e.requeue(&m, path, lost, renewed(m.NoteSeen, now, lost), vaultActor(), "")
	})
	return err
}

// requeue has fields written to the note although the log has them already, and
// remembers what the note says of them meanwhile, so that it is not taken for newer.
func (e *Engine) requeue(m *memory.Memory, path string, changed []string, seen map[string]string, by memory.Actor, entry string) (*stm.Tx, error) {
	if len(changed) == 0 {
		return nil, nil
	}
	raw, err := encode(seen)
	if err != nil {
		return nil, err
	}
	now := stampTime(e.opt.Now())
	err = e.pending.put(pendingWrite{Memory: m.ID, What: updateNote, Path: path, Fields: changed, By: by, Entry: entry, Since: now, Next: now})
	if err != nil || sameSeen(seen, m.NoteSeen, changed) {
		return nil, err
	}
	return &stm.Tx{Verb: noteVerb, By: by, Entry: entry, Changes: []stm.Change{{ID: m.ID, Set: map[string]json.RawMessage{"note_seen": raw}}}}, nil
}

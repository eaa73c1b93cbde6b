package promote

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/noteedit"
)

// EditedNote queues the write of an edit to the note of a memory, if it has one, and reports whether it
// did. The caller holds the memory's lock, then writes the edit to the log, and calls FollowEdit when that
// is done: the queue is on disk before the log, so that a crash in between loses no write. A note in the
// archive folder keeps the archived text until the next archiving.
func (e *Promote) EditedNote(m *memory.Memory, set map[string]json.RawMessage, by memory.Actor) (bool, error) {
	changed := InNote(m, core.ChangedFields(set))
	if m.PromotedTo == "" {
		changed = notes.Without(changed, core.ContentField)
	}
	path := core.NotePath(m)
	if path == "" || len(changed) == 0 || !m.NoteGone.IsZero() {
		return false, nil
	}
	if err := e.CheckFields(m, set); err != nil {
		return false, err
	}
	if e.Notes.Vault == nil { // a device with the vault finds its note behind the log, and writes it
		return false, nil
	}
	w := newPendingWrite(e, m.ID, UpdateNote, path, by, "")
	w.Fields = changed
	return true, e.Pending.Put(w)
}

// FollowEdit makes the queued write of a memory's note now, if the note may be written, and returns the
// write if it has to wait. It never fails: what is not written stays in the queue. Without a vault there is none.
// The caller holds no lock.
func (e *Promote) FollowEdit(ctx context.Context, id memory.ID) *op.PendingWrite {
	if e.Writing == nil {
		return nil
	}
	w, queued := e.Pending.of(id)
	if queued && w.What == UpdateNote {
		res, err := e.updateNote(ctx, id)
		e.ended(ctx, w, res, err, e.Pending.hold)
		flushPending(e)
	}
	e.Writing.Nudge()
	if w, queued = e.Pending.of(id); !queued {
		return nil
	}
	shown := w.Shown()
	return &shown
}

// hasNoNote reports whether a memory has no note any more: it was deleted, or has lost the ID.
func (e *Promote) hasNoNote(m *memory.Memory) bool {
	return !m.NoteGone.IsZero() || e.Notes.Vault.Complete.Load() &&
		!notes.Absent(e.Notes.Vault.Root.Load(), core.NotePath(m))
}

// whyNoNote returns why the note of a memory, which was not found, may still be there.
func (e *Promote) whyNoNote(ctx context.Context, m *memory.Memory) vault.Reason {
	if err := e.errIfClaimed(ctx, m); err != nil {
		return vault.Reason(err.Error())
	}
	return cmp.Or(vault.Reason(e.tooEarly(m)), notes.NoteAway)
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

// WriteNote writes an edit to a note.
func (e *Promote) WriteNote(ctx context.Context, note *vault.Note, edit noteedit.Edit) (vault.Result, error) {
	return e.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		res, err := w.Update(ctx, note.Path, edit)
		if res.Outcome == vault.Written && res.Backup != "" {
			e.Writing.Wrote[note.Path] = notes.Fingerprints(note.Carried) // before a check can find a late save
		}
		return res, err
	})
}

// recordWritten indexes a written note and returns the fingerprints of its fields, as far as they are known: note
// sync records the others later.
func (e *Promote) recordWritten(ctx context.Context, m *memory.Memory, path string,
	changed []string) map[string]string {
	e.IndexNote(ctx, path)
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	if err != nil || !Carries(note, m.ID) {
		return m.NoteSeen
	}
	said := notes.Agreed(m, note.Carried) // the user may have saved it since
	return Renewed(m.NoteSeen, said, changed)
}

// RetryWrite tries the queued write of a memory's note now: the note was found at another path.
func (e *Promote) RetryWrite(id memory.ID) error {
	err := e.Pending.hasten(id, e.Opt.Now())
	e.Writing.Nudge()
	return err
}

// tryWrite tries one queued write and removes or postpones it.
func (e *Promote) tryWrite(ctx context.Context, w PendingWrite) {
	res, err := vault.Result{}, error(nil)
	switch w.What {
	case CreateNote:
		var done *op.PromoteResult
		if done, err = e.PromoteMemory(ctx, Promotion{ID: w.Memory, By: w.By, Force: true}); err == nil &&
			done.Outcome == op.PromotionPending {
			res = vault.Result{Reason: vault.Reason(done.Reason), Until: done.Until}
		}
	default:
		res, err = e.updateNote(ctx, w.Memory)
	}
	wait := e.Pending.postpone
	if res.Reason == vault.NotQuiet || res.Reason == vault.RecentlyOurs { // these end by themselves, at a known time
		wait = e.Pending.hold
	}
	e.ended(ctx, w, res, err, wait)
}

// flushPending writes the queue after tries. Status reports a failure, and the next change tries again.
func flushPending(e *Promote) {
	e.Chores.Settle("update of the list of unwritten notes", e.Pending.Flush())
}

// ended removes a write that was tried from the queue, or has wait keep it there. A result without a reason
// is final.
func (e *Promote) ended(ctx context.Context, w PendingWrite, res vault.Result, err error,
	wait func(id memory.ID, reason string, now, until time.Time)) {
	switch {
	case ctx.Err() != nil:
		return
	case memory.CodeOf(err) == memory.NotFound:
		e.Opt.Logger.Info("note not written, because its memory was deleted", "memory", w.Memory, "what", w.What)
		e.Pending.made(w.Memory)
	case err != nil:
		wait(w.Memory, err.Error(), e.Opt.Now(), res.Until)
	case res.Reason != "":
		wait(w.Memory, string(res.Reason), e.Opt.Now(), res.Until)
	case w.Tries > 0 || w.Reason != "":
		e.Opt.Logger.Info("wrote a note after a delay", "memory", w.Memory, "what", w.What)
	}
}

// updateNote writes the queued fields of a memory to its note, except those that the user has changed there
// since.
func (e *Promote) updateNote(ctx context.Context, id memory.ID) (res vault.Result, err error) {
	_, err = e.Stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, e.Missing(id)
		}
		u := noteUpdate{e: e, row: rows[0], res: &res}
		return u.tx(ctx)
	})
	return res, err
}

// noteUpdate writes the queued fields of one memory, whose lock is held, to its note.
type noteUpdate struct {
	e   *Promote
	row *stm.Row
	res *vault.Result // of the write; a reason says why it waits
}

// tx returns the change of the memory that follows from the write, nil for none.
func (u *noteUpdate) tx(ctx context.Context) (*stm.Tx, error) {
	m, err := u.row.Memory()
	if err != nil {
		return nil, err
	}
	if !u.e.Notes.Vault.Root.Load().Current() {
		u.res.Reason = vault.VaultReplaced
		return nil, nil
	}
	note, err := u.e.NoteOf(ctx, &m)
	switch {
	case err != nil:
		return nil, err
	case note == nil && u.e.hasNoNote(&m):
		u.e.Opt.Logger.Info("fields not written to a note, because the note is missing or no longer contains the ID",
			"memory", m.ID)
		u.e.Pending.made(m.ID)
		return nil, nil
	case note == nil:
		u.res.Reason = u.e.whyNoNote(ctx, &m)
		return nil, nil
	}
	now, waiting := notes.Fingerprints(note.Carried), u.e.Pending.Fields(m.ID)
	left := slices.DeleteFunc(slices.Clone(waiting), func(field string) bool {
		return !SameSeen(now, m.NoteSeen, []string{field})
	})
	if slices.Contains(waiting, core.ContentField) && !slices.Contains(left, core.ContentField) {
		own, err := u.e.IsOwnText(ctx, &m, note)
		if err != nil {
			return nil, err
		}
		if own {
			left = append(left, core.ContentField)
		}
	}
	return u.write(ctx, &m, note, left)
}

// write writes the fields in left to the note, removes all from the queue, and returns the change that records
// what the note has then. Fields that the user has changed in the note are left to note sync, which merges or
// applies them.
func (u *noteUpdate) write(ctx context.Context, m *memory.Memory, note *vault.Note, left []string) (*stm.Tx, error) {
	edited := slices.DeleteFunc(slices.Clone(u.e.Pending.Fields(m.ID)),
		func(field string) bool { return slices.Contains(left, field) })
	seen := m.NoteSeen
	if len(left) > 0 {
		got, err := u.e.WriteNote(ctx, note, NoteEdit(m, left, note.Carried.Body))
		if err != nil {
			return nil, DiskError(note.Path, err)
		}
		if *u.res = got; got.Outcome != vault.Written {
			// A copy of the note may be what keeps it from being written, and that is looked after when the memory
			// has what the user changed.
			if err = u.e.Pending.Leave(m.ID, edited); err != nil {
				return nil, err
			}
			return u.leave(ctx, m, note, edited, seen)
		}
		seen = u.e.recordWritten(ctx, m, note.Path, left)
	}
	u.e.Pending.made(m.ID)
	if len(edited) > 0 {
		u.e.Opt.Logger.Info("some delayed fields not written to a note, because the note has newer values", "memory",
			m.ID, "written", strings.Join(left, " "))
	}
	return u.leave(ctx, m, note, edited, seen)
}

// leave leaves the fields that the user has changed in a note to note sync, and returns the change that records
// what was read in the note.
func (u *noteUpdate) leave(ctx context.Context, m *memory.Memory, note *vault.Note, edited []string,
	seen map[string]string) (*stm.Tx, error) {
	if len(edited) > 0 {
		seen = withEdited(seen, edited)
		u.e.IndexNote(ctx, note.Path)
	}
	if maps.Equal(seen, m.NoteSeen) {
		return nil, nil
	}
	raw, err := core.Encode(seen)
	return &stm.Tx{Verb: core.NoteVerb, By: core.VaultActor(),
		Changes: []stm.Change{{ID: m.ID, Set: map[string]json.RawMessage{"note_seen": raw}}}}, err
}

// fieldEdited is in place of the fingerprint of a field that the user changed in the note while a write waited:
// what the note says then is the user's, also if it is what it said before.
const fieldEdited = "edited"

// withEdited returns fingerprints in which the given fields are edited by the user, apart from the text, whose
// fingerprint finds the text from which both sides were edited.
func withEdited(seen map[string]string, edited []string) map[string]string {
	edited = notes.Without(slices.Clone(edited), core.ContentField)
	marks := make(map[string]string, len(edited))
	for _, field := range edited {
		marks[field] = fieldEdited
	}
	return Renewed(seen, marks, edited)
}

// SeenWithText returns the fingerprints of a memory's note of which the text is known by now, and whose stage in
// the log changes. If the user has changed the stage in the note, the next one there is the user's, too.
func SeenWithText(m *memory.Memory, c *vault.Carried) map[string]string {
	now := notes.Fingerprints(c)
	seen := Renewed(m.NoteSeen, now, []string{core.ContentField})
	if before := seen[stageKey]; before != "" && before != now[stageKey] {
		seen = withEdited(seen, []string{stageKey})
	}
	return seen
}

// writeAgain writes fields to a note again that a late save has reverted to the values before
// the write, which said has. A text that the user changed from that one is merged.
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
			if m.NoteSeen[field] != print && (now[field] == print || field == core.ContentField) {
				lost = append(lost, field)
			}
		}
		slices.Sort(lost)
		return e.Requeue(&m, path, lost, Renewed(m.NoteSeen, said, lost), core.VaultActor(), "")
	})
	return err
}

// NoteUpdate returns the write of fields that the log has already to a note.
func (e *Promote) NoteUpdate(id memory.ID, path string, changed []string, by memory.Actor,
	entry string) PendingWrite {
	now := core.StampTime(e.Opt.Now())
	return PendingWrite{Memory: id, What: UpdateNote, Path: path, Fields: changed, By: by, Entry: entry, Since: now,
		Next: now}
}

// Requeue queues fields for the note that the log has already. It records the note's current
// values, so that note sync does not take them as newer.
func (e *Promote) Requeue(m *memory.Memory, path string, changed []string, seen map[string]string, by memory.Actor,
	entry string) (*stm.Tx, error) {
	if len(changed) == 0 {
		return nil, nil
	}
	set, err := Reread(m, changed, seen)
	if err == nil {
		err = e.Pending.Put(e.NoteUpdate(m.ID, path, changed, by, entry))
	}
	if err != nil || set == nil {
		return nil, err
	}
	return &stm.Tx{Verb: core.NoteVerb, By: by, Entry: entry, Changes: []stm.Change{{ID: m.ID, Set: set}}}, nil
}

// Reread returns the change of a memory in whose note other values were read, nil if they are the same.
func Reread(m *memory.Memory, changed []string, seen map[string]string) (map[string]json.RawMessage, error) {
	if SameSeen(seen, m.NoteSeen, changed) {
		return nil, nil
	}
	raw, err := core.Encode(seen)
	return map[string]json.RawMessage{"note_seen": raw}, err
}

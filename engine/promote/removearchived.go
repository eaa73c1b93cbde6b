package promote

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// QueueRemovals queues the removal of the notes at paths, which an undone archiving made. It is called before the
// undo is in the log, so that a crash between the two leaves no note behind.
func (e *Promote) QueueRemovals(paths map[memory.ID]string, by memory.Actor) error {
	if len(paths) == 0 {
		return nil
	}
	return e.Pending.change(func(all []PendingWrite) ([]PendingWrite, bool) {
		for id, path := range paths {
			w := newPendingWrite(e, id, RemoveNote, path, by, "")
			if i := At(all, id); i >= 0 {
				all[i] = w
			} else {
				all = append(all, w)
			}
		}
		return all, true
	})
}

// RemoveQueued tries the queued removals of some memories now. Those that cannot be done yet stay queued.
func (e *Promote) RemoveQueued(ctx context.Context, paths map[memory.ID]string) {
	if len(paths) == 0 {
		return
	}
	var done []memory.ID
	for id, path := range paths {
		res, err := e.removeArchived(ctx, id, path)
		if err == nil && res.Reason == "" {
			done = append(done, id)
			continue
		}
		if w, queued := e.Pending.of(id); queued && w.What == RemoveNote {
			e.ended(ctx, w, res, err, e.Pending.postpone)
		}
	}
	e.Pending.removed(done)
	flushPending(e)
	e.Writing.Nudge()
}

// removed takes the removals of some memories from the queue.
func (p *PendingWrites) removed(ids []memory.ID) {
	p.tried(func(all []PendingWrite) ([]PendingWrite, bool) {
		done := make(map[memory.ID]bool, len(ids))
		for _, id := range ids {
			done[id] = true
		}
		rest := slices.DeleteFunc(slices.Clone(all),
			func(w PendingWrite) bool { return w.What == RemoveNote && done[w.Memory] })
		return rest, len(rest) < len(all)
	})
}

// removeArchived removes the note at path of a memory that has its text in the log again, unless the memory has
// another note, was archived anew, or a user edited it. A result with a reason says why that waits.
func (e *Promote) removeArchived(ctx context.Context, id memory.ID, path string) (res vault.Result, err error) {
	_, err = e.Stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil || rows[0].Stage().Cold() {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil || core.NotePath(&m) != "" && (core.NotePath(&m) != path || m.PromotedTo != "") {
			return nil, err
		}
		res, err = e.removeAsMade(ctx, &m, path)
		if err != nil || res.Outcome != vault.Written || m.VaultPath == "" {
			return nil, err
		}
		return e.withoutNote(&m)
	})
	if err == nil && res.Outcome == vault.Written {
		e.noteRemoved(ctx, path)
	}
	if res.Outcome == vault.Conflict || res.Outcome == vault.Refused {
		res.Reason = "" // it is not as emberd made it by now, and stays
	}
	return res, err
}

// removeAsMade removes the note of a memory whose lock is held if it is to the byte what archiving makes.
func (e *Promote) removeAsMade(ctx context.Context, m *memory.Memory, path string) (vault.Result, error) {
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return vault.Result{}, nil
	}
	if err != nil {
		return vault.Result{}, err
	}
	if !isArchived(m, []byte(note.Text)) {
		return vault.Result{Outcome: vault.Conflict}, nil
	}
	return e.Writing.Do(func(w *vault.Writer) (vault.Result, error) { return w.Remove(ctx, path, note.Digest) })
}

// withoutNote returns the change after which a memory has no note.
func (e *Promote) withoutNote(m *memory.Memory) (*stm.Tx, error) {
	set := map[string]json.RawMessage{"vault_path": json.RawMessage("null"), "note_seen": json.RawMessage("null")}
	return &stm.Tx{Verb: core.GoneVerb, By: core.VaultActor(),
		Changes: []stm.Change{{ID: m.ID, Set: set, Allowed: true}}}, nil
}

// ArchiveBytes returns the note that archiving makes of a memory.
func ArchiveBytes(m *memory.Memory) []byte {
	whole := *m
	whole.Stage = memory.Active
	return NoteBytes(&whole)
}

// isArchived reports whether a note is what archiving makes of a memory, as IsMade does.
func isArchived(m *memory.Memory, note []byte) bool {
	whole := *m
	whole.Stage = memory.Active
	return IsMade(&whole, note)
}

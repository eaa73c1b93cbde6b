package engine

import (
	"context"
	"crypto/sha256"
	"slices"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// undoneNote is the note of a memory that an undo changes.
type undoneNote struct {
	note   *vault.Note
	before memory.Memory
	remove bool // it came with the entry
	verb   string
}

// notesToUndo looks, before an entry is undone, at the notes of the memories that will
// be changed. One that somebody edited cannot follow, and then nothing is undone; but
// what a memory was before it was archived or brought back is in the log, whatever its
// note is.
func (e *Engine) notesToUndo(ctx context.Context, would stm.Undone) ([]undoneNote, error) {
	var all []undoneNote
	for _, item := range would.Items {
		row, live := e.stm.Get(item.ID)
		if item.Action != stm.Reverted || !live {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			return nil, err
		}
		aged := ages(item.Verb)
		if homeOf(&m) == "" {
			continue
		}
		note, err := e.noteOf(ctx, &m)
		if err != nil && !aged && !m.Stage.Cold() {
			return nil, err
		}
		if note == nil || aged && note.Carried.Fields["stage"] == "" {
			continue
		}
		u := undoneNote{note: note, before: m, remove: item.Verb == promoteVerb && !m.Stage.Cold(), verb: item.Verb}
		if err := e.canFollow(ctx, &u); err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// ages reports whether a journal entry of that verb is about the stages of memories.
func ages(verb string) bool {
	return slices.Contains([]string{demoteVerb, archiveVerb, fadeVerb, wakeVerb, rekindleVerb, gcVerb, mendVerb, consolidateVerb}, verb)
}

// follows returns those of the fields that the note tells again. Of an entry about the
// stage it is that alone, and a text that was archived is none of them.
func (u *undoneNote) follows(fields []string) []string {
	return slices.DeleteFunc(inNote(fields), func(field string) bool {
		return ages(u.verb) && field != "stage" || field == contentField && (shortened(&u.before) || u.before.PromotedTo == "")
	})
}

// canFollow refuses a note that would not come along.
func (e *Engine) canFollow(ctx context.Context, u *undoneNote) error {
	if ages(u.verb) {
		return nil
	}
	if !u.remove {
		if !sameSeen(fingerprints(u.note.Carried), u.before.NoteSeen, u.follows(noteFields())) {
			return memory.Errorf(memory.Conflict, "somebody edited the note %q of memory %s, so that nothing was undone; edit the note, or undo again in a minute or two", u.note.Path, u.before.ID)
		}
		return nil
	}
	digest := sha256.Sum256(noteBytes(&u.before, relatedIn(u.note)...))
	res, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.CanRemove(ctx, u.note.Path, digest) })
	switch {
	case err != nil:
		return diskError(u.note.Path, err)
	case res.Outcome == vault.Conflict:
		return memory.Errorf(memory.Conflict, "the note %q is not any more as emberd made it, so that it stays and the memory its; to part them take the property memory-id out of the note and undo again", u.note.Path)
	case res.Outcome == vault.Later:
		return memory.Errorf(memory.Busy, "the note %q cannot be taken back now: %s", u.note.Path, laterText(&res, e.opt.Now()))
	case res.Outcome != vault.Written:
		return memory.Errorf(memory.Conflict, "the note %q cannot be taken back: %s", u.note.Path, res.Reason)
	}
	return nil
}

// undoNotes has the notes follow an undo that is in the log, and tells in the items
// where that failed.
func (e *Engine) undoNotes(ctx context.Context, all []undoneNote, res *op.UndoResult) {
	for _, u := range all {
		follow := e.followUndo
		if u.remove {
			follow = e.removeUndone
		}
		if err := follow(ctx, &u, res.Tx); err != nil {
			i := slices.IndexFunc(res.Items, func(item op.UndoItem) bool { return item.ID == u.before.ID })
			res.Items[i].Reason = err.Error()
		}
	}
	e.writing.nudge()
}

// removeUndone takes a note out of the vault that came with the undone promotion. The
// log is first: a crash in between leaves a note that carries the id, and not a memory
// whose note was deleted.
func (e *Engine) removeUndone(ctx context.Context, u *undoneNote, _ string) error {
	res, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.Remove(ctx, u.note.Path, u.note.Digest) })
	if err != nil {
		return diskError(u.note.Path, err)
	}
	if res.Outcome != vault.Written {
		return memory.Errorf(memory.Conflict, "its note %q is still there: %s", u.note.Path, res.Reason)
	}
	e.indexNote(ctx, u.note.Path)
	if err := e.pending.drop(u.before.ID); err != nil {
		return err
	}
	// The note that was promoted may be the one of the archive, which is gone with it.
	return e.change(ctx, u.before.ID, goneVerb, vaultActor(), func(_ *stm.Row, m *memory.Memory) bool {
		gone := m.VaultPath != "" && m.PromotedTo == "" && !shortened(m) && absent(e.notes.vault.Load(), m.VaultPath)
		if gone {
			m.VaultPath, m.NoteSeen = "", nil
		}
		return gone
	})
}

// followUndo has the fields that went back written to the note.
func (e *Engine) followUndo(ctx context.Context, u *undoneNote, entry string) error {
	_, err := e.stm.Update(ctx, []memory.ID{u.before.ID}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		before, err := fields(&u.before)
		if err != nil {
			return nil, err
		}
		after, err := fields(&m)
		if err != nil {
			return nil, err
		}
		changed := u.follows(changedFields(difference(before, after)))
		return e.requeue(&m, u.note.Path, changed, u.before.NoteSeen, vaultActor(), entry)
	})
	return err
}

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
	aged   bool // it is told of the stage alone
	verb   string
}

// notesToUndo looks, before an entry is undone, at the notes of the memories that will
// be changed. One that somebody edited cannot follow, and then nothing is undone; but
// what a memory was before it was archived or brought back is in the log, whatever its
// note is.
func (e *Engine) notesToUndo(ctx context.Context, would stm.Undone) ([]undoneNote, error) {
	var all []undoneNote
	staged := stagedBy(&would)
	for i, item := range would.Items {
		op.Report(ctx, i, 2*len(would.Items))
		row, live := e.stm.Get(item.ID)
		if item.Action != stm.Reverted || !live || besideNotes(item.Verb) {
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
		// An entry that archived, whatever it is called, wrote nothing that an undo follows.
		aged = aged || staged[item.ID] && note != nil && m.PromotedTo == "" && e.notes.inArchive(note.Path)
		if err != nil && !aged && !m.Stage.Cold() {
			return nil, err
		}
		if note == nil || aged && note.Carried.Fields["stage"] == "" {
			continue
		}
		u := undoneNote{note: note, before: m, remove: item.Verb == promoteVerb && !m.Stage.Cold(), aged: aged, verb: item.Verb}
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

// stagedBy are the memories whose stage an entry changed, by any of its lines.
func stagedBy(would *stm.Undone) map[memory.ID]bool {
	staged := make(map[memory.ID]bool)
	for _, item := range would.Items {
		if item.Stage {
			staged[item.ID] = true
		}
	}
	return staged
}

// besideNotes reports whether a line of that verb changes nothing that a note tells. A
// journal entry may have such lines beside others about the same memory.
func besideNotes(verb string) bool {
	return slices.Contains([]string{relateVerb, unrelateVerb, linkVerb, fileVerb, claimVerb, closeVerb}, verb)
}

// follows returns those of the fields that the note tells again. Of an entry about the
// stage it is that alone, and a text that was archived is none of them.
func (u *undoneNote) follows(fields []string) []string {
	return slices.DeleteFunc(inNote(fields), func(field string) bool {
		return u.aged && field != "stage" || field == contentField && (shortened(&u.before) || u.before.PromotedTo == "")
	})
}

// canFollow refuses a note that would not come along.
func (e *Engine) canFollow(ctx context.Context, u *undoneNote) error {
	if u.aged {
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
	for i, u := range all {
		op.Report(ctx, len(all)+i, 2*len(all))
		follow := e.followUndo
		switch {
		case e.leftArchive(&u) != "":
			follow = e.moveBack
		case u.remove:
			follow = e.removeUndone
		}
		if err := follow(ctx, &u, res.Tx); err != nil {
			i := slices.IndexFunc(res.Items, func(item op.UndoItem) bool { return item.ID == u.before.ID })
			res.Items[i].Reason = err.Error()
		}
	}
	e.writing.nudge()
}

// leftArchive is where the note lay that an undone promotion took out of the archive
// folder, "" if that is not how the memory came by it.
func (e *Engine) leftArchive(u *undoneNote) string {
	row, live := e.stm.Get(u.before.ID)
	if u.verb != promoteVerb || !live {
		return ""
	}
	m, err := row.Memory()
	if err != nil || m.PromotedTo != "" || !e.notes.inArchive(m.VaultPath) || !absent(e.notes.vault.Load(), m.VaultPath) {
		return ""
	}
	return m.VaultPath
}

// moveBack puts a note back into the archive folder, once the log says that it is there. A
// crash in between leaves a note that carries the id, so that the memory is promoted again.
func (e *Engine) moveBack(ctx context.Context, u *undoneNote, _ string) error {
	to := e.leftArchive(u)
	res, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.Move(ctx, u.note.Path, to) })
	if err != nil {
		return diskError(u.note.Path, err)
	}
	if res.Outcome != vault.Written {
		return memory.Errorf(memory.Conflict, "its note stays as %q: %s", u.note.Path, res.Reason)
	}
	e.indexNote(ctx, to)
	e.indexNote(ctx, u.note.Path)
	return nil
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

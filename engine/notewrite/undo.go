package notewrite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

func digestOf(note []byte) [sha256.Size]byte { return sha256.Sum256(note) }

// Entries returns the entries that the caller may see, newest first: with a grant, those made with its token.
func (e *NoteWrite) Entries() ([]notejournal.Entry, error) {
	if e.Notes.Vault == nil {
		return nil, nil
	}
	all, err := e.Journal.Entries()
	if err != nil || e.Grant == nil {
		return all, err
	}
	return slices.DeleteFunc(all, func(j notejournal.Entry) bool {
		return j.By.Token != e.Grant.Token || j.At.Before(e.Grant.Made)
	}), nil
}

// Newest returns the latest entry of a caller that stands and is no undo, "" if there is none.
func (e *NoteWrite) Newest() (tx string) {
	all, err := e.Entries()
	if err != nil {
		return ""
	}
	undone := notejournal.Undone(all)
	for _, j := range all {
		if j.Undoes == "" && !undone[j.Tx] && j.By.Via != stm.Itself {
			return j.Tx
		}
	}
	return ""
}

// Undo reverts an entry, note by note. A note that changed again since stays as it is and is listed.
func (e *NoteWrite) Undo(ctx context.Context, tx string, dry bool) (*op.UndoResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	all, err := e.Entries()
	if err != nil {
		return nil, e.errWrite("", err)
	}
	at := slices.IndexFunc(all, func(j notejournal.Entry) bool { return j.Tx == tx })
	switch {
	case at < 0:
		return nil, memory.Errorf(memory.NotFound,
			"change %s not found; you can undo a change of a note for %d days, on the device that made the change", tx,
			int(e.Opt.TrashKeep.Hours()/24)).At("tx")
	case notejournal.Undone(all)[tx]:
		return nil, memory.Errorf(memory.Invalid, "change %s was already undone", tx).At("tx")
	}
	j := &all[at]
	res := &op.UndoResult{Entry: Shown(j), DryRun: dry, Items: []op.UndoItem{}}
	if isOfLinks(all, j) {
		return res, e.undoAll(ctx, j, res)
	}
	for _, note := range j.Notes {
		if err := e.CheckPlace(note.Path); err != nil {
			return nil, err
		}
	}
	if j.Notes[0].From != "" {
		return res, e.undoMove(ctx, j, res)
	}
	return res, e.undoNote(ctx, j, res)
}

// Shown returns an entry as callers see it.
func Shown(j *notejournal.Entry) op.Entry {
	out := op.Entry{Tx: j.Tx, Verb: j.Verb, At: j.At, By: j.By}
	for _, note := range j.Notes {
		out.Notes = append(out.Notes, note.Path)
	}
	return out
}

// leftReason returns why an undo leaves a note.
func leftReason(got *vault.Result) string {
	switch got.Reason {
	case vault.Gone:
		return "the note was moved or deleted after the change, so emberd did not restore it"
	case vault.NameTaken:
		return "another note now has the name of the note; rename that note"
	}
	return "the note changed again later, so emberd did not change it; edit or delete the note in Obsidian"
}

// undoNote reverts the creation, the edit or the removal of one note.
func (e *NoteWrite) undoNote(ctx context.Context, j *notejournal.Entry, res *op.UndoResult) error {
	note := j.Notes[0]
	item := op.UndoItem{Path: note.Path, Action: stm.Reverted}
	var before []byte
	var err error
	if note.Before != "" {
		if before, err = e.Journal.Text(note.Before); err != nil {
			return errNotKept(j.Tx)
		}
	}
	switch {
	case note.Before == "":
		item.Action = stm.Removed
	case note.After == "":
		item.Action = stm.Restored
	}
	got, entry, err := e.revert(ctx, j, before, res.DryRun)
	switch {
	case err != nil:
		return e.errWrite(note.Path, err)
	case got.Outcome == vault.Conflict || got.Reason == vault.Gone || got.Reason == vault.NameTaken:
		item.Action, item.Reason = stm.Left, leftReason(&got)
	case got.Outcome != vault.Written:
		return e.errOutcome(note.Path, &got)
	case !res.DryRun:
		res.Tx = entry.Tx
		e.noteReverted(context.WithoutCancel(ctx), note.Path, item.Action)
	}
	res.Items = append(res.Items, item)
	return nil
}

// noteReverted takes the new state of a note in.
func (e *NoteWrite) noteReverted(ctx context.Context, name, action string) {
	if action == stm.Removed {
		_, w := e.Notes.Vault.Current()
		w.Removed(name)
	}
	e.Promote.IndexNote(ctx, name)
}

func errNotKept(tx string) error {
	return memory.Errorf(memory.NotFound, "cannot undo change %s, because emberd no longer has the earlier text",
		tx).At("tx")
}

// revert writes a note as it was before an entry, if it is as the entry left it.
func (e *NoteWrite) revert(ctx context.Context, j *notejournal.Entry, before []byte,
	dry bool) (got vault.Result, entry notejournal.Entry, err error) {
	note := j.Notes[0]
	undo := notejournal.Entry{Verb: stm.UndoVerb, By: op.CallerFrom(ctx), Undoes: j.Tx,
		Notes: []notejournal.Note{{Path: note.Path, After: note.Before}}}
	got, err = e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		now, got, err := vault.Reviser{Writer: w}.Current(ctx, note.Path)
		switch {
		case err != nil:
			return got, err
		case note.After == "":
			if got, err = w.CanCreate(note.Path, before); err != nil || got.Outcome != vault.Written {
				return got, err
			}
		case got.Outcome != vault.Written:
			return got, nil
		case notejournal.Digest(now) != note.After:
			return vault.Result{Outcome: vault.Conflict}, nil
		}
		if dry {
			return vault.Result{Outcome: vault.Written}, nil
		}
		if entry, err = e.Journal.Begin(undo, [][]byte{now}); err != nil {
			return vault.Result{}, err
		}
		return writeBack(ctx, w, &note, now, before)
	})
	if err == nil && got.Outcome != vault.Written && entry.Tx != "" {
		err = e.Journal.Drop(entry.Tx)
	}
	return got, entry, err
}

// writeBack gives a note the bytes from before.
func writeBack(ctx context.Context, w *vault.Writer, note *notejournal.Note, now, before []byte) (vault.Result, error) {
	switch {
	case note.Before == "":
		return vault.Reviser{Writer: w}.Withdraw(ctx, note.Path, digestOf(now))
	case note.After == "":
		return w.Create(ctx, note.Path, before)
	}
	return vault.Reviser{Writer: w}.Revise(ctx, note.Path, func(at []byte) ([]byte, error) {
		if !bytes.Equal(at, now) {
			return nil, errChanged(note.Path)
		}
		return before, nil
	})
}

// undoMove moves a note back. Links follow as with any move; a note that is as the entry left it gets the bytes
// that it had.
func (e *NoteWrite) undoMove(ctx context.Context, j *notejournal.Entry, res *op.UndoResult) error {
	moved := j.Notes[0]
	m, err := e.plan(ctx, moved.Path, moved.From)
	if memory.CodeOf(err) == memory.NotFound || memory.CodeOf(err) == memory.Conflict {
		res.Items = append(res.Items, op.UndoItem{Path: moved.Path, Action: stm.Left, Reason: err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	m.verb, m.undoes = stm.UndoVerb, j.Tx
	if err := e.exactly(ctx, j, m); err != nil {
		return err
	}
	for i, n := range m.notes {
		path := n.path
		if i == 0 {
			path = moved.From
		}
		res.Items = append(res.Items, op.UndoItem{Path: path, Action: stm.Reverted})
	}
	if res.DryRun {
		return nil
	}
	done, err := e.carryOut(ctx, m)
	if err != nil {
		return err
	}
	res.Tx = done.Tx
	for _, left := range done.Left {
		i := slices.IndexFunc(res.Items, func(item op.UndoItem) bool { return item.Path == left.Path })
		res.Items[i].Action, res.Items[i].Reason = stm.Left, left.Reason
	}
	return nil
}

// exactly has the notes that are as an entry left them get the bytes from before it.
func (e *NoteWrite) exactly(ctx context.Context, j *notejournal.Entry, m *move) error {
	for _, note := range j.Notes {
		before, err := e.Journal.Text(note.Before)
		if err != nil {
			return errNotKept(j.Tx)
		}
		i := slices.IndexFunc(m.notes, func(n relinked) bool { return n.path == note.Path })
		if i < 0 {
			now, err := e.current(ctx, note.Path)
			if err != nil {
				continue // links in it lead where they led
			}
			m.notes = append(m.notes, relinked{path: note.Path, before: now, after: now})
			i = len(m.notes) - 1
		}
		if n := &m.notes[i]; notejournal.Digest(n.before) == note.After {
			n.after, n.links = before, max(n.links, 1)
		}
	}
	m.notes = slices.DeleteFunc(m.notes, func(n relinked) bool {
		return n.path != m.from && bytes.Equal(n.before, n.after)
	})
	return nil
}

// Erase removes the texts from before changes in which drop finds what was purged. Their entries cannot be undone.
func (e *NoteWrite) Erase(drop func(note []byte) bool) error {
	if e.Notes.Vault == nil {
		return nil
	}
	return e.Journal.Erase(drop)
}

// hexDigest returns a digest as the journal has it.
func hexDigest(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

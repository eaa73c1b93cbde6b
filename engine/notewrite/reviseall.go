package notewrite

import (
	"bytes"
	"context"
	"errors"

	"emberd/engine/promote"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// LinkVerb is the journal verb of links that emberd writes into the notes of memories.
const LinkVerb = "note.link"

// A Revision is a note before and after a change.
type Revision struct {
	Path          string
	Before, After []byte
}

// ReviseAll changes notes as one change of the journal, which emberd makes unasked. A note that is no longer as
// Before says, or that cannot be written now, stays as it is; left has the reason of each, by its path. The notes may
// be those of memories, in any folder. tx is "" if nothing was written.
func (e *NoteWrite) ReviseAll(ctx context.Context, verb string, by memory.Actor,
	all []Revision) (tx string, left map[string]vault.Result, err error) {
	return e.reviseAll(ctx, &notejournal.Entry{Verb: verb, By: by}, all)
}

func (e *NoteWrite) reviseAll(ctx context.Context, entry *notejournal.Entry,
	all []Revision) (tx string, left map[string]vault.Result, err error) {
	left = make(map[string]vault.Result)
	if len(all) == 0 {
		return "", left, nil
	}
	var texts [][]byte
	for _, r := range all {
		entry.Notes = append(entry.Notes, notejournal.Note{Path: r.Path, After: notejournal.Digest(r.After)})
		texts = append(texts, r.Before)
	}
	made, err := e.Journal.Begin(*entry, texts)
	if err != nil {
		return "", left, e.errWrite(all[0].Path, err)
	}
	for i := range all {
		got, failed := reviseOne(ctx, e, &all[i])
		if err = failed; err != nil {
			break
		}
		if got.Outcome != vault.Written {
			left[all[i].Path] = got
		}
	}
	if err == nil && len(left) == len(all) {
		return "", left, e.Journal.Drop(made.Tx)
	}
	return made.Tx, left, err
}

// errMoved ends the write of a note that changed since it was read.
var errMoved = errors.New("the note has changed")

// reviseOne writes one note, unless it has changed.
func reviseOne(ctx context.Context, e *NoteWrite, r *Revision) (vault.Result, error) {
	got, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		return vault.Reviser{Writer: w}.Revise(ctx, r.Path, func(now []byte) ([]byte, error) {
			if !bytes.Equal(now, r.Before) {
				return nil, errMoved
			}
			return r.After, nil
		})
	})
	switch {
	case errors.Is(err, errMoved):
		return vault.Result{Outcome: vault.Conflict, Reason: vault.HumanChanged}, nil
	case err != nil:
		return got, e.errWrite(r.Path, err)
	}
	if got.Outcome == vault.Written {
		e.Promote.IndexNote(context.WithoutCancel(ctx), r.Path)
	}
	return got, nil
}

// undoAll reverts an entry of several notes, or of links, as one entry. It reverts nothing if a note cannot be
// written now.
func (e *NoteWrite) undoAll(ctx context.Context, j *notejournal.Entry, res *op.UndoResult) error {
	var all []Revision
	at := make(map[string]int)
	for _, note := range j.Notes {
		r, item, err := e.reverse(ctx, j, &note)
		if err != nil {
			return err
		}
		if at[note.Path] = len(res.Items); item.Action == stm.Reverted {
			all = append(all, *r)
		}
		res.Items = append(res.Items, item)
	}
	if res.DryRun {
		return nil
	}
	undo := notejournal.Entry{Verb: stm.UndoVerb, By: op.CallerFrom(ctx), Undoes: j.Tx}
	tx, left, err := e.reviseAll(ctx, &undo, all)
	for path, got := range left {
		item := &res.Items[at[path]]
		item.Action, item.Reason = stm.Left, leftReason(&got)
	}
	res.Tx = tx
	return err
}

// reverse returns how a note becomes what it was before an entry, and what becomes of it.
func (e *NoteWrite) reverse(ctx context.Context, j *notejournal.Entry, note *notejournal.Note) (*Revision, op.UndoItem,
	error) {
	item := op.UndoItem{Path: note.Path, Action: stm.Left}
	before, err := e.Journal.Text(note.Before)
	if err != nil {
		return nil, item, errNotKept(j.Tx)
	}
	now, err := e.current(ctx, note.Path)
	switch {
	case memory.CodeOf(err) == memory.NotFound:
		item.Reason = leftReason(&vault.Result{Reason: vault.Gone})
	case err != nil:
		return nil, item, err
	case notejournal.Digest(now) != note.After:
		item.Reason = leftReason(&vault.Result{Outcome: vault.Conflict})
	default:
		item.Action = stm.Reverted
	}
	return &Revision{Path: note.Path, Before: now, After: before}, item, nil
}

// isOfLinks reports whether an entry wrote links, or is an undo of one that did.
func isOfLinks(all []notejournal.Entry, j *notejournal.Entry) bool {
	for undone := true; undone; {
		undone = false
		for i := range all {
			if all[i].Tx == j.Undoes {
				j, undone = &all[i], true
				break
			}
		}
	}
	return j.Verb == LinkVerb
}

// Current reads a note that could be written now. Without text the result says why it could not.
func (e *NoteWrite) Current(ctx context.Context, path string) (now []byte, got vault.Result, err error) {
	got, err = e.Promote.Writing.Do(func(w *vault.Writer) (got vault.Result, err error) {
		now, got, err = vault.Reviser{Writer: w}.Current(ctx, path)
		return got, err
	})
	if err != nil {
		err = promote.DiskError(path, err)
	}
	return now, got, err
}

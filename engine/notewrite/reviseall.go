package notewrite

import (
	"context"
	"slices"

	"emberd/engine/promote"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// LinkVerb is the journal verb of links that emberd writes into the notes of memories.
const LinkVerb = "note.link"

// atOnce is how many notes are written together. Other writers of notes wait as long.
const atOnce = 256

// ReviseAll changes notes as one change of the journal, which emberd makes unasked. A note that is no longer as
// Before says, or that cannot be written now, stays as it is; left has the reason of each, by its path. The notes may
// be those of memories, in any folder. tx is "" if nothing was written.
func (e *NoteWrite) ReviseAll(ctx context.Context, verb string, by memory.Actor,
	all []vault.Revision) (tx string, left map[string]vault.Result, err error) {
	return e.reviseAll(ctx, &notejournal.Entry{Verb: verb, By: by}, all)
}

func (e *NoteWrite) reviseAll(ctx context.Context, entry *notejournal.Entry,
	all []vault.Revision) (tx string, left map[string]vault.Result, err error) {
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
	for some := range slices.Chunk(all, atOnce) {
		if err = reviseSome(ctx, e, some, left); err != nil {
			break
		}
	}
	if err == nil && len(left) == len(all) {
		return "", left, e.Journal.Drop(made.Tx)
	}
	return made.Tx, left, err
}

// reviseSome writes notes together and adds those that stay to left. After an error these include the ones that were
// not written.
func reviseSome(ctx context.Context, e *NoteWrite, some []vault.Revision, left map[string]vault.Result) error {
	var out []vault.Result
	away, err := e.Promote.Writing.Do(func(w *vault.Writer) (got vault.Result, err error) {
		out, err = vault.Reviser{Writer: w}.ReviseAll(ctx, some)
		return got, err
	})
	var written []string
	for i, r := range some {
		got := away
		if out != nil {
			got = out[i]
		}
		if got.Outcome == vault.Written {
			written = append(written, r.Path)
		} else {
			left[r.Path] = got
		}
	}
	if len(written) > 0 {
		e.Promote.IndexNote(context.WithoutCancel(ctx), written...)
	}
	return e.errWrite(some[0].Path, err)
}

// undoAll reverts an entry of several notes, or of links, as one entry. It reverts nothing if a note cannot be
// written now.
func (e *NoteWrite) undoAll(ctx context.Context, j *notejournal.Entry, res *op.UndoResult) error {
	var paths []string
	for _, note := range j.Notes {
		paths = append(paths, note.Path)
	}
	now, got, err := e.CurrentAll(ctx, paths)
	if err != nil {
		return err
	}
	var all []vault.Revision
	at := make(map[string]int)
	for i, note := range j.Notes {
		before, err := e.Journal.Text(note.Before)
		if err != nil {
			return errNotKept(j.Tx)
		}
		item, err := reverse(e, &note, now[i], &got[i])
		if err != nil {
			return err
		}
		if at[note.Path] = len(res.Items); item.Action == stm.Reverted {
			all = append(all, vault.Revision{Path: note.Path, Before: now[i], After: before})
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

// reverse returns what becomes of a note when an entry is reverted.
func reverse(e *NoteWrite, note *notejournal.Note, now []byte, got *vault.Result) (op.UndoItem, error) {
	item := op.UndoItem{Path: note.Path, Action: stm.Left}
	err := e.errOutcome(note.Path, got)
	switch {
	case memory.CodeOf(err) == memory.NotFound:
		item.Reason = leftReason(&vault.Result{Reason: vault.Gone})
	case err != nil:
		return item, err
	case notejournal.Digest(now) != note.After:
		item.Reason = leftReason(&vault.Result{Outcome: vault.Conflict})
	default:
		item.Action = stm.Reverted
	}
	return item, nil
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
	all, out, err := e.CurrentAll(ctx, []string{path})
	if err != nil {
		return nil, vault.Result{}, err
	}
	return all[0], out[0], nil
}

// CurrentAll is Current for several notes.
func (e *NoteWrite) CurrentAll(ctx context.Context, paths []string) (now [][]byte, out []vault.Result, err error) {
	away, err := e.Promote.Writing.Do(func(w *vault.Writer) (got vault.Result, err error) {
		now, out, err = vault.Reviser{Writer: w}.CurrentAll(ctx, paths)
		return got, err
	})
	if err != nil {
		failed := slices.IndexFunc(out, func(got vault.Result) bool { return got.Outcome == "" })
		return nil, nil, promote.DiskError(paths[max(failed, 0)], err)
	}
	if out == nil {
		now, out = make([][]byte, len(paths)), slices.Repeat([]vault.Result{away}, len(paths))
	}
	return now, out, nil
}

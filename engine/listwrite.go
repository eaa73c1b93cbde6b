package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"emberd/internal/overview"
	"emberd/internal/secret"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// listText is what a list is to say, and of how many memories.
type listText struct {
	text  string
	count int
}

// listTexts are the lists as they are to be, nil if this device is not to write them now:
// then settled says that it is not to later either.
func (e *Engine) listTexts() (texts map[string]listText, settled bool) {
	k, l := e.stm.Keeper(), e.lists
	away := e.vaultAway()
	l.mu.Lock()
	l.away = away != ""
	l.mu.Unlock()
	for kind, path := range l.wanted {
		switch {
		case path == "":
			l.untold(kind)
		case !e.isKeeper():
			l.told(kind, op.ListStatus{Path: path, State: op.ListOther, Reason: fmt.Sprintf("device %s, the keeper, writes it", firstNonEmpty(k.Name, k.Device.String()))})
		case away != "":
			l.told(kind, op.ListStatus{Path: path, State: op.ListWaits, Reason: away})
		}
	}
	if l.off() || !e.isKeeper() {
		return nil, true
	}
	if away != "" {
		return nil, false
	}
	all, core := e.listEntries()
	return map[string]listText{
		"index": {overview.Index(all, listable), len(all)},
		"core":  {overview.Core(core, listable), len(core)},
	}, true
}

// listEntries are the memories that the lists are of: all that are warm and have not been
// superseded, and of those the core ones.
func (e *Engine) listEntries() (all, core []overview.Entry) {
	for r := range e.stm.Rows() {
		if r.Stage().Cold() || e.superseded(r) {
			continue
		}
		m, err := r.Memory()
		if err != nil {
			continue // it is told elsewhere
		}
		entry := overview.EntryOf(&m)
		if m.PromotedTo != "" && m.NoteGone.IsZero() {
			entry.Note = m.PromotedTo
		}
		all = append(all, entry)
		if m.Core {
			core = append(core, entry)
		}
	}
	return all, core
}

// listable is why a text is not to be shown in a note, which may be synced anywhere, "" if
// it may be.
func listable(text string) string {
	if len(secret.Scan(text)) > 0 {
		return "it holds what looks like a credential"
	}
	return ""
}

// writeList brings one list to its note. It is ready when the note says what it is to, or
// is not emberd's to write.
func (e *Engine) writeList(ctx context.Context, kind string, list listText) (ready bool, err error) {
	setting := e.lists.wanted[kind]
	if setting == "" {
		return true, nil
	}
	path, state, err := e.listNote(ctx, kind, setting)
	if path == "" || err != nil {
		return e.listDone(kind, state, err)
	}
	e.lists.attend(path)
	defer e.lists.attended()
	if had := e.lists.wrote[kind]; had.text == list.text && had.note == e.notes.archive.state(path) && had.note.Path == path {
		state.Path, state.State = path, op.ListWritten
		return e.listDone(kind, state, nil)
	}
	var res vault.Result
	if state.State == op.ListEmpty {
		if list.count == 0 {
			return e.listDone(kind, state, nil)
		}
		state = op.ListStatus{}
		res, err = e.createList(ctx, kind, path, list.text)
	} else {
		edit := listEdit(kind, list.text)
		res, err = e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.Update(ctx, path, edit) })
	}
	return e.listResult(ctx, kind, path, list.text, state, &res, err)
}

// listResult takes in what became of a write of a list to its note, of which state tells
// why that is not where it belongs.
func (e *Engine) listResult(ctx context.Context, kind, path, text string, state op.ListStatus, res *vault.Result, err error) (ready bool, _ error) {
	if err == nil && res.Outcome == vault.Written {
		e.listWritten(ctx, kind, path, text, *res)
		err = e.lists.remember(func(f *listFile) bool {
			now := hadList{Setting: e.lists.wanted[kind], Path: path}
			if state.Reason != "" {
				now.Setting = f.Had[kind].Setting // it is still to be moved
			}
			changed := f.Had[kind] != now
			f.Had[kind] = now
			return changed
		})
	}
	now := listState(path, res)
	if now.State == op.ListWritten {
		now.Reason, now.Next = state.Reason, state.Next
	}
	return e.listDone(kind, now, diskError(path, err))
}

// listSetting is the setting that names the note of a list.
func listSetting(kind string) string {
	if kind == inboxKind {
		return "review.inbox"
	}
	return "vault." + kind + "_note"
}

// listEdit puts a list in its place in a note that is one of emberd's.
func listEdit(kind, text string) vault.Edit {
	return vault.Edit{
		Marked:  &vault.Field{Key: vault.ListKey, Value: vault.Text(kind)},
		Regions: []vault.Region{{Name: kind, Text: text}},
	}
}

func (e *Engine) createList(ctx context.Context, kind, path, text string) (vault.Result, error) {
	edit := listEdit(kind, text)
	data, err := vault.Splice(vault.Compose([]vault.Field{*edit.Marked}, ""), edit)
	if err != nil {
		return vault.Result{}, err
	}
	data = append(data, '\n') // so that who writes on below it does so on a line of his own
	return e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.Create(ctx, path, data) })
}

// listNote is where a list belongs. Without a path, state tells why it belongs nowhere
// now; with one, [op.ListEmpty] says that there is no note yet.
func (e *Engine) listNote(ctx context.Context, kind, setting string) (path string, state op.ListStatus, err error) {
	had, paths := e.lists.had.Had[kind], e.listPaths(kind)
	moved := had.Setting != "" && had.Setting != setting
	switch {
	case slices.Contains(paths, setting):
		return setting, state, nil
	case len(paths) > 0 && moved:
		return e.moveList(ctx, paths[0], setting)
	case len(paths) > 0:
		return paths[0], state, nil // a human moved it
	}
	state = op.ListStatus{Path: setting, State: op.ListRefused, Next: fmt.Sprintf("rename it, or name another note in %s; or give it the property %s: %s, and the list goes to its end", listSetting(kind), vault.ListKey, kind)}
	_, err = e.notes.vault.Load().Stat(setting)
	skipped, _ := errors.AsType[*vault.Skipped](err)
	switch {
	case err == nil:
		state.Reason = "there is a note of that name which is not emberd's, and it is left alone"
		return "", state, nil
	case skipped != nil:
		state.Reason = string(skipped.Reason)
		return "", state, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", state, diskError(setting, err)
	}
	if had.Path != "" && !moved {
		return "", op.ListStatus{Path: setting, State: op.ListDeleted, Reason: "the note was deleted, and stays away",
			Next: fmt.Sprintf("to have it again, make a note with the property %s: %s, or name another one in %s", vault.ListKey, kind, listSetting(kind))}, nil
	}
	return setting, op.ListStatus{Path: setting, State: op.ListEmpty, Reason: "there is nothing to list yet"}, nil
}

// moveList gives the note of a list the name that the settings have for it now. Where that
// cannot be had, the note stays, is written where it is, and state tells why.
func (e *Engine) moveList(ctx context.Context, from, to string) (path string, state op.ListStatus, err error) {
	res, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.Move(ctx, from, to) })
	switch {
	case err != nil:
		return "", state, diskError(to, err)
	case res.Outcome == vault.Later:
		return "", listState(from, &res), nil
	case res.Outcome != vault.Written:
		state.Reason = fmt.Sprintf("it is kept here and not at %s: %s", to, res.Reason)
		state.Next = fmt.Sprintf("rename the other note, or name another one in %s", listSetting(e.notes.archive.state(from).List))
		return from, state, nil
	}
	e.indexNote(ctx, to)
	e.indexNote(ctx, from)
	return to, state, nil
}

// listWritten takes in a note that was written: its new state, and what was there before
// if that is needed no more.
func (e *Engine) listWritten(ctx context.Context, kind, path, text string, res vault.Result) {
	l := e.lists
	if had := l.wrote[kind]; res.Backup != "" && had.note.Path == path {
		l.spares = append(l.spares, spare{backup: res.Backup, kind: kind, text: had.text})
	}
	e.indexNote(ctx, path)
	l.attend("")
	state := e.notes.archive.state(path)
	// What a human saved since may be what was just read, and would pass for emberd's own.
	if note, err := e.notes.vault.Load().Read(ctx, path); err != nil || note.Digest != res.Digest {
		delete(l.wrote, kind)
		l.changed()
		return
	}
	l.wrote[kind] = wroteList{note: state, text: text}
}

// listState is what became of a write.
func listState(path string, res *vault.Result) op.ListStatus {
	s := op.ListStatus{Path: path, State: op.ListWritten, Reason: string(res.Reason)}
	switch {
	case res.Outcome == vault.Written:
	case res.Outcome == vault.Refused && res.Reason != vault.Gone:
		s.State, s.Next = op.ListRefused, "emberd tries again when the note or a memory changes"
	default:
		s.State, s.Until = op.ListWaits, stampTime(res.Until)
	}
	return s
}

// listDone tells what became of a list and has it tried again if that helps.
func (e *Engine) listDone(kind string, s op.ListStatus, err error) (ready bool, _ error) {
	l := e.lists
	if err != nil {
		s = op.ListStatus{Path: l.wanted[kind], State: op.ListWaits, Reason: err.Error()}
	}
	if s.State == op.ListWaits {
		at := l.now().Add(backOff(firstTry, lastTry, l.tries[kind]))
		if s.Until.After(at) {
			at = s.Until
		}
		l.tries[kind]++
		s.Until = stampTime(at)
		l.later(at)
	} else {
		delete(l.tries, kind)
	}
	l.told(kind, s)
	return s.State != op.ListWaits && s.State != op.ListRefused, err
}

// tidyLists removes the backups that nobody needs: those that hold nothing but what
// emberd wrote, and those of lists that tell of memories which were purged. One that a
// program may still save to waits for a minute.
func (e *Engine) tidyLists(settled bool) error {
	l, spares, purged := e.lists, e.lists.spares, e.lists.had.Purged
	if len(spares)+len(purged) == 0 {
		return nil
	}
	var left []string
	err := e.writing.with(func(w *vault.Writer) (err error) {
		l.spares = nil
		for _, s := range spares {
			waits, failed := w.Discard([]string{s.backup}, s.same)
			if err = errors.Join(err, failed); len(waits) > 0 {
				l.spares = append(l.spares, s)
			}
		}
		if len(purged) > 0 {
			waits, failed := w.Discard(nil, func(note []byte) bool { return listsAny(note, purged) })
			left, err = waits, errors.Join(err, failed)
		}
		return err
	})
	switch {
	case err != nil || len(left) > 0:
		l.later(l.now().Add(time.Minute + time.Second))
		return err
	case len(purged) > 0 && settled:
		return l.remember(func(f *listFile) bool { f.Purged = nil; return true })
	}
	return nil
}

// same reports whether a backup has the list that emberd wrote into it: what a human
// wrote around it is in the note, too.
func (s spare) same(note []byte) bool {
	same, err := vault.Splice(note, listEdit(s.kind, s.text))
	return err == nil && bytes.Equal(same, note)
}

// listsAny reports whether a note holds a list that tells of one of the memories.
func listsAny(note []byte, ids []memory.ID) bool {
	list := slices.ContainsFunc(vault.Lists(), func(kind string) bool {
		return bytes.Contains(note, []byte("<!-- emberd:"+kind+" -->"))
	})
	return list && slices.ContainsFunc(ids, func(id memory.ID) bool { return bytes.Contains(note, []byte(overview.Mark(id))) })
}

// purgeLists has the lists written at once without a memory that was purged, and tells
// where that has to wait.
func (e *Engine) purgeLists(ctx context.Context, id memory.ID, dryRun bool, res *op.PurgeResult) {
	if e.lists == nil {
		return
	}
	if !dryRun {
		e.writeLists(ctx)
	}
	for _, note := range e.notes.archive.list() {
		if note.List == "" || !e.tellsOf(ctx, note.Path, id) {
			continue
		}
		advice := "the list in this note has the memory's first words; emberd writes it anew without them"
		if !dryRun {
			advice = "the list in this note still has the memory's first words: " + e.listWaits(note) + "; delete the line yourself if that is too late"
		}
		res.Left = append(res.Left, op.PurgeLeft{Kind: "note", Place: note.Path, Advice: advice})
	}
}

// listWaits says why a note has not been written.
func (e *Engine) listWaits(note archiveNote) string {
	for _, s := range e.lists.status() {
		if s.Kind == note.List && s.Path == note.Path && s.Reason != "" {
			return s.Reason
		}
	}
	return "emberd does not write it any more"
}

// tellsOf reports whether a note has the line of a memory. One that cannot be read may,
// and so may one of a vault that is away.
func (e *Engine) tellsOf(ctx context.Context, path string, id memory.ID) bool {
	v := e.notes.vault.Load()
	note, err := v.Read(ctx, path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) || !v.Current()
	}
	return slices.ContainsFunc(note.Sections, func(s vault.Section) bool { return bytes.Contains([]byte(s.Text), []byte(id.Short())) })
}

package listnotes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/internal/notegen"
	"emberd/internal/secret"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/markdown"
	"emberd/vault/noteedit"
)

// ListText is the text of a list, and its number of memories.
type ListText struct {
	text  string
	count int
}

// listTexts returns the texts of the lists. It returns nil if this device must not write them
// now; settled is true if it never will.
func (e *Lists) listTexts() (texts map[string]ListText, settled bool) {
	k, l := e.Stm.Primary(), e.Lists
	away := e.Notes.VaultUnavailable()
	l.mu.Lock()
	l.vaultAway = away != ""
	l.mu.Unlock()
	for kind, path := range l.Wanted {
		switch {
		case path == "":
			l.dropState(kind)
		case !e.Lifecycle.IsPrimary():
			l.setState(kind, op.ListStatus{Path: path, State: op.ListOther,
				Reason: fmt.Sprintf("the primary device %s writes the list",
					core.FirstNonEmpty(k.Name, k.Device.String()))})
		case away != "":
			l.setState(kind, op.ListStatus{Path: path, State: op.ListWaits, Reason: away})
		}
	}
	if l.off() || !e.Lifecycle.IsPrimary() {
		return nil, true
	}
	if away != "" {
		return nil, false
	}
	all, core := e.ListEntries()
	texts = map[string]ListText{
		"index":   {notegen.Index(all, Listable), len(all)},
		"core":    {notegen.Core(core, Listable), len(core)},
		InboxKind: {},
	}
	if l.projects != "" {
		e.projectTexts(all, texts)
	}
	return texts, true
}

// ListEntries returns the memories of the lists: all warm ones that are not superseded, and
// the core ones among them.
func (e *Lists) ListEntries() (all, core []notegen.Entry) {
	for r := range e.Stm.Rows() {
		if r.Stage().Cold() || e.Superseded(r) {
			continue
		}
		m, err := r.Memory()
		if err != nil {
			continue // reported elsewhere
		}
		entry := notegen.EntryOf(&m)
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

// Listable returns why a text must not be in a note, which may be synced anywhere, or "".
func Listable(text string) string {
	if len(secret.Scan(text)) > 0 {
		return "the text contains characters that look like a credential"
	}
	return ""
}

// writeList writes one list. ready is true if the note is up to date, or emberd must not write
// it.
func (e *Lists) writeList(ctx context.Context, kind string, list ListText) (ready bool, err error) {
	setting := e.Lists.setting(kind)
	if setting == "" {
		return true, nil
	}
	path, state, err := e.ListNote(ctx, kind, setting)
	if path == "" || err != nil {
		return e.ListDone(kind, state, err)
	}
	e.Lists.Attend(path)
	defer e.Lists.Attended()
	if had := e.Lists.Wrote[kind]; had.Text == list.text && had.Note == e.Notes.Vault.Archive.State(path) &&
		had.Note.Path == path {
		state.Path, state.State = path, op.ListWritten
		return e.ListDone(kind, state, nil)
	}
	var res vault.Result
	if state.State == op.ListEmpty {
		if list.count == 0 {
			return e.ListDone(kind, state, nil)
		}
		state = op.ListStatus{}
		res, err = e.CreateList(ctx, kind, path, list.text)
	} else {
		edit := ListEdit(kind, list.text)
		res, err = e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result,
			error) {
			return w.Update(ctx, path, edit)
		})
	}
	return e.ListResult(ctx, kind, path, list.text, state, &res, err)
}

// ListResult records the result of writing a list. state has the reason if the note is not
// where it should be.
func (e *Lists) ListResult(ctx context.Context, kind, path, text string, state op.ListStatus, res *vault.Result,
	err error) (ready bool, _ error) {
	if err == nil && res.Outcome == vault.Written {
		e.listWritten(ctx, kind, path, text, *res)
		err = e.Lists.Remember(func(f *ListFile) bool {
			now := seenList{Setting: e.Lists.setting(kind), Path: path}
			if state.Reason != "" {
				now.Setting = f.Had[kind].Setting // the note is still to be moved
			}
			changed := f.Had[kind] != now
			f.Had[kind] = now
			return changed
		})
	}
	now := ListState(path, res)
	if now.State == op.ListWritten {
		now.Reason, now.Next = state.Reason, state.Next
	}
	return e.ListDone(kind, now, promote.DiskError(path, err))
}

// listSetting returns the name of the setting for a list.
func listSetting(kind string) string {
	switch {
	case kind == InboxKind:
		return "review.inbox"
	case strings.HasPrefix(kind, vault.ProjectList):
		return "vault.project_hubs"
	}
	return "vault." + kind + "_note"
}

// ListEdit returns the edit that writes a list in its place in a note.
func ListEdit(kind, text string) noteedit.Edit {
	return noteedit.Edit{
		Marked:  &frontmatter.Field{Key: vault.ListKey, Value: frontmatter.Text(kind)},
		Regions: []noteedit.Region{{Name: vault.ListRegion(kind), Text: text}},
	}
}

// CreateList creates the note of a list at path.
func (e *Lists) CreateList(ctx context.Context, kind, path, text string) (vault.Result, error) {
	edit := ListEdit(kind, text)
	data, err := noteedit.Splice(noteedit.Compose([]frontmatter.Field{*edit.Marked}, ""), edit)
	if err != nil {
		return vault.Result{}, err
	}
	data = append(data, '\n') // so that the user can continue below it on a new line
	return e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) { return w.Create(ctx, path, data) })
}

// ListNote returns where a list belongs. Without a path, state has the reason. With a path,
// [op.ListEmpty] means that the note does not exist yet.
func (e *Lists) ListNote(ctx context.Context, kind, setting string) (path string, state op.ListStatus, err error) {
	had, paths := e.Lists.Had.Had[kind], e.listPaths(kind)
	moved := had.Setting != "" && had.Setting != setting
	switch {
	case slices.Contains(paths, setting):
		return setting, state, nil
	case len(paths) > 0 && moved:
		return e.moveList(ctx, paths[0], setting)
	case len(paths) > 0:
		return paths[0], state, nil // the user moved it
	}
	state = op.ListStatus{Path: setting, State: op.ListRefused,
		Next: fmt.Sprintf("rename the note, set another note in %s, or to add the list "+
			"at the end of the note, add the property %s: %s to the note", listSetting(kind), vault.ListKey, kind)}
	_, err = e.Notes.Vault.Root.Load().Stat(setting)
	skipped, _ := errors.AsType[*vault.Skipped](err)
	switch {
	case err == nil:
		state.Reason = "a note with that name already exists and does not belong to emberd, so emberd did not change it"
		return "", state, nil
	case skipped != nil:
		state.Reason = string(skipped.Reason)
		return "", state, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", state, promote.DiskError(setting, err)
	}
	if had.Path != "" && !moved {
		return "", op.ListStatus{Path: setting, State: op.ListDeleted, Reason: "the note was deleted, so emberd does " +
			"not write it again",
			Next: fmt.Sprintf("to restore the list, create a note with the property %s: %s, or set another note in %s",
				vault.ListKey, kind, listSetting(kind))}, nil
	}
	return setting, op.ListStatus{Path: setting, State: op.ListEmpty, Reason: "the list has no entries yet"}, nil
}

// moveList renames the note of a list to the name in the settings. If that fails, the list is
// written where it is, and state has the reason.
func (e *Lists) moveList(ctx context.Context, from, to string) (path string, state op.ListStatus, err error) {
	res, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) { return w.Move(ctx, from, to) })
	switch {
	case err != nil:
		return "", state, promote.DiskError(to, err)
	case res.Outcome == vault.Later:
		return "", ListState(from, &res), nil
	case res.Outcome != vault.Written:
		state.Reason = fmt.Sprintf("cannot move the list to %s: %s", to, res.Reason)
		state.Next = fmt.Sprintf("rename the other note, or set another note in %s",
			listSetting(e.Notes.Vault.Archive.State(from).List))
		return from, state, nil
	}
	e.Promote.IndexNote(ctx, to)
	e.Promote.IndexNote(ctx, from)
	return to, state, nil
}

// listWritten records a written note, and the backup of what it replaced, if it is not needed.
func (e *Lists) listWritten(ctx context.Context, kind, path, text string, res vault.Result) {
	l := e.Lists
	if had := l.Wrote[kind]; res.Backup != "" && had.Note.Path == path {
		l.spares = append(l.spares, spareBackup{backup: res.Backup, kind: kind, text: had.Text})
	}
	e.Promote.IndexNote(ctx, path)
	l.Attend("")
	state := e.Notes.Vault.Archive.State(path)
	// The user may have saved the note since; that must not count as written by emberd.
	if note, err := e.Notes.Vault.Root.Load().Read(ctx, path); err != nil || note.Digest != res.Digest {
		delete(l.Wrote, kind)
		l.Changed()
		return
	}
	l.Wrote[kind] = WrittenList{Note: state, Text: text}
}

// ListState returns the state of a list after a write.
func ListState(path string, res *vault.Result) op.ListStatus {
	s := op.ListStatus{Path: path, State: op.ListWritten, Reason: string(res.Reason)}
	switch {
	case res.Outcome == vault.Written:
	case res.Outcome == vault.Refused && res.Reason != vault.Gone:
		s.State, s.Next = op.ListRefused, "emberd retries when the note or a memory changes"
	default:
		s.State, s.Until = op.ListWaits, core.StampTime(res.Until)
	}
	return s
}

// ListDone records the state of a list, and schedules another try if that can help.
func (e *Lists) ListDone(kind string, s op.ListStatus, err error) (ready bool, _ error) {
	l := e.Lists
	if err != nil {
		s = op.ListStatus{Path: l.setting(kind), State: op.ListWaits, Reason: err.Error()}
	}
	if s.State == op.ListWaits {
		at := l.now().Add(promote.BackOff(promote.FirstTry, promote.LastTry, l.tries[kind]))
		if s.Until.After(at) {
			at = s.Until
		}
		l.tries[kind]++
		s.Until = core.StampTime(at)
		l.Later(at)
	} else {
		delete(l.tries, kind)
	}
	l.setState(kind, s)
	return s.State != op.ListWaits && s.State != op.ListRefused, err
}

// tidyLists removes backups that are not needed: those with nothing but what emberd wrote, once no
// program may still save to them, and at once those of lists with purged memories.
func (e *Lists) tidyLists(settled bool) error {
	l, spares, purged := e.Lists, e.Lists.spares, e.Lists.Had.Purged
	if len(spares)+len(purged) == 0 {
		return nil
	}
	err := e.Promote.Writing.With(func(w *vault.Writer) (err error) {
		l.spares = nil
		for _, s := range spares {
			waits, failed := w.Discard([]string{s.backup}, s.same)
			if err = errors.Join(err, failed); len(waits) > 0 {
				l.spares = append(l.spares, s)
			}
		}
		if len(purged) > 0 {
			err = errors.Join(err, w.Erase(func(note []byte) bool { return listsAny(note, purged) }))
		}
		return err
	})
	switch {
	case err != nil:
		l.Later(l.now().Add(time.Minute + time.Second))
		return err
	case len(purged) > 0 && settled:
		return l.Remember(func(f *ListFile) bool { f.Purged = nil; return true })
	}
	return nil
}

// same reports whether a backup has the list that emberd wrote. Text that the user wrote
// around it is in the note too.
func (s spareBackup) same(note []byte) bool {
	same, err := noteedit.Splice(note, ListEdit(s.kind, s.text))
	return err == nil && bytes.Equal(same, note)
}

// listsAny reports whether a note contains a list with one of the memories.
func listsAny(note []byte, ids []memory.ID) bool {
	list := slices.ContainsFunc(append(vault.Lists(), vault.ListRegion(vault.ProjectList)), func(kind string) bool {
		return bytes.Contains(note, []byte("<!-- emberd:"+kind+" -->"))
	})
	return list &&
		slices.ContainsFunc(ids, func(id memory.ID) bool { return bytes.Contains(note, []byte(notegen.Mark(id))) })
}

// PurgeLists writes the lists without a purged memory now, and reports where that has to wait.
func (e *Lists) PurgeLists(ctx context.Context, id memory.ID, dryRun bool, res *op.PurgeResult) {
	if e.Lists == nil {
		return
	}
	if !dryRun {
		e.WriteLists(ctx)
	}
	for _, note := range e.Notes.Vault.Archive.List() {
		if note.List == "" || !e.mentions(ctx, note.Path, id) {
			continue
		}
		advice := "the list in this note contains the first words of the memory; " +
			"emberd removes these words from the list"
		if !dryRun {
			advice = "the list in this note still contains the first words of the memory: " + e.listWaits(note) +
				"; emberd removes these words as soon as possible; to remove the line sooner, delete the line yourself"
		}
		res.Left = append(res.Left, op.PurgeLeft{Kind: "note", Place: note.Path, Advice: advice})
	}
}

// listWaits returns why a note was not written.
func (e *Lists) listWaits(note notes.ArchiveNote) string {
	for _, s := range e.Lists.status() {
		if s.Kind == note.List && s.Path == note.Path && s.Reason != "" {
			return s.Reason
		}
	}
	return "emberd no longer writes this list"
}

// mentions reports whether a note has the line of a memory; a command in it can name the memory too. An unreadable note
// may have the line, and so may one of an unavailable vault.
func (e *Lists) mentions(ctx context.Context, path string, id memory.ID) bool {
	v := e.Notes.Vault.Root.Load()
	note, err := v.Read(ctx, path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) || !v.Current()
	}
	beyond := note.Size > int64(len(note.Text)) // the sections have no markup
	return strings.Contains(note.Text, notegen.Mark(id)) || beyond && slices.ContainsFunc(note.Sections,
		func(s markdown.Section) bool { return strings.Contains(s.Text, id.Short()) })
}

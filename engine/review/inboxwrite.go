package review

import (
	"context"
	"errors"
	"strings"
	"time"

	"emberd/engine/listnotes"
	"emberd/engine/promote"
	"emberd/internal/notegen/reviewnote"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
)

// WriteInbox reads the review note, applies the ticked decisions and writes the note. It
// applies nothing if the note could not be written, or changed within the last minute.
func (e *Review) WriteInbox(ctx context.Context, kind string, _ listnotes.ListText) (ready bool, err error) {
	l := e.Lists.Lists
	if l.Wanted[kind] == "" {
		return true, nil
	}
	path, state, err := e.Lists.ListNote(ctx, kind, l.Wanted[kind])
	if path == "" || err != nil {
		return e.Lists.ListDone(kind, state, err)
	}
	l.Attend(path)
	defer l.Attended()
	if state.State == op.ListEmpty {
		return e.firstInbox(ctx, path, state)
	}
	page, until := e.inboxPage(ctx)
	e.scheduleInbox(until)
	if had := l.Wrote[kind]; had.Text == reviewnote.Render(page, nil) &&
		had.Note == e.Notes.Vault.Archive.State(path) &&
		had.Note.Path == path {
		state.Path, state.State = path, op.ListWritten
		return e.Lists.ListDone(kind, state, nil)
	}
	data, res, err := e.readSettled(ctx, path)
	if err != nil || data == nil {
		return e.Lists.ListDone(kind, listnotes.ListState(path, &res), promote.DiskError(path, err))
	}
	return e.updateInbox(ctx, path, data, &res, state)
}

// firstInbox creates the note when there is an open item.
func (e *Review) firstInbox(ctx context.Context, path string, state op.ListStatus) (ready bool, err error) {
	page, until := e.inboxPage(ctx)
	e.scheduleInbox(until)
	if len(page.Open) == 0 {
		state.Reason = "no open review items yet"
		return e.Lists.ListDone(listnotes.InboxKind, state, nil)
	}
	if err := e.recordLines(page); err != nil {
		return e.Lists.ListDone(listnotes.InboxKind, state, err)
	}
	text := reviewnote.Render(page, nil)
	res, err := e.Lists.CreateList(ctx, listnotes.InboxKind, path, text)
	e.Lists.Lists.Inbox = res.Digest
	return e.Lists.ListResult(ctx, listnotes.InboxKind, path, text, op.ListStatus{}, &res, err)
}

// readSettled reads the note, once it has stayed unchanged long enough. If the note is as
// emberd wrote it, there is no wait.
func (e *Review) readSettled(ctx context.Context, path string) (data []byte, res vault.Result, err error) {
	err = e.Promote.Writing.With(func(w *vault.Writer) (err error) {
		data, res, err = w.Steady(ctx, path, 0)
		if err == nil && data != nil && res.Digest != e.Lists.Lists.Inbox {
			data, res, err = w.Steady(ctx, path, e.Opt.Pace.Settle)
		}
		return err
	})
	return data, res, err
}

// updateInbox applies the ticks of a note and writes it.
func (e *Review) updateInbox(ctx context.Context, path string, data []byte, read *vault.Result,
	state op.ListStatus) (ready bool, err error) {
	refused := func(why vault.Reason) (bool, error) {
		return e.Lists.ListDone(listnotes.InboxKind,
			listnotes.ListState(path, &vault.Result{Outcome: vault.Refused, Reason: why}), nil)
	}
	region, rest, _, err := noteedit.RegionOf(data, listnotes.InboxKind)
	if err == nil && holdsMarks(region) {
		return refused(noteedit.BadRegion)
	}
	note := reviewnote.Parse(region, e.Lists.Lists.Had.Inbox.Sums)
	if note.Open {
		return refused(noteedit.OpenEnd)
	}
	if err == nil { // checks that the note can be written before anything is applied
		_, err = noteedit.Splice(data, listnotes.ListEdit(listnotes.InboxKind, region))
	}
	if edit, is := errors.AsType[*frontmatter.EditError](err); is {
		return refused(vault.Reason(edit.Reason))
	}
	if err != nil {
		return e.Lists.ListDone(listnotes.InboxKind, op.ListStatus{}, err)
	}
	outside := reviewnote.Parse(rest, nil).Ticks
	err = e.applyTicks(ctx, note.Ticks, outside)
	e.tidyInbox(&e.Lists.Lists.Had.Inbox)
	page, until := e.inboxPage(ctx)
	if err = errors.Join(err, e.recordLines(page)); err != nil {
		return e.Lists.ListDone(listnotes.InboxKind, op.ListStatus{}, err)
	}
	e.scheduleInbox(until)
	bare, text := reviewnote.Render(page, nil), reviewnote.Render(page, note)
	if text == region {
		e.Lists.Lists.Inbox, e.Lists.Lists.Wrote[listnotes.InboxKind] = read.Digest,
			listnotes.WrittenList{Note: e.Notes.Vault.Archive.State(path), Text: bare}
		return e.Lists.ListResult(ctx, listnotes.InboxKind, path, bare, state, read, nil)
	}
	edit := listnotes.ListEdit(listnotes.InboxKind, text)
	edit.Of = &read.Digest
	res, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) { return w.Update(ctx, path, edit) })
	if err == nil && res.Outcome == vault.Written {
		e.Lists.Lists.Inbox = res.Digest
	}
	return e.Lists.ListResult(ctx, listnotes.InboxKind, path, bare, state, &res, err)
}

// holdsMarks reports whether the user's text in the region has a mark of another region. Then
// emberd cannot write the region.
func holdsMarks(region string) bool {
	for line := range strings.Lines(region) {
		if strings.Contains(line, "<!--") && strings.Contains(line, "emberd:") {
			return true
		}
	}
	return false
}

// recordLines records the lines to be written, and the results of ticks.
func (e *Review) recordLines(page *reviewnote.Page) error {
	return e.Lists.Lists.Remember(func(f *listnotes.ListFile) bool {
		sums := reviewnote.Sums(page)
		known := make(map[string]bool, len(sums))
		for _, s := range sums {
			known[s] = true
		}
		for _, s := range f.Inbox.Sums {
			if !known[s] {
				sums = append(sums, s)
			}
		}
		f.Inbox.Sums = sums[:min(maxSums, len(sums))]
		return true
	})
}

// scheduleInbox schedules the note for when a shown decision expires.
func (e *Review) scheduleInbox(until time.Time) {
	if !until.IsZero() {
		e.Lists.Lists.Later(until)
	}
}

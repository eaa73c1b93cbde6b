package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"emberd/internal/inbox"
	"emberd/op"
	"emberd/vault"
)

// writeInbox reads the note in which decisions are made, carries out what was ticked in it
// and brings it to what it is to say then. Nothing is carried out of a note that could not
// be written, or that was not left alone for a minute since a human saved it.
func (e *Engine) writeInbox(ctx context.Context, kind string, _ listText) (ready bool, err error) {
	l := e.lists
	if l.wanted[kind] == "" {
		return true, nil
	}
	path, state, err := e.listNote(ctx, kind, l.wanted[kind])
	if path == "" || err != nil {
		return e.listDone(kind, state, err)
	}
	l.attend(path)
	defer l.attended()
	if state.State == op.ListEmpty {
		return e.firstInbox(ctx, path, state)
	}
	page, until := e.inboxPage()
	e.tellInboxLater(until)
	if had := l.wrote[kind]; had.text == inbox.Render(page, nil) && had.note == e.notes.archive.state(path) && had.note.Path == path {
		state.Path, state.State = path, op.ListWritten
		return e.listDone(kind, state, nil)
	}
	data, res, err := e.settledInbox(ctx, path)
	if err != nil || data == nil {
		return e.listDone(kind, listState(path, &res), diskError(path, err))
	}
	return e.bringInbox(ctx, path, data, &res, state)
}

// firstInbox makes the note when there is something to say in it.
func (e *Engine) firstInbox(ctx context.Context, path string, state op.ListStatus) (ready bool, err error) {
	page, until := e.inboxPage()
	e.tellInboxLater(until)
	if len(page.Open) == 0 {
		state.Reason = "nothing waits for a decision yet"
		return e.listDone(inboxKind, state, nil)
	}
	if err := e.knowInbox(page); err != nil {
		return e.listDone(inboxKind, state, err)
	}
	text := inbox.Render(page, nil)
	res, err := e.createList(ctx, inboxKind, path, text)
	e.lists.inbox = res.Digest
	return e.listResult(ctx, inboxKind, path, text, op.ListStatus{}, &res, err)
}

// settledInbox reads the note, once it was left alone for long enough. As emberd left it,
// there is nothing to wait for.
func (e *Engine) settledInbox(ctx context.Context, path string) (data []byte, res vault.Result, err error) {
	err = e.writing.with(func(w *vault.Writer) (err error) {
		data, res, err = w.Steady(ctx, path, 0)
		if err == nil && data != nil && res.Digest != e.lists.inbox {
			data, res, err = w.Steady(ctx, path, e.opt.pace.settle)
		}
		return err
	})
	return data, res, err
}

// bringInbox carries out what is ticked in a note and writes what it is to say then.
func (e *Engine) bringInbox(ctx context.Context, path string, data []byte, read *vault.Result, state op.ListStatus) (ready bool, err error) {
	refused := func(why vault.Reason) (bool, error) {
		return e.listDone(inboxKind, listState(path, &vault.Result{Outcome: vault.Refused, Reason: why}), nil)
	}
	region, rest, _, err := vault.RegionOf(data, inboxKind)
	if err == nil && holdsMarks(region) {
		return refused(vault.BadRegion)
	}
	note := inbox.Parse(region, e.lists.had.Inbox.Sums)
	if note.Open {
		return refused(vault.OpenEnd)
	}
	if err == nil { // whether it can be written is known before anything is done
		_, err = vault.Splice(data, listEdit(inboxKind, region))
	}
	if unspliced, is := errors.AsType[*vault.Unspliced](err); is {
		return refused(unspliced.Reason)
	}
	if err != nil {
		return e.listDone(inboxKind, op.ListStatus{}, err)
	}
	outside := inbox.Parse(rest, nil).Ticks
	err = e.carryOutTicks(ctx, note.Ticks, outside)
	e.tidyInbox(&e.lists.had.Inbox)
	page, until := e.inboxPage()
	if err = errors.Join(err, e.knowInbox(page)); err != nil {
		return e.listDone(inboxKind, op.ListStatus{}, err)
	}
	e.tellInboxLater(until)
	bare, text := inbox.Render(page, nil), inbox.Render(page, note)
	if text == region {
		e.lists.inbox, e.lists.wrote[inboxKind] = read.Digest, wroteList{note: e.notes.archive.state(path), text: bare}
		return e.listResult(ctx, inboxKind, path, bare, state, read, nil)
	}
	edit := listEdit(inboxKind, text)
	edit.Of = &read.Digest
	res, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.Update(ctx, path, edit) })
	if err == nil && res.Outcome == vault.Written {
		e.lists.inbox = res.Digest
	}
	return e.listResult(ctx, inboxKind, path, bare, state, &res, err)
}

// holdsMarks reports a mark of another region in what a human wrote into this one, with
// which it cannot be written.
func holdsMarks(region string) bool {
	for line := range strings.Lines(region) {
		if strings.Contains(line, "<!--") && strings.Contains(line, "emberd:") {
			return true
		}
	}
	return false
}

// knowInbox remembers the lines that are about to be written, and what became of ticks.
func (e *Engine) knowInbox(page *inbox.Page) error {
	return e.lists.remember(func(f *listFile) bool {
		sums := inbox.Sums(page)
		known := make(map[string]bool, len(sums))
		for _, s := range sums {
			known[s] = true
		}
		for _, s := range f.Inbox.Sums {
			if !known[s] {
				sums = append(sums, s)
			}
		}
		f.Inbox.Sums = sums[:min(mostSums, len(sums))]
		return true
	})
}

// tellInboxLater has the note written when something in it has been told for long enough.
func (e *Engine) tellInboxLater(until time.Time) {
	if !until.IsZero() {
		e.lists.later(until)
	}
}

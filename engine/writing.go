package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"emberd/memory"
	"emberd/vault"
)

// nearLook is how far ahead the actor sets a timer for what was written. What is due
// later than that is looked at on the next occasion.
const nearLook = 2 * time.Minute

// writing holds the one writer of the vault.
type writing struct {
	notes *notes
	state string
	now   func() time.Time
	wake  chan struct{} // holds a token when the actor is to look

	mu     sync.Mutex    // guards what follows, and is held through every write
	of     *vault.Vault  // that writer is for
	writer *vault.Writer // nil until one could be opened
	// wrote is what lately written notes said before, by path and field, for a human's
	// late save that brings it back.
	wrote map[string]map[string]string

	aside atomic.Bool // notes are written by way of a second name
}

func newWriting(n *notes, opt *Options) *writing {
	return &writing{notes: n, state: opt.State, now: opt.Now, wake: make(chan struct{}, 1), wrote: make(map[string]map[string]string)}
}

// openWriting ends what the last run left unfinished in the vault. Whatever fails is
// told by status, and tried again before the next write.
func (e *Engine) openWriting() {
	if e.notes == nil {
		e.pending = new(pendingWrites)
		return
	}
	var err error
	e.pending, err = openPending(e.opt.FS, e.opt.State)
	e.chores.settle("list of notes to write", err)
	e.writing = newWriting(e.notes, &e.opt)
	e.chores.settle("looking after written notes", e.writing.with(func(*vault.Writer) error { return nil }))
}

// with calls fn with the writer for the folder that is now the vault. When another
// folder has been put there, its writer ends what the earlier one left.
func (w *writing) with(fn func(*vault.Writer) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.notes.vault.Load(); w.writer == nil || w.of != v {
		writer, err := vault.OpenWriter(v, w.state, &vault.WriterOptions{Now: w.now})
		if err != nil {
			return err
		}
		w.of, w.writer = v, writer
	}
	return fn(w.writer)
}

// do makes one change of a note, and has the actor look after it. What only failed to
// be tidied up after it is not an error of the change: the next start does that.
func (w *writing) do(fn func(*vault.Writer) (vault.Result, error)) (res vault.Result, err error) {
	err = w.with(func(writer *vault.Writer) error {
		res, err = fn(writer)
		w.aside.Store(writer.Fallback())
		return err
	})
	w.nudge()
	if err != nil && res.Outcome == vault.Written {
		w.notes.log.Warn("the record of a note that was written is left for the next start", "error", err)
		err = nil
	}
	return res, err
}

// replaced remembers what a note said before it was written.
func (w *writing) replaced(path string, said map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote[path] = said
}

// nudge has the actor look at once. It never waits.
func (w *writing) nudge() { nudge(w.wake) }

// keepWriting looks after the notes that were written and makes the changes that wait,
// until ctx is done. No timer runs while there is nothing of either.
func (e *Engine) keepWriting(ctx context.Context) {
	const name = "notes to write"
	defer e.chores.disarm(name)
	for ctx.Err() == nil {
		var due <-chan time.Time
		if next := e.writeDue(ctx); !next.IsZero() {
			wait := max(next.Sub(e.opt.Now()), time.Second).Round(time.Second)
			due = time.After(wait)
			e.chores.arm(name, wait)
		}
		select {
		case <-ctx.Done():
		case <-due:
		case <-e.writing.wake:
		}
		e.chores.disarm(name)
	}
}

// writeDue does what is due and returns when there is more, the zero time for never.
func (e *Engine) writeDue(ctx context.Context) time.Time {
	looked := e.lookAfterNotes(ctx)
	due, _ := e.pending.due(e.opt.Now())
	for _, w := range due {
		if ctx.Err() != nil {
			break
		}
		e.carryOut(ctx, w)
	}
	if _, next := e.pending.due(e.opt.Now()); !next.IsZero() && (looked.IsZero() || next.Before(looked)) {
		return next
	}
	return looked
}

// lookAfterNotes has the writer look for late saves and returns when it is to look
// again, the zero time if that is far off.
func (e *Engine) lookAfterNotes(ctx context.Context) time.Time {
	var events []vault.Event
	var due time.Time
	err := e.writing.with(func(writer *vault.Writer) (err error) {
		if !writer.Due().After(e.opt.Now()) {
			events, err = writer.Check(ctx)
		}
		due = writer.Due()
		return err
	})
	if ctx.Err() == nil {
		e.chores.settle("looking after written notes", err)
	}
	for _, event := range events {
		e.lateSave(ctx, event)
	}
	if due.Sub(e.opt.Now()) > nearLook {
		e.writing.forget(e.opt.Now())
		return time.Time{}
	}
	return due
}

// forget lets go of what notes said, once no late save of any is looked for.
func (w *writing) forget(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writer != nil && w.writer.Due().Sub(now) > nearLook {
		clear(w.wrote)
	}
}

// lateSave takes in that a human's program saved a note after emberd had written it.
func (e *Engine) lateSave(ctx context.Context, event vault.Event) {
	e.opt.Logger.Info("a note was saved by a program that had it open while it was written", "restored", event.Restored, "backup", event.Backup)
	e.writing.mu.Lock()
	said := e.writing.wrote[event.Path]
	delete(e.writing.wrote, event.Path)
	e.writing.mu.Unlock()
	if err := e.notes.reread(ctx, event.Path); err != nil {
		e.opt.Logger.Warn("note not indexed anew", "error", err)
	}
	if event.Restored && len(said) > 0 {
		if err := e.writeAgain(ctx, event.Path, said); err != nil {
			e.opt.Logger.Warn("what a late save replaced is not written again", "error", err)
		}
	}
}

// notWritten is the error for a note that cannot be written, in one sentence.
func notWritten(path string, why vault.Reason, taken string) error {
	code := memory.Conflict
	switch why {
	case vault.DiskReadOnly, vault.NotYours, vault.NotKept, vault.ReadOnly:
		code = memory.ReadOnly
	}
	if taken != "" && taken != path {
		return memory.Errorf(code, "the note %q was not written: %s (%q)", path, why, taken)
	}
	return memory.Errorf(code, "the note %q was not written: %s", path, why)
}

// diskError is the error for a disk that fails while a note is written.
func diskError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case diskCode(err) == memory.DiskFull:
		return memory.Errorf(memory.DiskFull, "the note %q was not written, for the disk is full; make room and try again: %w", path, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return memory.Errorf(memory.Unavailable, "the note %q was not written, for the request was given up; try again: %w", path, err)
	case errors.Is(err, fs.ErrClosed):
		return memory.Errorf(memory.Busy, "the note %q was not written, for another folder was put in the place of the vault; try again: %w", path, err)
	}
	if _, ok := errors.AsType[*memory.Error](err); ok {
		return err
	}
	return memory.Errorf(memory.ReadOnly, "the note %q was not written, for the disk fails; mend that and try again: %w", path, err)
}

func diskCode(err error) memory.Code {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return memory.DiskFull
	}
	return memory.ReadOnly
}

// laterText says why a note waits, and until when.
func laterText(res *vault.Result, now time.Time) string {
	wait := max(res.Until.Sub(now), time.Second).Round(time.Second)
	return fmt.Sprintf("%s; try again in %s", res.Reason, wait)
}

package promote

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/vault"
)

// maxTimer is how far ahead the task sets a timer to check written notes. A later check
// happens with the next work.
const maxTimer = 2 * time.Minute

// NoteWriter has the only writer of the vault. Any goroutine may write a note through it: a
// request that edits or promotes, the lifecycle, and the task of this package, which also
// checks for late saves.
type NoteWriter struct {
	notes *notes.VaultNotes
	state string
	now   func() time.Time
	wake  chan struct{} // room for one token: the task has work
	// changed reports whether a caller's change left these bytes at a path, so that nobody is at work there.
	changed func(path string, sum [sha256.Size]byte) bool

	// Mu guards the fields down to Wrote. With holds it through fn, that is, through a whole
	// write or check, so that one goroutine at a time writes notes. It comes after row locks:
	// PromoteMemory and EditedNote take it with the memory locked. Code that holds Mu neither
	// updates the store nor indexes the note; IndexNote follows when Mu is free.
	Mu     sync.Mutex
	of     *vault.Vault  // the vault of writer
	writer *vault.Writer // nil until it can be opened
	// Wrote has the fields of recently written notes before the write, by path, to recognize a
	// user's late save that reverts them.
	Wrote map[string]map[string]string

	aside atomic.Bool // notes are written through a second name; status reads it without waiting for Mu
}

func newNoteWriter(n *notes.VaultNotes, opt *core.Options, changed func(string, [sha256.Size]byte) bool) *NoteWriter {
	return &NoteWriter{notes: n, state: opt.State, now: opt.Now, wake: make(chan struct{}, 1), changed: changed,
		Wrote: make(map[string]map[string]string)}
}

// OpenNoteWriter finishes the writes that the last run left unfinished. Status reports a failure,
// and the next write tries again. changed is that of a NoteWriter.
func (e *Promote) OpenNoteWriter(changed func(path string, sum [sha256.Size]byte) bool) {
	if e.Notes.Vault == nil {
		e.Pending = new(PendingWrites)
		return
	}
	var err error
	e.Pending, err = OpenPending(e.Opt.FS, e.Opt.State)
	e.Chores.Settle("update of the list of unwritten notes", err)
	e.Writing = newNoteWriter(e.Notes.Vault, &e.Opt, changed)
	err = e.Writing.With(func(*vault.Writer) error { return nil })
	e.Chores.Settle("check of written notes", unlessAway(err))
}

// unlessAway drops the error about a vault that is away, which status tells.
func unlessAway(err error) error {
	if errors.Is(err, errAway) {
		return nil
	}
	return err
}

// VaultBack tries the queued writes that waited for the vault.
func (e *Promote) VaultBack() {
	e.Chores.Settle("update of the list of unwritten notes", e.Pending.hastenAll(e.Opt.Now()))
	e.Writing.Nudge()
}

// errAway means that the vault is released, not there, or another folder than the open one.
var errAway = errors.New("the vault is unavailable")

// With calls fn with the writer of the current vault folder, with Mu held. If another folder
// is at the vault's path, it opens a writer, which finishes what the earlier one left. While the vault is away
// it returns errAway and touches no record of a write: the files that a record names cannot be seen then.
func (w *NoteWriter) With(fn func(*vault.Writer) error) error {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if !w.notes.Root.Load().Current() {
		return errAway
	}
	if v := w.notes.Root.Load(); w.writer == nil || w.of != v {
		writer, err := vault.OpenWriter(v, w.state, &vault.WriterOptions{Now: w.now, Wrote: w.changed})
		if err != nil {
			return err
		}
		w.of, w.writer = v, writer
	}
	return fn(w.writer)
}

// Do writes one note and wakes up the task that checks it. A failed cleanup after the write is
// not an error; the next start does it.
func (w *NoteWriter) Do(fn func(*vault.Writer) (vault.Result, error)) (res vault.Result, err error) {
	err = w.With(func(writer *vault.Writer) error {
		res, err = fn(writer)
		w.aside.Store(writer.Fallback())
		return err
	})
	w.Nudge()
	if errors.Is(err, errAway) {
		return vault.Result{Outcome: vault.Later, Reason: vault.VaultReplaced, Until: w.now().Add(FirstTry)}, nil
	}
	if err != nil && res.Outcome == vault.Written {
		w.notes.Log.Warn("record of a written note not deleted until the next start", "error", err)
		err = nil
	}
	return res, err
}

// Quiet calls fn while no note is being written, and drops the writer: after a release the next one ends what
// this one left.
func (w *NoteWriter) Quiet(fn func() error) error {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.writer = nil
	return fn()
}

// Nudge wakes up the task. It never blocks.
func (w *NoteWriter) Nudge() { core.Nudge(w.wake) }

// Task checks written notes and makes the queued writes. Without either it has no timer.
func (e *Promote) Task() *core.Task {
	return &core.Task{Name: "note write", First: e.Opt.Now(), Wake: e.Writing.wake, Do: e.WriteDue,
		Rest: time.Second}
}

// WriteDue does the work that is due and returns when there is more, zero for none.
func (e *Promote) WriteDue(ctx context.Context) time.Time {
	looked := e.checkWritten(ctx)
	due, _ := e.Pending.due(e.Opt.Now())
	removals := make(map[memory.ID]string)
	for _, w := range due {
		if ctx.Err() != nil {
			break
		}
		if w.What == RemoveNote {
			removals[w.Memory] = w.Path
			continue
		}
		e.tryWrite(ctx, w)
	}
	e.RemoveQueued(ctx, removals)
	flushPending(e)
	if _, next := e.Pending.due(e.Opt.Now()); !next.IsZero() && (looked.IsZero() || next.Before(looked)) {
		return next
	}
	return looked
}

// checkWritten checks for late saves and returns when to check again, zero if that is far
// off.
func (e *Promote) checkWritten(ctx context.Context) time.Time {
	var late []lateSave
	var due time.Time
	err := e.Writing.With(func(writer *vault.Writer) (err error) {
		if !writer.Due().After(e.Opt.Now()) {
			late, err = e.Writing.findLate(ctx, writer)
		}
		due = writer.Due()
		return err
	})
	if ctx.Err() == nil {
		e.Chores.Settle("check of written notes", unlessAway(err))
	}
	if errors.Is(err, errAway) {
		return time.Time{}
	}
	for _, l := range late {
		e.afterLateSave(ctx, l)
	}
	if due.Sub(e.Opt.Now()) > maxTimer {
		e.Writing.clearWrote(e.Opt.Now())
		return time.Time{}
	}
	return due
}

// clearWrote clears Wrote when no late save is expected.
func (w *NoteWriter) clearWrote(now time.Time) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.writer != nil && w.writer.Due().Sub(now) > maxTimer {
		clear(w.Wrote)
	}
}

// lateSave is a user's save of a note after emberd wrote it.
type lateSave struct {
	vault.Event
	said map[string]string // fields of the note before emberd wrote it, nil if unknown
}

// findLate checks for late saves and takes from Wrote what the notes said before. Mu must be held, and only
// together with the check: by the next check of another goroutine, none may be expected and Wrote be cleared.
func (w *NoteWriter) findLate(ctx context.Context, writer *vault.Writer) ([]lateSave, error) {
	events, err := writer.Check(ctx)
	late := make([]lateSave, len(events))
	for i, event := range events {
		late[i] = lateSave{event, w.Wrote[event.Path]}
		delete(w.Wrote, event.Path)
	}
	return late, err
}

// afterLateSave indexes the note and, if it has the user's text again, writes what the save has reverted.
func (e *Promote) afterLateSave(ctx context.Context, l lateSave) {
	e.Opt.Logger.Info("another program saved a note while emberd wrote the note", "restored", l.Restored, "backup",
		l.Backup)
	if err := e.Notes.Vault.Reread(ctx, l.Path); err != nil {
		e.Opt.Logger.Warn("note not indexed again", "error", err)
	}
	if l.Restored && len(l.said) > 0 {
		if err := e.writeAgain(ctx, l.Path, l.said); err != nil {
			e.Opt.Logger.Warn("text not written again after another program replaced it", "error", err)
		}
	}
}

// errNotWritten returns the error for a note that cannot be written.
func errNotWritten(path string, why vault.Reason, taken string) error {
	code := memory.Conflict
	switch why {
	case vault.DiskReadOnly, vault.NotYours, vault.NotKept, vault.ReadOnly:
		code = memory.ReadOnly
	}
	if taken != "" && taken != path {
		return memory.Errorf(code, "cannot write note %q: %s (%q)", path, why, taken)
	}
	return memory.Errorf(code, "cannot write note %q: %s", path, why)
}

// DiskError returns the error for a disk failure during a write.
func DiskError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case diskCode(err) == memory.DiskFull:
		return memory.Errorf(memory.DiskFull,
			"cannot write note %q, because the disk is full; free some space and try again: %w", path, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return memory.Errorf(memory.Unavailable,
			"cannot write note %q, because the request was canceled or timed out; try again: %w", path, err)
	case errors.Is(err, fs.ErrClosed):
		return memory.Errorf(memory.Busy,
			"cannot write note %q, because the vault folder was replaced during the write; try again (%w)", path, err)
	}
	if _, ok := errors.AsType[*memory.Error](err); ok {
		return err
	}
	return memory.Errorf(memory.ReadOnly,
		"cannot write note %q, because of a disk error; fix the error and try again: %w", path, err)
}

func diskCode(err error) memory.Code {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return memory.DiskFull
	}
	return memory.ReadOnly
}

// LaterText returns why a write waits, and for how long.
func LaterText(res *vault.Result, now time.Time) string {
	wait := max(res.Until.Sub(now), time.Second).Round(time.Second)
	return fmt.Sprintf("%s; try again in %s", res.Reason, wait)
}

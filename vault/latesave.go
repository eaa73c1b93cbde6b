package vault

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
)

// backupTime begins the name of each backup, in UTC.
const backupTime = "20060102T150405Z"

// Event is a late save that a check found: a program that had a note open saved it after emberd
// had written it.
type Event struct {
	Path string
	// Restored means that the note has the user's text again, so that what emberd
	// had written into it is to be written anew. Otherwise the note has been changed
	// since, and the text is only among the backups.
	Restored bool
	Backup   string // of what is not in the note
}

func (d digest) bytes() (sum [32]byte, err error) {
	_, err = hex.Decode(sum[:], []byte(d))
	return sum, err
}

// recover ends what the last Writer left.
func (w *Writer) recover() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.makeFolders(); err != nil {
		return fmt.Errorf("cannot prepare to write notes: %w", err)
	}
	left, err := w.load(w.concerns)
	if err != nil {
		return fmt.Errorf("cannot finish interrupted writes of notes: %w", err)
	}
	slices.SortStableFunc(left, func(a, b *record) int {
		switch {
		case a.coming() && !b.coming():
			return -1
		case b.coming() && !a.coming():
			return 1
		}
		return 0
	})
	for _, r := range left {
		_, _ = w.settle(r) // what fails is on the list for Check, which tells
	}
	return nil
}

// concerns reports whether a record is of this vault. A vault can have been moved; a record of
// another vault waits for that one.
func (w *Writer) concerns(r *record) bool {
	return r.Vault == "" || r.Vault == w.vault.dir || w.exists(r.Temp) || w.exists(r.aside())
}

// watch adds a record to the list of those to check for late saves.
func (w *Writer) watch(r *record) {
	r.Begun, r.looks = w.now(), 0
	r.next = r.Begun.Add(w.pace.looks[0])
	w.open = append(w.open, r)
}

// putOff schedules the next try for a record whose files could not be changed: after twice the
// last interval, at most the interval of the last look.
func (w *Writer) putOff(r *record) {
	r.wait = min(max(2*r.wait, w.pace.looks[0]), w.pace.looks[len(w.pace.looks)-1])
	r.next = w.now().Add(r.wait)
}

// Due returns when [Writer.Check] is to be called next. There always is a time: if nothing else,
// old backups expire.
func (w *Writer) Due() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := w.pruned.Add(day)
	for _, r := range w.open {
		if r.next.Before(due) {
			due = r.next
		}
	}
	return due
}

// Check looks, where it is time to, whether a program saved to a file that was displaced from
// under it: 1 and 60 seconds after each write. If the note has not been changed since, Check
// restores that text. It also tries again what an error interrupted, and removes backups older
// than 30 days. It looks at every record and joins the errors.
func (w *Writer) Check(ctx context.Context) ([]Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	var events []Event
	var failed []error
	open := w.open
	w.open = nil
	for _, r := range open {
		if r.next.After(now) || ctx.Err() != nil {
			w.open = append(w.open, r)
			continue
		}
		event, err := w.inspect(r)
		if event != nil {
			events = append(events, *event)
		}
		failed = append(failed, err)
	}
	if now.Sub(w.pruned) >= day || w.pruned.After(now) {
		w.pruned = now
		failed = append(failed, w.prune(now))
	}
	return events, errors.Join(failed...)
}

// inspect looks at one record, and keeps it on the list if it is not over.
func (w *Writer) inspect(r *record) (*Event, error) {
	if r.unsettled {
		_, err := w.settle(r)
		return nil, err
	}
	event, over, err := w.checkDisplaced(r)
	if err == nil && over {
		err = w.forget(r)
	}
	if err != nil {
		w.open = append(w.open, r)
		w.putOff(r)
		return event, fmt.Errorf("cannot check note %q after a write: %w", r.Path, err)
	}
	if !over {
		w.open = append(w.open, r)
	}
	return event, nil
}

// checkDisplaced returns what was saved to the displaced file, and whether this was the last look.
func (w *Writer) checkDisplaced(r *record) (event *Event, over bool, err error) {
	hidden := w.exists(r.Temp)
	now, err := look(w.state, w.backupName(r))
	if hidden {
		now, err = look(w.notes, r.Temp)
	}
	if err != nil || now == absent {
		return nil, true, err // moved away by someone: nothing left to look at
	}
	if now != r.Kept {
		return w.restoreLate(r, hidden, now)
	}
	if r.looks++; r.looks < len(w.pace.looks) {
		r.next = r.Begun.Add(w.pace.looks[r.looks])
		return nil, false, nil
	}
	if !hidden { // it has the mode of the note, which it may become again until here
		return nil, true, w.closeBackup(r)
	}
	if err := w.notes.Remove(r.Temp); err != nil {
		return nil, false, err
	}
	return nil, true, w.notes.SyncDir(r.dir())
}

// closeBackup lets nobody else read a backup.
func (w *Writer) closeBackup(r *record) error {
	disk, ok := w.state.(interface {
		Chmod(name string, mode fs.FileMode) error
	})
	if !ok {
		return nil
	}
	if err := disk.Chmod(w.backupName(r), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// restoreLate gives a note the text that was saved late, as the same file, so that a program which
// is still writing continues in the right place.
func (w *Writer) restoreLate(r *record, hidden bool, late digest) (event *Event, over bool, err error) {
	name, err := look(w.notes, r.Path)
	if err != nil {
		return nil, false, err
	}
	if name != r.Placed {
		if hidden {
			err = w.copyOut(r.Temp, w.backupName(r))
		}
		r.Kept, r.next = late, w.now().Add(w.pace.looks[0])
		if err == nil {
			err = w.save(r)
		}
		return &Event{Path: r.Path, Backup: w.backupName(r)}, false, err
	}
	next, err := w.begin(opRestore, r.Path, name, late)
	if err != nil {
		return nil, false, err
	}
	if hidden {
		err = w.notes.Rename(r.Temp, next.Temp)
	} else {
		err = w.notes.Import(w.backupName(r), next.Temp)
	}
	if err != nil {
		return nil, false, errors.Join(err, w.forget(next))
	}
	if err = w.notes.SyncDir(r.dir()); err == nil {
		err = w.state.SyncDir(w.backups)
	}
	if err == nil {
		err = w.notes.SyncFile(next.Temp)
	}
	if err != nil {
		next.unsettled, next.next = true, w.now()
		w.open = append(w.open, next)
		return nil, true, err
	}
	_, err = w.settle(next)
	return &Event{Path: r.Path, Restored: next.Placed != name, Backup: w.backupName(next)}, true, err
}

// Discard removes backups: of those in names, or of all if names is nil, the ones whose bytes drop
// reports. A backup that a program may still save to stays and is in left; so does one that cannot
// be read or removed, with an error. Names are as in [Result].
func (w *Writer) Discard(names []string, drop func(note []byte) bool) (left []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if names == nil {
		if names, err = w.allBackups(); err != nil {
			return nil, err
		}
	}
	var failed []error
	for _, name := range names {
		note, err := durable.ReadAll(w.state, name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && !drop(note):
			continue
		case err == nil && !w.watched(filepath.Base(name)):
			err = w.state.Remove(name)
		case err == nil:
			left = append(left, name)
		}
		if err != nil {
			left, failed = append(left, name), append(failed, fmt.Errorf("remove a backup: %w", err))
		}
	}
	return left, errors.Join(append(failed, w.state.SyncDir(w.backups))...)
}

// Erase removes what drop reports at once: backups, and what a write displaced and left beside its note.
// A program that has such a file open since before that write may still save to it, and that is lost.
func (w *Writer) Erase(drop func(note []byte) bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	names, err := w.allBackups()
	if err != nil {
		return err
	}
	failed := []error{}
	for _, name := range names {
		failed = append(failed, erase(w.state, name, drop))
	}
	for _, r := range w.open {
		if !r.unsettled && r.Copied {
			failed = append(failed, erase(w.notes, r.Temp, drop))
		}
	}
	return errors.Join(append(failed, w.state.SyncDir(w.backups))...)
}

func erase(disk durable.FS, name string, drop func(note []byte) bool) error {
	note, err := durable.ReadAll(disk, name)
	if err == nil && drop(note) {
		err = disk.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove an earlier version of a note: %w", err)
	}
	return nil
}

// watched reports whether a program may still save to a backup.
func (w *Writer) watched(name string) bool {
	return slices.ContainsFunc(w.open, func(r *record) bool { return strings.HasPrefix(name, r.Backup) })
}

// prune removes old backups. It reads their age from their names, and leaves files with other
// names alone.
func (w *Writer) prune(now time.Time) error {
	entries, err := w.state.ReadDir(w.backups)
	if err != nil {
		return fmt.Errorf("cannot remove old backups of notes: %w", err)
	}
	var failed []error
	for _, e := range entries {
		stamp, _, _ := strings.Cut(e.Name(), "-")
		made, err := time.Parse(backupTime, stamp)
		if err != nil || now.Sub(made) < w.pace.keep || w.watched(e.Name()) {
			continue
		}
		if err := w.state.Remove(filepath.Join(w.backups, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

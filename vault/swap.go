package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"
	"unicode/utf8"

	"emberd/internal/durable"
)

// swap makes the note and the temporary file change places. Where names cannot be
// exchanged the note is renamed aside, which takes whatever has its name at that
// moment, and the name is taken again only if it is still free.
func (w *Writer) swap(r *record) error {
	if !r.Aside {
		err := w.notes.Exchange(r.Temp, r.Path)
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		w.fallback, r.Aside = true, true
		if err := w.save(r); err != nil {
			return err
		}
	}
	if err := w.notes.Rename(r.Path, r.aside()); err != nil {
		return err
	}
	// A power cut may keep a rename and drop the one before, so that it overwrites what
	// the one before would have taken away: hence the syncs.
	err := w.notes.SyncDir(r.dir())
	if err == nil {
		err = put(w.notes, r.Temp, r.Path)
	}
	switch {
	case err == nil:
		if err = w.notes.SyncDir(r.dir()); err == nil {
			err = w.fromAside(r)
		}
		return err
	case errors.Is(err, fs.ErrExist): // saved anew meanwhile, which is the newest
		return w.keepAside(r)
	}
	return errors.Join(err, put(w.notes, r.aside(), r.Path))
}

func (w *Writer) fromAside(r *record) error {
	if err := w.notes.Rename(r.aside(), r.Temp); err != nil {
		return err
	}
	return w.notes.SyncDir(r.dir())
}

// keepAside moves what is aside to the backups, because the file at the note's name is newer.
func (w *Writer) keepAside(r *record) error {
	outside := w.backupName(r) + asideSuffix
	err := w.notes.Export(r.aside(), outside)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if err := w.copyOut(r.aside(), outside); err != nil {
		return err
	}
	return w.notes.Remove(r.aside())
}

func (w *Writer) copyOut(name, outside string) error {
	data, err := durable.ReadAtMost(w.notes, name, maxWritten)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(w.state, outside, data)
}

// finishSwap completes or reverts an exchange by way of aside.
func (w *Writer) finishSwap(r *record) error {
	if !r.Aside {
		return nil
	}
	err := w.finishSwapOnce(r)
	if errors.Is(err, fs.ErrExist) { // saved anew meanwhile
		err = w.finishSwapOnce(r)
	}
	return err
}

func (w *Writer) finishSwapOnce(r *record) error {
	note, temp, aside := w.exists(r.Path), w.exists(r.Temp), w.exists(r.aside())
	switch {
	case aside && !note:
		return put(w.notes, r.aside(), r.Path)
	case aside && !temp:
		return w.fromAside(r)
	case aside:
		return w.keepAside(r)
	case note || !temp || r.Op == opRemove || !r.crashed:
		return nil // without a crash, a note that is missing was deleted
	}
	if now, err := look(w.notes, r.Temp); err != nil || now == r.New {
		return err
	}
	return put(w.notes, r.Temp, r.Path)
}

func (w *Writer) exists(name string) bool {
	_, err := w.notes.Lstat(name)
	return err == nil
}

// settle runs V6 to V8 after names may have changed. It decides by what is on the disk, so it
// serves a write that continues as well as one that a crash interrupted. After an error,
// [Writer.Check] tries it again.
func (w *Writer) settle(r *record) (Result, error) {
	res, err := w.settled(r)
	if r.unsettled = err != nil; r.unsettled {
		w.open = append(w.open, r)
		w.putOff(r)
		return Result{}, fmt.Errorf("cannot write note %q: %w", r.Path, err)
	}
	return res, nil
}

func (w *Writer) settled(r *record) (Result, error) {
	if r.crashed {
		if err := w.syncNames(r); err != nil {
			return Result{}, err
		}
	}
	switch r.Op {
	case opCreate:
		return Result{}, w.discard(r) // the temporary file was never anything but ours
	case opMove:
		return Result{}, w.settleMove(r)
	}
	err := w.finishSwap(r)
	displaced := odd
	if err == nil {
		displaced, err = w.resolveContest(r)
	}
	if err == nil {
		err = w.notes.SyncDir(r.dir()) // V7
	}
	if err == nil {
		err = w.retire(r, displaced) // V8
	}
	if err != nil {
		return Result{}, err
	}
	return w.outcome(r)
}

// coming reports whether a late save may be on its way from the backups to its note.
func (r *record) coming() bool { return r.Op == opRestore && r.Kept == absent }

// syncNames syncs what a killed process did last, which a power cut may still revert. It first
// syncs the folder that a file went to, then the one that it came from.
func (w *Writer) syncNames(r *record) error {
	backups := func() error { return w.state.SyncDir(w.backups) }
	notes := func() error {
		if err := w.notes.SyncDir(r.dir()); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	first, second := backups, notes
	if r.coming() {
		first, second = notes, backups
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

// maxTurns bounds how often a save may come in between. When it is exceeded, the text of the
// program that saves has the name.
const maxTurns = 100

// resolveContest compares what was displaced with what was read (V6). If it differs, a program
// saved the note in between, and its text is newer than the one that replaced it: the two change
// places again, unless the note has been saved yet another time. It returns the digest of what is
// displaced in the end.
func (w *Writer) resolveContest(r *record) (digest, error) {
	if err := w.resume(r); err != nil {
		return odd, err
	}
	mine, theirs := r.New, r.Old
	for turn := 0; ; turn++ {
		name, err := look(w.notes, r.Path)
		if err != nil {
			return odd, err
		}
		data, err := durable.ReadAtMost(w.notes, r.Temp, maxWritten)
		temp := digestOf(data)
		if errors.Is(err, fs.ErrNotExist) {
			temp = absent
		} else if err != nil {
			temp = odd
		}
		if temp != absent || r.Kept == absent {
			r.Placed = name
		}
		switch {
		case temp == absent, temp == theirs, name != mine, r.crashed && torn(data):
			return temp, nil
		case turn >= maxTurns && mine != r.New:
			return temp, nil
		}
		if err := w.exchangeBack(r, mine); err != nil {
			return odd, err
		}
		mine, theirs = temp, mine
	}
}

// exchangeBack gives the name to what was displaced. A note that is to be removed, or that the
// user has deleted, has nothing to change places with.
func (w *Writer) exchangeBack(r *record, mine digest) error {
	var err error
	if mine == absent {
		err = put(w.notes, r.Temp, r.Path)
	} else {
		err = w.swap(r)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// resume continues to restore a late save that a crash interrupted.
func (w *Writer) resume(r *record) error {
	if r.Op != opRestore {
		return nil
	}
	temp, err := look(w.notes, r.Temp)
	if err != nil || temp == absent || temp == r.Old {
		return err
	}
	r.New = temp
	if name, err := look(w.notes, r.Path); err != nil || name != r.Old {
		return err
	}
	return w.exchangeBack(r, r.Old)
}

// torn reports whether a power cut may have left this of a text that was not on the disk yet.
func torn(data []byte) bool {
	return len(data) == 0 || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
}

// retire moves what was displaced to the backups. Check looks at it there, because a program that
// had it open may still save to it. To another file system it can only be copied, and stays hidden
// beside the note until the last look.
func (w *Writer) retire(r *record, displaced digest) error {
	switch {
	case displaced == absent:
		return w.alreadyRetired(r)
	case displaced == r.New && r.Placed == r.Old && r.Op == opUpdate: // never was the note
		return w.discard(r)
	}
	r.Kept = displaced
	// From here on only a late saver changes it, and not a power cut.
	if err := w.notes.SyncFile(r.Temp); err != nil && displaced != odd {
		return err
	}
	if err := w.save(r); err != nil {
		return err
	}
	err := w.export(r)
	if err == nil {
		err = w.state.SyncDir(w.backups)
	}
	if err == nil {
		err = w.notes.SyncDir(r.dir())
	}
	if err == nil {
		w.watch(r)
	}
	return err
}

func (w *Writer) export(r *record) error {
	kept, err := look(w.state, w.backupName(r))
	switch {
	case err != nil:
		return err
	case kept == r.Kept && r.Copied:
		return nil
	case kept == r.Kept: // a crash left it under both names
		return w.notes.Remove(r.Temp)
	case kept != absent:
		r.Backup += "-later"
		if err := w.save(r); err != nil {
			return err
		}
	}
	err = w.notes.Export(r.Temp, w.backupName(r))
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	r.Copied = true
	if err := w.save(r); err != nil {
		return err
	}
	return w.copyOut(r.Temp, w.backupName(r))
}

// alreadyRetired ends a write whose temporary file is gone: either a crash came after the move to
// the backups, or there never was such a file.
func (w *Writer) alreadyRetired(r *record) error {
	kept, err := look(w.state, w.backupName(r))
	if err != nil {
		return err
	}
	switch {
	case kept == absent:
		return w.forget(r)
	case r.Kept != absent:
	case r.Placed == r.New:
		r.Kept = r.Old
	default:
		r.Kept = kept
	}
	w.watch(r)
	return nil
}

func (w *Writer) outcome(r *record) (Result, error) {
	res := Result{Outcome: Conflict, Reason: HumanChanged, Backup: w.backupName(r)}
	if r.Placed != r.New || r.Op == opRestore {
		return res, nil
	}
	res.Outcome, res.Reason = Written, ""
	if r.New == absent {
		return res, nil
	}
	sum, err := r.New.bytes()
	res.Digest = sum
	return res, err
}

// discard ends a record whose temporary file contains only emberd's bytes. It removes the record
// last, since a power cut may restore the file.
func (w *Writer) discard(r *record) error {
	if w.exists(r.Temp) { // a disk that is read-only refuses to remove even what is not there
		if err := w.notes.Remove(r.Temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := w.notes.SyncDir(r.dir()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return w.forget(r)
}

// settleMove removes the old name if the note has both names.
func (w *Writer) settleMove(r *record) error {
	from, err := look(w.notes, r.Path)
	if err != nil {
		return err
	}
	to, err := look(w.notes, r.Target)
	if err != nil {
		return err
	}
	if from == r.Old && to == from && w.oneFile(r.Path, r.Target) {
		if err := w.notes.SyncDir(path.Dir(r.Target)); err != nil {
			return err
		}
		if err := w.notes.Remove(r.Path); err != nil {
			return err
		}
	}
	for _, dir := range []string{path.Dir(r.Target), r.dir()} {
		if !w.exists(dir) {
			continue
		}
		if err := w.notes.SyncDir(dir); err != nil {
			return err
		}
	}
	return w.forget(r)
}

// oneFile reports whether two names are one file. The disk in memory cannot tell and reports true.
func (w *Writer) oneFile(a, b string) bool {
	x, errA := w.notes.Lstat(a)
	y, errB := w.notes.Lstat(b)
	return errA == nil && errB == nil && fileOf("", x).Inode == fileOf("", y).Inode
}

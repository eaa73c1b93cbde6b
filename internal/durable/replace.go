package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Temporary names are tempPrefix, the 26 letters and digits of [rand.Text], tempSuffix: hidden
// from editors and sync tools, never longer than 44 bytes, and recognised by [SweepTemps].
const (
	tempPrefix = ".durable-"
	tempSuffix = ".tmp"
)

// ReplaceFile gives name the content data, whole or not at all, mode 0600. If name is a symbolic
// link the link is replaced. Two calls for the same name are safe; the later rename wins.
//
// The steps, and what a crash after each of them leaves:
//
//  1. make a temporary file in the same directory: name untouched, perhaps a stray temporary file
//  2. write data to it, sync it, close it: the same
//  3. rename it to name: a killed process leaves the new content; a power loss may take name back
//     to its old content, then perhaps with the complete temporary file beside it
//  4. sync the directory: the new content, for good
//
// When a step fails the temporary file is removed and name keeps its old content, except that
// after a failed step 4 name has the new content now and may have the old one after a power loss.
func ReplaceFile(fsys FS, name string, data []byte) error {
	return ReplaceFileBy(fsys, name, whole(data))
}

// ReplaceFileBy is [ReplaceFile] for what is better not in memory at once: write hands it to w,
// which does not buffer. An error of write leaves name as it was.
func ReplaceFileBy(fsys FS, name string, write func(w io.Writer) error) error {
	if err := replaceUnlisted(fsys, name, write); err != nil {
		return err
	}
	if err := fsys.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("cannot sync the directory of %s after replacing the file: %w", name, err)
	}
	return nil
}

// ReplaceUnlisted is [ReplaceFile] without step 4, for the many files of a directory, which the
// caller syncs once after all of them. It may be called from several goroutines.
func ReplaceUnlisted(fsys FS, name string, data []byte) error {
	return replaceUnlisted(fsys, name, whole(data))
}

func whole(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

func replaceUnlisted(fsys FS, name string, write func(w io.Writer) error) error {
	temp := filepath.Join(filepath.Dir(name), tempPrefix+rand.Text()+tempSuffix)
	if err := writeTemp(fsys, temp, write); err != nil {
		return errOfTemp("replace", name, temp, err)
	}
	if err := fsys.Rename(temp, name); err != nil {
		discard(fsys, temp)
		return errOfTemp("replace", name, temp, err)
	}
	return nil
}

// writeTemp makes the file temp and syncs into it what write writes, or leaves no such file.
func writeTemp(fsys FS, temp string, write func(w io.Writer) error) error {
	f, err := fsys.CreateAppend(temp)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		discard(fsys, temp)
	}
	return err
}

// errOfTemp returns the error of making a file by way of a temporary one. An error of the disk is an
// *fs.PathError of the file itself: the name of the temporary file does not help the user.
func errOfTemp(op, name, temp string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == temp && err == error(e) {
		return &fs.PathError{Op: op, Path: name, Err: e.Err}
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok && e.Old == temp && err == error(e) {
		return &fs.PathError{Op: op, Path: name, Err: e.Err}
	}
	return fmt.Errorf("%s %s: %w", op, name, err)
}

// discard removes a temporary file on the way out of a failure. That failure is what the caller
// must hear of; a temporary file that cannot be removed either is left to SweepTemps.
func discard(fsys FS, temp string) { _ = fsys.Remove(temp) }

// SweepTemps removes the temporary files that a crash inside [ReplaceFile] left in dir. It must
// not run beside a ReplaceFile in dir, so call it at start-up, under the lock. All files are
// tried; what could not be removed is joined in the error. A missing dir holds none.
func SweepTemps(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot remove temporary files: %w", err)
	}
	var failed []error
	for _, e := range entries {
		if !e.Type().IsRegular() || !isTemp(e.Name()) {
			continue
		}
		if err := fsys.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Errorf("cannot remove a temporary file: %w", err))
		}
	}
	return errors.Join(failed...)
}

// isTemp is strict about the random part: dir may be the user's own folder.
func isTemp(name string) bool {
	random, prefixed := strings.CutPrefix(name, tempPrefix)
	random, suffixed := strings.CutSuffix(random, tempSuffix)
	const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	return prefixed && suffixed && len(random) == 26 && strings.Trim(random, base32) == ""
}

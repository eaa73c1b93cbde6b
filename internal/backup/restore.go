package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/durable"
)

// ErrNotEmpty is the cause in the error of [Restore] for a target with something in it.
var ErrNotEmpty = errors.New("the folder is not empty")

// ErrNoRoom is the cause in the error of [Restore] when the disk cannot hold what
// the backup does.
var ErrNoRoom = errors.New("not enough free disk space")

// Restored reports what [Restore] did.
type Restored struct {
	Manifest
	Aside string // where what was in the target is now, "" if nothing was
}

// Restore puts what a backup holds in the place of the folder target. If there is
// something in it, it is an error, or with replace moved aside to a name beside
// it. No other program may use the folder until then. A crash leaves the folder as it
// was, or restored, or, when it comes between two renames, missing, with both
// under their names beside it; and perhaps a folder .restore-… that can go.
//
// Before is called once all is verified and unpacked to the folder fresh, right before that
// replaces the target; its error ends it. It can change what is in the folder.
func Restore(ctx context.Context, fsys durable.FS, name, target string, replace bool,
	before func(fresh string, m *Manifest) error) (*Restored, error) {
	full, err := occupied(fsys, target)
	if err != nil {
		return nil, err
	}
	if full && !replace {
		return nil, fmt.Errorf("cannot restore to %s: %w", target, ErrNotEmpty)
	}
	if _, err := Verify(ctx, fsys, name); err != nil {
		return nil, err
	}
	fresh := filepath.Join(filepath.Dir(target), ".restore-"+rand.Text())
	u := &unpacked{fsys: fsys, root: fresh}
	m, err := u.all(ctx, name)
	if err == nil {
		err = before(fresh, m)
	}
	if err != nil {
		return nil, errors.Join(err, u.discard())
	}
	aside, err := swap(fsys, fresh, target, full)
	if err != nil {
		return nil, fmt.Errorf("cannot replace the target folder with the restored folder: %w",
			errors.Join(err, u.discard()))
	}
	return &Restored{Manifest: *m, Aside: aside}, nil
}

// occupied reports whether something is in the target.
func occupied(fsys durable.FS, target string) (bool, error) {
	entries, err := fsys.ReadDir(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read the target folder: %w", err)
	}
	return len(entries) > 0, nil
}

// replaced follows the name of a data folder in that of a folder which a restore moved aside.
const replaced = ".before-restore-"

// Replaced lists the folders that restores over a target moved aside. It is empty if they cannot be listed.
func Replaced(fsys durable.FS, target string) (folders []string) {
	entries, err := fsys.ReadDir(filepath.Dir(target))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(target)+replaced) {
			folders = append(folders, filepath.Join(filepath.Dir(target), e.Name()))
		}
	}
	return folders
}

// swap moves what is in the target aside and the fresh folder into its place.
// The names are random or free; a folder that is not empty is replaced by no
// rename.
func swap(fsys durable.FS, fresh, target string, full bool) (aside string, err error) {
	if full {
		aside = target + replaced + rand.Text()[:8]
		err = moveAside(fsys, target, aside)
	} else if err = fsys.Remove(target); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return "", err
	}
	if err := fsys.Rename(fresh, target); err != nil {
		if full {
			err = errors.Join(err, fsys.Rename(aside, target))
		}
		return "", err
	}
	return aside, fsys.SyncDir(filepath.Dir(target))
}

// moveAside renames the folder, for good: the rename that follows must not reach
// the disk without this one.
func moveAside(fsys durable.FS, target, aside string) error {
	if err := fsys.Rename(target, aside); err != nil {
		return err
	}
	if err := fsys.SyncDir(filepath.Dir(target)); err != nil {
		return errors.Join(err, fsys.Rename(aside, target))
	}
	return nil
}

// unpacked is a folder that is being filled from a backup.
type unpacked struct {
	fsys durable.FS
	root string
	dirs []string // made so far, by slash-separated path; "" is the root
}

func (u *unpacked) all(ctx context.Context, name string) (*Manifest, error) {
	m, err := read(ctx, u.fsys, name, u.begin, func(f File, in io.Reader) error { return u.file(ctx, f, in) })
	if err != nil {
		return nil, err
	}
	for _, dir := range slices.Backward(u.dirs) {
		if err := u.fsys.SyncDir(u.path(dir)); err != nil {
			return nil, err
		}
	}
	return m, u.fsys.SyncDir(filepath.Dir(u.root))
}

func (u *unpacked) path(name string) string { return filepath.Join(u.root, filepath.FromSlash(name)) }

// begin makes the folder, if the disk has room for what the backup holds.
func (u *unpacked) begin(m *Manifest) error {
	parent := filepath.Dir(u.root)
	if err := durable.MkdirAll(u.fsys, parent); err != nil {
		return err
	}
	if free, err := u.fsys.Free(parent); err == nil && uint64(m.Bytes()) > free {
		return fmt.Errorf("%w: the backup needs %d bytes, but %s has only %d bytes free", ErrNoRoom, m.Bytes(), parent,
			free)
	}
	return u.folder("")
}

// folder makes a folder and those above it.
func (u *unpacked) folder(name string) error {
	if slices.Contains(u.dirs, name) {
		return nil
	}
	if name != "" {
		above := path.Dir(name)
		if err := u.folder(strings.TrimPrefix(above, ".")); err != nil {
			return err
		}
	}
	if err := u.fsys.Mkdir(u.path(name)); err != nil {
		return err
	}
	u.dirs = append(u.dirs, name)
	return nil
}

func (u *unpacked) file(ctx context.Context, f File, in io.Reader) error {
	dir := strings.TrimPrefix(path.Dir(f.Name), ".")
	if err := u.folder(dir); err != nil {
		return err
	}
	out, err := u.fsys.CreateAppend(u.path(f.Name))
	if err != nil {
		return err
	}
	if err = copyN(ctx, out, in, f.Size); err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// discard removes what was unpacked so far, and what was put beside it.
func (u *unpacked) discard() error { return removeAll(u.fsys, u.root) }

func removeAll(fsys durable.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	failed := []error{err}
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); e.IsDir() {
			failed = append(failed, removeAll(fsys, name))
		} else {
			failed = append(failed, fsys.Remove(name))
		}
	}
	return errors.Join(append(failed, fsys.Remove(dir))...)
}

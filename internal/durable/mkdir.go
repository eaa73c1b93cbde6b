package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// MkdirAll makes the directory name and its missing parents, mode 0700, and syncs the parent of
// every directory it made. A symbolic link to a directory counts as one.
//
// The first directory found in place has its parent synced too: an earlier process may have been
// killed between making the one and syncing the other, and only the sync tells. A parent that
// this user may not open is passed over, since no such process of this user got that far.
func MkdirAll(fsys FS, name string) error {
	if err := mkdirAll(fsys, filepath.Clean(name)); err != nil {
		return fmt.Errorf("cannot create directory %s: %w", name, err)
	}
	return nil
}

func mkdirAll(fsys FS, name string) error {
	parent := filepath.Dir(name)
	err := checkDir(fsys, name)
	if err == nil {
		return syncFoundParent(fsys, parent)
	}
	if parent == name || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := mkdirAll(fsys, parent); err != nil {
		return err
	}
	err = fsys.Mkdir(name)
	if errors.Is(err, fs.ErrExist) {
		// Another process was faster, or name is a dangling link. The sync is ours to wait for anyway.
		err = checkDir(fsys, name)
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(parent)
}

// checkDir returns nil if name is a directory or a link to one.
func checkDir(fsys FS, name string) error {
	info, err := fsys.Lstat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return nil
	case info.Mode()&fs.ModeSymlink == 0:
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	}
	_, err = fsys.ReadDir(name)
	return err
}

func syncFoundParent(fsys FS, parent string) error {
	if err := fsys.SyncDir(parent); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

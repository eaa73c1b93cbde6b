package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"emberd/internal/cli"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// backupTo has a backup made where the daemon may write and moves it to file, which the
// user may write to and the daemon, in its sandbox, may not.
func backupTo(ctx context.Context, s *cli.App, file string) (*op.BackupCreateResult, error) {
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, placeFault(file, err)
	}
	res, err := cli.Reach(ctx, s, op.BackupCreate, &op.BackupCreateRequest{})
	if err == nil {
		if err = copySynced(to, res.File); err != nil { // the user did not ask for one there
			err = errors.Join(err, os.Remove(res.File))
		}
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(file))
	}
	if err := (durable.OS{}).SyncDir(filepath.Dir(file)); err != nil {
		return nil, placeFault(file, err)
	}
	if err := os.Remove(res.File); err != nil { // there are two then, and both are whole
		return nil, fmt.Errorf("wrote %s, but could not delete the temporary copy: %w", file, err)
	}
	res.File = file
	return res, nil
}

// copySynced copies a file into one that is open, and waits for the disk.
func copySynced(to *os.File, name string) error {
	from, err := durable.OpenGiven(name)
	if err != nil {
		return fmt.Errorf("cannot read the backup: %w", err)
	}
	defer from.Close()
	if _, err := io.Copy(to, from); err != nil {
		return placeFault(to.Name(), err)
	}
	if err := to.Sync(); err != nil {
		return placeFault(to.Name(), err)
	}
	return nil
}

// placeFault says what to do about a place that a backup cannot be written to.
func placeFault(file string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return memory.Errorf(memory.Invalid, "%s already exists; choose another name", file)
	case errors.Is(err, fs.ErrPermission):
		return memory.Errorf(memory.Invalid, "cannot write %s: %w; choose another location", file, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return memory.Errorf(memory.DiskFull,
			"disk full: cannot write backup %s; free some space, or choose another location", file)
	}
	return memory.Errorf(memory.Invalid, "cannot write backup %s: %w; choose another location, or free some space",
		file, err)
}

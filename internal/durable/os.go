package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// OS is the real disk. The zero value is ready to use and may be copied.
type OS struct {
	// Barrier makes [File.Sync] only order writes, so that after a power loss
	// nothing is there whose forerunners are not. It is F_BARRIERFSYNC on macOS,
	// several times faster than a full sync; other systems sync in full.
	Barrier bool
}

var _ FS = OS{}

// appendFile is os.File with the data sync of this system. Its Write already continues after
// short writes and returns the bytes written with the error.
type appendFile struct {
	*os.File
	barrier bool
}

func (f appendFile) Sync() error {
	if f.barrier {
		return syncBarrier(f.File)
	}
	return syncData(f.File)
}

// CreateAppend implements [FS].
func (o OS) CreateAppend(name string) (File, error) {
	const flags = os.O_CREATE | os.O_EXCL | os.O_WRONLY | os.O_APPEND | unix.O_NOFOLLOW | unix.O_CLOEXEC
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return appendFile{File: f, barrier: o.Barrier}, nil
}

// OpenRead implements [FS].
func (OS) OpenRead(name string) (ReadFile, error) {
	// Opening a pipe waits for its writer unless O_NONBLOCK is set; regular files ignore it.
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// checkRegular asks the open file, since the name may mean something else by now.
func checkRegular(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: f.Name(), Err: ErrNotRegular}
	}
	return nil
}

// ReadDir implements [FS].
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Lstat implements [FS].
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Chmod changes the mode of a file.
func (OS) Chmod(name string, mode fs.FileMode) error { return os.Chmod(name, mode) }

// Mkdir implements [FS].
func (OS) Mkdir(name string) error { return os.Mkdir(name, 0o700) }

// Rename implements [FS].
func (OS) Rename(oldname, newname string) error { return os.Rename(oldname, newname) }

// RenameNoReplace implements [FS].
func (OS) RenameNoReplace(oldname, newname string) error {
	err := retryInterrupted(func() error { return renameExclusive(oldname, newname) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return linkAndUnlink(oldname, newname)
	}
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
}

// linkAndUnlink is the exclusive rename of file systems that have none. link(2) refuses a taken
// name; a crash before the unlink leaves both names.
func linkAndUnlink(oldname, newname string) error {
	if err := os.Link(oldname, newname); err != nil {
		return err
	}
	if err := os.Remove(oldname); err != nil {
		return fmt.Errorf("cannot remove the old name after linking %s: %w", newname, err)
	}
	return nil
}

// Remove implements [FS].
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncFile implements [FS]. The system keeps dirty pages by file, so that any descriptor will do.
func (OS) SyncFile(name string) error {
	f, err := OS{}.OpenRead(name)
	if err != nil {
		return err
	}
	return errors.Join(syncData(f.(*os.File)), f.Close())
}

// SyncDir implements [FS].
func (OS) SyncDir(name string) error {
	dir, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := dir.Sync(); err != nil {
		return errors.Join(err, dir.Close())
	}
	return dir.Close()
}

// Free implements [FS].
func (OS) Free(name string) (uint64, error) {
	var stat unix.Statfs_t
	if err := retryInterrupted(func() error { return unix.Statfs(name, &stat) }); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	return stat.Bavail * blockSize(&stat), nil
}

// retryInterrupted repeats a system call that a signal broke off, as package os does for its own.
func retryInterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

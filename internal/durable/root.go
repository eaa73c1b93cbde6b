package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Root is the disk below an [os.Root]: names are relative to it, and no symbolic link leads out.
// It is an [FS] for folders that people and other programs write to at the same time, hence
// [Root.Exchange], which [FS] has no use for, and a Sync of files that includes mode and owner.
// It may be used by several goroutines.
type Root struct{ root *os.Root }

var _ FS = Root{}

// NewRoot returns the disk below root, which stays the caller's to close.
func NewRoot(root *os.Root) Root { return Root{root} }

// CreateAppend implements [FS].
func (r Root) CreateAppend(name string) (File, error) {
	const flags = unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY | unix.O_APPEND
	f, err := r.open(name, flags)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// OpenRead implements [FS].
func (r Root) OpenRead(name string) (ReadFile, error) {
	f, err := r.openRegular(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (r Root) openRegular(name string) (*os.File, error) {
	f, err := r.open(name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// open goes through the directory, for [os.Root] would follow a link at the last name.
func (r Root) open(name string, flags int) (f *os.File, err error) {
	err = r.in("open", name, func(dir int, base string) error {
		fd, err := unix.Openat(dir, base, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == nil {
			f = os.NewFile(uintptr(fd), name)
		}
		return err
	})
	return f, err
}

// in calls with the directory of name, opened, and what name is called there.
func (r Root) in(op, name string, call func(dir int, base string) error) error {
	if name == "" {
		return &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
	}
	dir, err := r.root.OpenFile(filepath.Dir(name), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := onFile(dir, func(fd int) error { return call(fd, filepath.Base(name)) }); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// onFile calls with the number of an open file, again when a signal broke it off.
func onFile(f *os.File, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	closed := conn.Control(func(fd uintptr) {
		err = retryInterrupted(func() error { return call(int(fd)) })
	})
	if closed != nil {
		return fs.ErrClosed
	}
	return err
}

// ReadDir implements [FS].
func (r Root) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(r.root.FS(), filepath.Clean(name))
}

// Lstat implements [FS].
func (r Root) Lstat(name string) (fs.FileInfo, error) { return r.root.Lstat(name) }

// Mkdir implements [FS].
func (r Root) Mkdir(name string) error { return r.root.Mkdir(name, 0o700) }

// Rename implements [FS].
func (r Root) Rename(oldname, newname string) error {
	return r.between(oldname, newname, func(from int, oldbase string, to int, newbase string) error {
		err := unix.Renameat(from, oldbase, to, newbase)
		if errors.Is(err, unix.EISDIR) {
			return unix.EEXIST // as os.Rename says it
		}
		return err
	})
}

// RenameNoReplace implements [FS], without the fallback to links: a file system that has neither
// is errors.ErrUnsupported.
func (r Root) RenameNoReplace(oldname, newname string) error {
	return r.between(oldname, newname, renameExclusiveAt)
}

// Exchange makes each of two names mean what the other meant, at once: at no moment is there
// nothing at either. A file system that cannot do that is errors.ErrUnsupported.
func (r Root) Exchange(a, b string) error {
	return r.between(a, b, exchangeAt)
}

// between renames from one directory to another.
func (r Root) between(oldname, newname string,
	rename func(from int, oldbase string, to int, newbase string) error) error {
	err := r.in("rename", oldname, func(from int, oldbase string) error {
		return r.in("rename", newname, func(to int, newbase string) error {
			return rename(from, oldbase, to, newbase)
		})
	})
	return renamed(oldname, newname, err)
}

// renamed makes the error of a rename, which names both.
func renamed(oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
}

// Link gives a file a second name; a taken one is fs.ErrExist.
func (r Root) Link(oldname, newname string) error { return r.root.Link(oldname, newname) }

// Export moves a file out of the root, to a name of [OS] on the same file system; on another one
// the cause is syscall.EXDEV. A file of that name is replaced.
func (r Root) Export(name, outside string) error {
	return r.across(name, outside, func(in int, base string, out int, outbase string) error {
		return unix.Renameat(in, base, out, outbase)
	})
}

// Import moves a file that [Root.Export] moved out back in. A file of that name is replaced.
func (r Root) Import(outside, name string) error {
	return r.across(name, outside, func(in int, base string, out int, outbase string) error {
		return unix.Renameat(out, outbase, in, base)
	})
}

func (r Root) across(name, outside string, rename func(in int, base string, out int, outbase string) error) error {
	dir, err := os.OpenFile(filepath.Dir(outside), os.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	err = r.in("rename", name, func(in int, base string) error {
		return onFile(dir, func(out int) error { return rename(in, base, out, filepath.Base(outside)) })
	})
	return renamed(name, outside, err)
}

// SyncFile implements [FS]. Some other program may have written the file.
func (r Root) SyncFile(name string) error {
	f, err := r.openRegular(name)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// Remove implements [FS].
func (r Root) Remove(name string) error { return r.root.Remove(name) }

// SyncDir implements [FS].
func (r Root) SyncDir(name string) error {
	dir, err := r.root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	if err := dir.Sync(); err != nil {
		return errors.Join(err, dir.Close())
	}
	return dir.Close()
}

// Free implements [FS].
func (r Root) Free(name string) (uint64, error) {
	var stat unix.Statfs_t
	f, err := r.root.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := onFile(f, func(fd int) error { return unix.Fstatfs(fd, &stat) }); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	return stat.Bavail * blockSize(&stat), nil
}

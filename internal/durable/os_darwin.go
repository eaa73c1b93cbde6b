package durable

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// syncData is F_FULLFSYNC, since fsync(2) leaves data in the drive's cache here. Package os
// falls back to fsync(2) where the volume (SMB) answers ENOTSUP.
func syncData(f *os.File) error { return f.Sync() }

// syncBarrier is F_BARRIERFSYNC, or a full sync where the volume knows no barrier.
func syncBarrier(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	closed := conn.Control(func(fd uintptr) {
		err = retryInterrupted(func() error {
			_, err := unix.FcntlInt(fd, unix.F_BARRIERFSYNC, 0)
			return err
		})
	})
	switch {
	case closed != nil:
		return &fs.PathError{Op: "sync", Path: f.Name(), Err: fs.ErrClosed}
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EINVAL):
		return syncData(f)
	case err != nil:
		return &fs.PathError{Op: "sync", Path: f.Name(), Err: err}
	}
	return nil
}

func renameExclusive(oldname, newname string) error {
	return unix.RenamexNp(oldname, newname, unix.RENAME_EXCL)
}

func renameExclusiveAt(from int, oldbase string, to int, newbase string) error {
	return unix.RenameatxNp(from, oldbase, to, newbase, unix.RENAME_EXCL)
}

func exchangeAt(from int, oldbase string, to int, newbase string) error {
	return unix.RenameatxNp(from, oldbase, to, newbase, unix.RENAME_SWAP)
}

func blockSize(stat *unix.Statfs_t) uint64 { return uint64(stat.Bsize) }

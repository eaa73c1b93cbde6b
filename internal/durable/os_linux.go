package durable

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// syncData is fdatasync(2): it leaves out times and modes, and includes the size, which is
// needed to read the data back.
func syncData(f *os.File) error {
	if err := onFile(f, unix.Fdatasync); err != nil {
		return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}

// syncBarrier is a full sync: this system has no weaker one that keeps an order.
func syncBarrier(f *os.File) error { return syncData(f) }

func renameExclusive(oldname, newname string) error {
	return unix.Renameat2(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, unix.RENAME_NOREPLACE)
}

func renameExclusiveAt(from int, oldbase string, to int, newbase string) error {
	return unix.Renameat2(from, oldbase, to, newbase, unix.RENAME_NOREPLACE)
}

func exchangeAt(from int, oldbase string, to int, newbase string) error {
	return unix.Renameat2(from, oldbase, to, newbase, unix.RENAME_EXCHANGE)
}

// blockSize is the unit of f_bavail. Network and FUSE file systems put their preferred transfer
// size into f_bsize and the unit into f_frsize; old kernels leave the latter 0.
func blockSize(stat *unix.Statfs_t) uint64 {
	if stat.Frsize > 0 {
		return uint64(stat.Frsize)
	}
	return uint64(stat.Bsize)
}

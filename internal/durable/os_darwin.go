package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData is F_FULLFSYNC, since fsync(2) leaves data in the drive's cache here. Package os
// falls back to fsync(2) where the volume (SMB) answers ENOTSUP.
func syncData(f *os.File) error { return f.Sync() }

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

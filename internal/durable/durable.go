// Package durable is the thin seam between the program and a disk that may lose power.
//
// [FS] is the handful of file operations that the log and the notes are built from, with the
// rules that make them safe already applied: files are made exclusively and 0600, directories
// 0700, symbolic links are not followed to a file, and nothing but a regular file is read. [OS]
// is the real disk. The crashdisk package holds the other implementation, a disk in memory that
// forgets what was not synced.
//
// # What survives
//
// Data survives a power loss once [File.Sync] has returned nil, and a name (made, renamed or
// removed) once [FS.SyncDir] of its directory has. Until then either may or may not be there, in
// any combination: the data may be cut short, or keep its length and read as NUL bytes. A new
// directory is a name too, in its parent. Everything written survives the death of the process.
//
// A Sync that fails is final. The kernel marks the pages clean after a failed write-back, so the
// next Sync of that file says nil about data that is on no disk (Rebello et al., "Can
// Applications Recover from fsync Failures?", USENIX ATC 2020). Give the file up and write the
// data to a new one.
//
// # Sharing
//
// An FS may be used by several goroutines. A File belongs to one writer at a time.
package durable

import (
	"errors"
	"io"
	"io/fs"
)

// ErrNotRegular is the cause in the error of [FS.OpenRead] for a name that is a directory, a
// pipe, a device or a socket.
var ErrNotRegular = errors.New("not a regular file")

// File is an append-only file. One writer at a time. Methods called after Close return an error
// for which errors.Is(err, fs.ErrClosed) holds.
type File interface {
	// Write appends all of p, continuing after short writes of the system. When it fails it
	// returns how many bytes did reach the file, so that the caller can Truncate them away.
	io.Writer

	// Sync returns nil once everything written so far, and the size, are on the disk.
	// After an error the file must not be trusted again: see the package documentation.
	Sync() error

	// Truncate sets the size in bytes. The next Write goes to the new end.
	Truncate(size int64) error

	// Close releases the file without syncing it.
	Close() error

	// Name is the name that the file was made under, even after a rename.
	Name() string
}

// ReadFile is a regular file opened for reading. ReadAt may be called from several goroutines.
type ReadFile interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// FS is the disk. Errors are *fs.PathError or *os.LinkError around the cause of the system, so
// errors.Is works with fs.ErrExist, fs.ErrNotExist, fs.ErrPermission and the numbers of package
// syscall.
type FS interface {
	// CreateAppend makes a new empty file, mode 0600. A name that is taken, be it by a
	// dangling symbolic link, is fs.ErrExist.
	CreateAppend(name string) (File, error)

	// OpenRead opens a regular file. A symbolic link is refused, and so is, without
	// waiting for a writer, anything else that is not a regular file ([ErrNotRegular]).
	OpenRead(name string) (ReadFile, error)

	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)

	// Lstat describes name itself, not what it links to.
	Lstat(name string) (fs.FileInfo, error)

	// Mkdir makes one directory, mode 0700.
	Mkdir(name string) error

	// Rename moves a file or directory; a file that has the new name is replaced at once.
	Rename(oldname, newname string) error

	// RenameNoReplace is Rename, except that a taken new name is fs.ErrExist and stays.
	// Where the file system knows no such rename it works for files only, and a crash may
	// leave the file under both names.
	RenameNoReplace(oldname, newname string) error

	// Remove removes a file or an empty directory.
	Remove(name string) error

	// SyncFile returns nil once all that any process wrote to the regular file is on the
	// disk. It is for files of earlier processes; a writer syncs its own [File].
	SyncFile(name string) error
	// SyncDir returns nil once all names made, renamed or removed in the directory are on
	// the disk.
	SyncDir(name string) error

	// Free is the number of bytes that this user may still write on the file system that
	// holds name.
	Free(name string) (bytes uint64, err error)
}

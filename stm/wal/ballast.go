package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"syscall"

	"emberd/internal/durable"
)

// reservedSpace is a file that holds no data, only room. It goes when the disk is full,
// so that forgetting, purging and compacting can still write, and is made again
// when there is space. It is in the state folder, which is never synced, when
// that is on the disk of the log; else beside the segments, under a name that
// recovery passes over.
type reservedSpace struct {
	mu    sync.Mutex // one attempt at a time
	fs    durable.FS
	Name  string
	other string // the other place, where the file may be of an earlier start
	size  int64  // 0 is none
}

// NewBallast chooses the place of the file. dir is the device's folder, which need not exist yet;
// the folder above it does.
func NewBallast(fsys durable.FS, dir, state string, size int64) *reservedSpace {
	b := &reservedSpace{fs: fsys, Name: filepath.Join(state, "ballast"), other: filepath.Join(dir, ".ballast"),
		size: max(size, 0)}
	if DiskOf(fsys, filepath.Dir(dir)) != DiskOf(fsys, state) {
		b.Name, b.other = b.other, b.Name
	}
	return b
}

// Make makes sure that the ballast is there, whole and on the disk, and nowhere else.
func (b *reservedSpace) Make() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fs.Remove(b.other); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the reserved disk space of an earlier start: %w", err)
	}
	info, err := b.fs.Lstat(b.Name)
	if b.size == 0 || err == nil && info.Size() >= b.size {
		return nil
	}
	if err == nil { // an attempt that was cut off
		err = b.fs.Remove(b.Name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot reserve disk space: %w", err)
	}
	f, err := b.fs.CreateAppend(b.Name)
	if err != nil {
		return fmt.Errorf("cannot reserve disk space: %w", err)
	}
	if _, err = f.Write(noise(b.size)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot reserve disk space: %w", errors.Join(err, b.fs.Remove(b.Name)))
	}
	return nil
}

// Drop gives the room away and reports whether there was any. The directory is
// synced since some file systems free blocks only then.
func (b *reservedSpace) Drop() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size == 0 || b.fs.Remove(b.Name) != nil {
		return false
	}
	_ = b.fs.SyncDir(filepath.Dir(b.Name)) // the room is there in a moment anyway
	return true
}

// noise cannot be stored in less than it takes, as zeros can.
func noise(n int64) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // has no error
	return b
}

// DiskOf distinguishes file systems.
func DiskOf(fsys durable.FS, name string) uint64 {
	info, err := fsys.Lstat(name)
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

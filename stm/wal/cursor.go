package wal

import (
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Cursor is a point of the log: everything before it is in the table.
type Cursor struct {
	files   []fileMark // by number; without a name where there is nothing to cover
	seq     uint64
	clock   uint64
	changes int64
}

// covers reports whether a start that reads on from c knows where at is.
func (c *Cursor) covers(at record.Place) bool {
	return int64(at.File) < int64(len(c.files)) && at.Off < c.files[at.File].size
}

// written returns the place with the number that its file has in the snapshot,
// where files without a name are left out.
func (c *Cursor) written(at record.Place) record.Place {
	for _, f := range c.files[:at.File] {
		if f.name == "" {
			at.File--
		}
	}
	return at
}

// fileMark is how far a log file was read or written, and how it looked then.
type fileMark struct {
	name    string
	size    int64 // 0 for a file that is to be read again
	mtime   int64 // nanoseconds
	inode   uint64
	growing bool   // it was being written, so that
	sum     uint32 // the CRC-32C of size bytes tells, instead of time and inode
}

func markOf(name string, info fs.FileInfo) fileMark {
	return fileMark{name: name, size: info.Size(), mtime: info.ModTime().UnixNano(), inode: device.InodeOf(info)}
}

// check reports how the file differs from what the mark says.
func (m *fileMark) check(fsys durable.FS) error {
	info, err := fsys.Lstat(m.name)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %v", table.ErrStale, err)
	case m.size == 0 || !m.growing && markOf(m.name, info) == *m:
		return nil
	case m.growing && m.beginning(fsys) == m.sum:
		return nil
	}
	return fmt.Errorf("%w: %s", table.ErrStale, filepath.Base(m.name))
}

// beginning is the CRC-32C of what the mark covers, of less when the file is
// shorter or cannot be read.
func (m *fileMark) beginning(fsys durable.FS) uint32 {
	f, err := fsys.OpenRead(m.name)
	if err != nil {
		return 0
	}
	defer f.Close()
	return m.sumOf(f)
}

// sumOf is beginning for a file that is open.
func (m *fileMark) sumOf(f io.ReaderAt) uint32 {
	sum := crc32.New(record.Castagnoli)
	if n, err := io.Copy(sum, io.NewSectionReader(f, 0, m.size)); err != nil || n < m.size {
		return 0
	}
	return sum.Sum32()
}

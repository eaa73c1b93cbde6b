package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
)

// ErrStale is why a snapshot that is whole is not used.
var ErrStale = errors.New("the snapshot does not match the log")

// Mark is how far a log file was read or written, and how it looked then. The zero Mark
// stands for a file that a snapshot has nothing to cover of.
type Mark struct {
	Name    string
	Size    int64 // 0 for a file that is to be read again
	MTime   int64 // nanoseconds
	Inode   uint64
	Growing bool   // it was being written, so that
	Sum     uint32 // the CRC-32C of Size bytes tells, instead of time and inode
}

// MarkOf is the mark of a file that was read to its end.
func MarkOf(name string, info fs.FileInfo) Mark {
	return Mark{Name: name, Size: info.Size(), MTime: info.ModTime().UnixNano(), Inode: device.InodeOf(info)}
}

// Check reports how the file differs from what the mark says, as [ErrStale].
func (m *Mark) Check(fsys durable.FS) error {
	info, err := fsys.Lstat(m.Name)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %v", ErrStale, err)
	case m.Size == 0 || !m.Growing && MarkOf(m.Name, info) == *m:
		return nil
	case m.Growing && extent.Sum(fsys, m.Name, m.Size) == m.Sum:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrStale, filepath.Base(m.Name))
}

// Marks are the files of a log by number, at one point of the log.
type Marks []Mark

// Covers reports whether a start that reads on from there knows where at is.
func (m Marks) Covers(at record.Place) bool {
	return int64(at.File) < int64(len(m)) && at.Off < m[at.File].Size
}

// written returns the place with the number that its file has in the snapshot,
// where files without a name are left out.
func (m Marks) written(at record.Place) record.Place {
	for _, f := range m[:at.File] {
		if f.Name == "" {
			at.File--
		}
	}
	return at
}

package extent

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// ShortFile is a file of this device's log that does not hold what was written to it.
type ShortFile struct {
	Name   string // base name
	Was    Extent
	Now    int64 // its length, -1 for one that is gone
	Change bool  // it is as long or longer, and what was written is not what it begins with
}

// Unfelt are the numbers whose loss takes nothing from a memory, nor from its history.
func (f ShortFile) Unfelt() (unfelt record.Ranges) {
	if f.Was.Change > 0 && f.Was.Change < f.Was.Last {
		unfelt.Add(f.Was.Change+1, f.Was.Last)
	}
	return unfelt
}

// String says in a clause what is wrong with the file.
func (f ShortFile) String() string {
	until := ""
	if !f.Was.At.IsZero() {
		until = f.Was.At.Time().Format(", written until 2006-01-02 15:04:05")
	}
	switch {
	case f.Now < 0:
		return fmt.Sprintf("%s is missing (earlier size: %d bytes%s)", f.Name, f.Was.Bytes, until)
	case f.Change:
		return fmt.Sprintf("%s no longer begins with its earlier %d bytes%s", f.Name, f.Was.Bytes, until)
	}
	return fmt.Sprintf("%s has %d of %d bytes%s", f.Name, f.Now, f.Was.Bytes, until)
}

// ShortFiles compares the files of a device, which lie in dir, with their extents. What a compacted
// file stands for may be gone.
func ShortFiles(fsys durable.FS, dir string, extents map[string]Extent) (short []ShortFile) {
	for base, was := range extents {
		f := ShortFile{Name: base, Was: was, Now: -1}
		info, err := fsys.Lstat(filepath.Join(dir, base))
		switch {
		case errors.Is(err, fs.ErrNotExist) && standsIn(fsys, dir, base):
			continue
		case err == nil && info.Size() >= was.Bytes:
			if was.Sum == 0 || Sum(fsys, filepath.Join(dir, base), was.Bytes) == was.Sum {
				continue
			}
			f.Now, f.Change = info.Size(), true
		case err == nil:
			f.Now = info.Size()
		}
		short = append(short, f)
	}
	slices.SortFunc(short, func(a, b ShortFile) int { return compareNames(a.Name, b.Name) })
	return short
}

func compareNames(a, b string) int {
	x, y := record.ParseName(a), record.ParseName(b)
	return int(x.To) - int(y.To)
}

// standsIn reports whether a compacted file in dir covers a name.
func standsIn(fsys durable.FS, dir, base string) bool {
	entries, err := fsys.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return record.ParseName(e.Name()).Covers(record.ParseName(base))
	})
}

// Sum is the CRC-32C of the first bytes of a file, 0 if it has fewer or cannot be read.
func Sum(fsys durable.FS, name string, bytes int64) uint32 {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	return SumOf(f, bytes)
}

// SumOf is [Sum] of a file that is open.
func SumOf(f io.ReaderAt, bytes int64) uint32 {
	sum := crc32.New(record.Castagnoli)
	if n, err := io.Copy(sum, io.NewSectionReader(f, 0, bytes)); err != nil || n < bytes {
		return 0
	}
	return sum.Sum32()
}

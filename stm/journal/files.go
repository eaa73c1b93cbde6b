package journal

import (
	"path/filepath"
	"slices"
	"sync"

	"emberd/stm/record"
)

// FileTable numbers the files of the log, for the places of lines. A number is never
// used for another file.
type FileTable struct {
	FilesMu sync.RWMutex    // guards what follows
	Files   []string        // by number, "" once unlinked
	retired map[uint32]bool // replaced by a compacted file, not unlinked yet
}

// AddFile gives a file a number for places.
func (s *FileTable) AddFile(name string) uint32 {
	s.FilesMu.Lock()
	defer s.FilesMu.Unlock()
	s.Files = append(s.Files, name)
	return uint32(len(s.Files) - 1)
}

// FileName is the file with a number, "" if it was unlinked.
func (s *FileTable) FileName(i uint32) string {
	s.FilesMu.RLock()
	defer s.FilesMu.RUnlock()
	return s.Files[i]
}

// FileOf returns the number of a file, a new one if it has none.
func (s *FileTable) FileOf(name string) uint32 {
	s.FilesMu.Lock()
	defer s.FilesMu.Unlock()
	if i := slices.Index(s.Files, name); i >= 0 {
		return uint32(i)
	}
	s.Files = append(s.Files, name)
	return uint32(len(s.Files) - 1)
}

// Retire takes files out of snapshots and reports which numbers they have. What
// looks up a line in one at this moment still finds it.
func (s *FileTable) Retire(names []string) (gone func(file uint32) bool) {
	s.FilesMu.Lock()
	defer s.FilesMu.Unlock()
	files := map[uint32]bool{}
	for i, name := range s.Files {
		if name != "" && slices.Contains(names, name) {
			files[uint32(i)] = true
			if s.retired == nil {
				s.retired = map[uint32]bool{}
			}
			s.retired[uint32(i)] = true
		}
	}
	return func(file uint32) bool { return files[file] }
}

// Forget leaves the number of an unlinked file empty.
func (s *FileTable) Forget(name string) {
	s.FilesMu.Lock()
	defer s.FilesMu.Unlock()
	if i := slices.Index(s.Files, name); i >= 0 {
		s.Files[i] = ""
		delete(s.retired, uint32(i))
	}
}

// InUse reports whether lines of a file are in the table by its name.
func (s *FileTable) InUse(name string) bool {
	s.FilesMu.RLock()
	defer s.FilesMu.RUnlock()
	i := slices.Index(s.Files, name)
	return i >= 0 && !s.retired[uint32(i)]
}

// CurrentFiles are the log's files by number, "" where a snapshot has nothing to
// cover: what was unlinked or replaced, and histories.
func (s *FileTable) CurrentFiles() []string {
	s.FilesMu.RLock()
	defer s.FilesMu.RUnlock()
	names := slices.Clone(s.Files)
	for i, name := range names {
		if s.retired[uint32(i)] || name != "" && record.ParseName(filepath.Base(name)).Kind == record.History {
			names[i] = ""
		}
	}
	return names
}

// RetiredFile reports whether another file stands for this one.
func (s *FileTable) RetiredFile(name string) bool {
	s.FilesMu.RLock()
	defer s.FilesMu.RUnlock()
	i := slices.Index(s.Files, name)
	return i >= 0 && s.retired[uint32(i)]
}

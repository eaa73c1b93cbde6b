package stm

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// addFile gives a file a number for places.
func (s *Store) addFile(name string) uint32 {
	s.filesMu.Lock()
	defer s.filesMu.Unlock()
	s.files = append(s.files, name)
	return uint32(len(s.files) - 1)
}

// fileName is the file with a number, "" if it was unlinked.
func (s *Store) fileName(i uint32) string {
	s.filesMu.RLock()
	defer s.filesMu.RUnlock()
	return s.files[i]
}

// fileOf returns the number of a file, a new one if it has none.
func (s *Store) fileOf(name string) uint32 {
	s.filesMu.Lock()
	defer s.filesMu.Unlock()
	if i := slices.Index(s.files, name); i >= 0 {
		return uint32(i)
	}
	s.files = append(s.files, name)
	return uint32(len(s.files) - 1)
}

// retire takes files out of snapshots and says which numbers they have. What
// looks up a line in one at this moment still finds it.
func (s *Store) retire(names []string) (gone func(file uint32) bool) {
	s.filesMu.Lock()
	defer s.filesMu.Unlock()
	files := map[uint32]bool{}
	for i, name := range s.files {
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

// forget leaves the number of an unlinked file empty.
func (s *Store) forget(name string) {
	s.filesMu.Lock()
	defer s.filesMu.Unlock()
	if i := slices.Index(s.files, name); i >= 0 {
		s.files[i] = ""
		delete(s.retired, uint32(i))
	}
}

// inUse reports whether lines of a file are in the table by its name.
func (s *Store) inUse(name string) bool {
	s.filesMu.RLock()
	defer s.filesMu.RUnlock()
	i := slices.Index(s.files, name)
	return i >= 0 && !s.retired[uint32(i)]
}

// currentFiles are the log's files by number, "" where a snapshot has nothing to
// cover: what was unlinked or replaced, and histories.
func (s *Store) currentFiles() []string {
	s.filesMu.RLock()
	defer s.filesMu.RUnlock()
	names := slices.Clone(s.files)
	for i, name := range names {
		if s.retired[uint32(i)] || name != "" && parseFileName(filepath.Base(name)).kind == History {
			names[i] = ""
		}
	}
	return names
}

// onWriter runs fn between two batches on the goroutine that changes log and
// table. When the store is closing it does not run.
func (s *Store) onWriter(ctx context.Context, fn func()) error {
	done := make(chan struct{})
	call := func() {
		fn()
		close(done)
	}
	select {
	case s.writer.calls <- call:
		<-done
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.writer.stop:
		return nil
	}
}

// sweepCompactions removes what a crash left of a compaction.
func (s *Store) sweepCompactions(dir string) {
	entries, err := s.fs.ReadDir(dir)
	if err != nil {
		return // reading the log tells
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), compactPrefix) || !strings.HasSuffix(e.Name(), compactSuffix) || !e.Type().IsRegular() {
			continue
		}
		if err := s.fs.Remove(filepath.Join(dir, e.Name())); err != nil {
			s.log.Warn("temporary file of a compaction not removed", "file", e.Name(), "error", err)
		}
	}
}

// retiredFile reports whether another file stands for this one.
func (s *Store) retiredFile(name string) bool {
	s.filesMu.RLock()
	defer s.filesMu.RUnlock()
	i := slices.Index(s.files, name)
	return i >= 0 && s.retired[uint32(i)]
}

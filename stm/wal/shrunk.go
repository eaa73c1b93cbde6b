package wal

import (
	"fmt"
	"slices"

	"emberd/stm/extent"
)

// lookForShrunk notices files of this device that were cut or deleted while the log is open. What they held is in
// memory: a refresh writes it again.
func (w *Writer) lookForShrunk() {
	s := w.S
	if !s.found.mu.TryLock() { // what a start found is being written
		return
	}
	short := extent.ShortFiles(s.FS, s.OwnDir(), lengths(s.extents.All()))
	short = slices.DeleteFunc(short, func(f extent.ShortFile) bool { // known since the start
		return slices.ContainsFunc(s.found.short, func(g extent.ShortFile) bool { return g.Name == f.Name })
	})
	s.found.mu.Unlock()
	if len(short) > 0 && !s.Rewriting.TryLock() { // a compaction is removing them
		return
	} else if len(short) > 0 {
		s.Rewriting.Unlock()
	}
	s.shrunk.Store(&short)
}

// askForRefresh has files that were cut or deleted made good, before a segment is begun.
func (w *Writer) askForRefresh() {
	if w.lookForShrunk(); len(shrunkNow(w.S)) > 0 && w.S.shrank != nil {
		w.S.shrank()
	}
}

// shrunkNow says in sentences which files were cut or deleted and are not made good yet.
func shrunkNow(s *Log) (out []string) {
	if short := s.shrunk.Load(); short != nil {
		for _, f := range *short {
			out = append(out, fmt.Sprintf("log file %s; emberd writes what it held again, from memory", f))
		}
	}
	return out
}

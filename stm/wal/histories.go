package wal

import (
	"path/filepath"

	"emberd/stm/extent"
	"emberd/stm/record"
)

// ReturnHistories copies from the log under data the histories of this device that are gone or damaged, if they are
// there byte for byte as a compaction made them, and returns how many. What was purged is in none of these: a purge
// gives the histories that it rewrites other names.
func ReturnHistories(s *Log, data string) (n int, err error) {
	if !s.Rewriting.TryLock() {
		return 0, errRewriting()
	}
	defer s.Rewriting.Unlock()
	var left []extent.ShortFile
	for _, f := range s.own.shortAtStart() {
		back := false
		if err == nil && record.ParseName(f.Name).Kind == record.History {
			back, err = healer{s}.returnHistory(filepath.Join(data, "stm", s.Device.String(), f.Name), f.Was)
		}
		if back {
			n++
			continue
		}
		left = append(left, f)
	}
	s.own.leave(left)
	return n, err
}

// returnHistory copies a history, and reports whether it did.
func (h healer) returnHistory(from string, was extent.Extent) (bool, error) {
	name := filepath.Join(h.OwnDir(), filepath.Base(from))
	back, err := extent.Copy(h.FS, from, name, was)
	if !back || err != nil {
		return false, err
	}
	h.Journal.NoteHistory(name)
	return true, h.noteMade(filepath.Base(name), was)
}

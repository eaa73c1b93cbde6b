package wal

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"emberd/internal/durable"
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
	if was.Sum == 0 || extent.Sum(h.FS, from, was.Bytes) != was.Sum {
		return false, nil
	}
	name := filepath.Join(h.OwnDir(), filepath.Base(from))
	err := durable.ReplaceFileBy(h.FS, name, func(w io.Writer) error {
		in, err := h.FS.OpenRead(from)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, io.LimitReader(in, was.Bytes))
		return errors.Join(err, in.Close())
	})
	if err == nil {
		err = h.noteMade(filepath.Base(name), was)
	}
	if err != nil {
		return false, fmt.Errorf("bring back a history of the log: %w", err)
	}
	h.Journal.NoteHistory(name)
	return true, nil
}

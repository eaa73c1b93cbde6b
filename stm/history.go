package stm

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"sync"
)

// histories knows the files of superseded lines. Their headers are read at
// start, the rest only when somebody asks for an entry that may be in them.
type histories struct {
	mu      sync.Mutex      // guards files
	files   map[string]span // by name; own and other devices'
	reading sync.Mutex      // held while they are read
}

// span is from the oldest to the newest stamp of a history's lines.
type span struct{ oldest, newest Stamp }

// anySpan is that of a history whose header cannot be read.
var anySpan = span{newest: Stamp{T: 1<<64 - 1}}

// note takes a history into account. One whose header cannot be read may hold
// anything.
func (s *Store) noteHistory(name string) {
	all := anySpan
	if h, err := s.readHeader(name); err == nil {
		oldest, err1 := ParseStamp(h.Oldest)
		newest, err2 := ParseStamp(h.Newest)
		if err1 == nil && err2 == nil {
			all = span{oldest, newest}
		}
	}
	s.histories.mu.Lock()
	defer s.histories.mu.Unlock()
	if s.histories.files == nil {
		s.histories.files = map[string]span{}
	}
	s.histories.files[name] = all
}

// listHistories takes the histories into account that another device's folder
// holds now. What was read of histories is read again if there are others.
func (s *Store) listHistories(dir string, entries []fs.DirEntry) {
	present := map[string]bool{}
	for _, e := range entries {
		if isLogFile(e) && parseFileName(e.Name()).kind == History {
			present[filepath.Join(dir, e.Name())] = true
		}
	}
	changed := s.histories.retain(dir, present)
	for name := range present {
		if !s.histories.knows(name) {
			s.noteHistory(name)
			changed = true
		}
	}
	if changed {
		s.journal.swap(func(uint32) bool { return false }, nil)
	}
}

// retain drops the histories of a folder that are gone and reports whether any is.
func (h *histories) retain(dir string, present map[string]bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.files)
	maps.DeleteFunc(h.files, func(name string, _ span) bool { return filepath.Dir(name) == dir && !present[name] })
	return len(h.files) < before
}

// knows reports whether the header of a history was read.
func (h *histories) knows(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := h.files[name]
	return ok && f != anySpan
}

// mayHold reports whether an entry, or one that undid it, may have lines in a
// history: no line of either is older than the entry.
func (h *histories) mayHold(entry Stamp) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.files {
		if !entry.after(f.newest) {
			return true
		}
	}
	return false
}

func (h *histories) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make([]string, 0, len(h.files))
	for name := range h.files {
		names = append(names, name)
	}
	return names
}

func (h *histories) drop(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.files, name)
}

// thaw reads the histories, once between two compactions. A file that cannot be
// read is passed over and tried again by the next call.
func (s *Store) thaw() {
	s.histories.reading.Lock()
	defer s.histories.reading.Unlock()
	thawed, swaps := s.journal.thawing()
	if thawed {
		return
	}
	var lines []line
	all := true
	for _, name := range s.histories.names() {
		file := s.fileOf(name)
		err := s.readHistory(name, func(l *line) {
			lines = append(lines, line{stamp: l.stamp, tx: l.tx, ref: l.ref, at: place{file, l.at.off, l.at.n}})
		})
		if err != nil {
			all = false
			s.log.Warn("history not read", "file", name, "error", err)
		}
	}
	s.journal.thaw(lines, swaps, all)
}

// readHistory calls fn for every transaction line of a history.
func (s *Store) readHistory(name string, fn func(*line)) error {
	f, err := s.fs.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dev, _ := parseDevice(filepath.Base(filepath.Dir(name)))
	_, err = scanLines(context.Background(), f, atOnce(f, 0), func(b []byte, at place, whole bool) error {
		if l, _, is := classify(b, whole, dev); is == counted && l.op != opUse {
			l.at = at
			fn(&l)
		}
		return nil
	})
	return err
}

// newestEntry is journal.newest with the histories read when they may matter.
func (s *Store) newestEntry() (Stamp, bool) {
	tx, ok := s.journal.newest(s.device)
	if !ok || s.histories.mayHold(tx) {
		s.thaw()
		tx, ok = s.journal.newest(s.device)
	}
	return tx, ok
}

// entryLines is journal.lines with the histories read when they may matter.
func (s *Store) entryLines(tx Stamp) (refs []lineRef, undone bool) {
	if s.histories.mayHold(tx) {
		s.thaw()
	}
	return s.journal.lines(tx)
}

// hasEntry reports whether the journal knows an entry.
func (s *Store) hasEntry(tx Stamp) bool {
	if refs, _ := s.journal.lines(tx); len(refs) > 0 {
		return true
	}
	refs, _ := s.entryLines(tx)
	return len(refs) > 0
}

// isLogFile reports whether a directory entry is a file of the log.
func isLogFile(e fs.DirEntry) bool {
	return e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".jsonl") && !strings.HasPrefix(e.Name(), ".")
}

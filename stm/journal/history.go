package journal

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"

	"emberd/stm/record"
)

// histories knows the files of superseded lines. Their headers are read at
// start, the rest only when a caller asks for an entry that may be in them.
type histories struct {
	mu      sync.Mutex      // guards files
	files   map[string]span // by name; own and other devices'
	reading sync.Mutex      // held while they are read
}

// span is from the oldest to the newest stamp of a history's lines.
type span struct{ oldest, newest record.Stamp }

// anySpan is that of a history whose header cannot be read.
var anySpan = span{newest: record.Stamp{T: 1<<64 - 1}}

// NoteHistory records a history. One whose header cannot be read may hold
// anything.
func (j *Journal) NoteHistory(name string) {
	all := anySpan
	if h, err := j.ReadHeader(name); err == nil {
		oldest, err1 := record.ParseStamp(h.Oldest)
		newest, err2 := record.ParseStamp(h.Newest)
		if err1 == nil && err2 == nil {
			all = span{oldest, newest}
		}
	}
	j.Histories.mu.Lock()
	defer j.Histories.mu.Unlock()
	if j.Histories.files == nil {
		j.Histories.files = map[string]span{}
	}
	j.Histories.files[name] = all
}

// ListHistories takes the histories into account that another device's folder
// holds now. What was read of histories is read again if there are others.
func (j *Journal) ListHistories(dir string, entries []fs.DirEntry) {
	present := map[string]bool{}
	for _, e := range entries {
		if record.IsLogFile(e) && record.ParseName(e.Name()).Kind == record.History {
			present[filepath.Join(dir, e.Name())] = true
		}
	}
	changed := j.Histories.retain(dir, present)
	for name := range present {
		if !j.Histories.Knows(name) {
			j.NoteHistory(name)
			changed = true
		}
	}
	if changed {
		j.Swap(func(uint32) bool { return false }, nil)
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

// Knows reports whether the header of a history was read.
func (h *histories) Knows(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := h.files[name]
	return ok && f != anySpan
}

// mayHold reports whether an entry, or one that undid it, may have lines in a
// history: no line of either is older than the entry.
func (h *histories) mayHold(entry record.Stamp) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.files {
		if !entry.After(f.newest) {
			return true
		}
	}
	return false
}

func (h *histories) Names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make([]string, 0, len(h.files))
	for name := range h.files {
		names = append(names, name)
	}
	return names
}

func (h *histories) Drop(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.files, name)
}

// LoadHistory reads the histories, once between two compactions. A file that cannot be
// read is passed over and tried again by the next call.
func (j *Journal) LoadHistory() {
	j.Histories.reading.Lock()
	defer j.Histories.reading.Unlock()
	loaded, swaps := j.historyState()
	if loaded {
		return
	}
	var cold []record.LineRef
	undone := map[record.Stamp]record.Stamp{}
	all := true
	for _, name := range j.Histories.Names() {
		file := j.FileOf(name)
		err := j.readHistory(name, func(l *record.Line) {
			l.At.File = file
			cold = append(cold, record.RefOf(l))
			markUndone(undone, l)
		})
		if err != nil {
			all = false
			j.Logger.Warn("history not read", "file", name, "error", err)
		}
	}
	j.addHistory(cold, undone, swaps, all)
}

// readHistory calls fn for every transaction line of a history.
func (j *Journal) readHistory(name string, fn func(*record.Line)) error {
	f, err := j.FS.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dev, _ := record.ParseDevice(filepath.Base(filepath.Dir(name)))
	_, err = record.ScanLines(context.Background(), f, record.AtOnce(f, 0), func(b []byte, at record.Place,
		whole bool) error {
		if l, _, is := record.Classify(b, whole, dev); is == record.Counted && l.Op != record.OpUse {
			l.At = at
			fn(&l)
		}
		return nil
	})
	return err
}

// NewestEntry is journal.newest of this device with the histories read when they may matter.
func (j *Journal) NewestEntry(whole bool) (record.Stamp, bool) {
	tx, ok := j.newest(j.Device, whole)
	if !ok || j.Histories.mayHold(tx) {
		j.LoadHistory()
		tx, ok = j.newest(j.Device, whole)
	}
	return tx, ok
}

// EntryLines is journal.lines with the histories read when they may matter.
func (j *Journal) EntryLines(tx record.Stamp) (refs []record.LineRef, undone bool) {
	if j.Histories.mayHold(tx) {
		j.LoadHistory()
	}
	return j.Lines(tx)
}

// hasEntry reports whether the journal knows an entry.
func (j *Journal) hasEntry(tx record.Stamp) bool {
	if refs, _ := j.Lines(tx); len(refs) > 0 {
		return true
	}
	refs, _ := j.EntryLines(tx)
	return len(refs) > 0
}

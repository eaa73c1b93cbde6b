// Package notejournal keeps what callers changed in notes, with the bytes from before, so that each change can
// be undone for some time.
//
// A folder has a file for each entry, and one for each text, named by its SHA-256:
//
//	entries/0192f3a1b2c3-0004-vaultlog.json
//	{"tx":"0192f3a1b2c3-0004-vaultlog","verb":"note.edit","at":"2026-01-02T03:04:05Z","by":{…},
//	 "notes":[{"path":"Work/Plan.md","before":"9f86d0…","after":"60303a…"}]}
//	texts/9f86d0…
//
// An entry is on the disk before its notes change, so that a crash loses no text; the notes tell how far it
// came. Entries that are older than the journal keeps go, and so do the oldest of too many.
//
// A Journal may be used by several goroutines. It owns none.
package notejournal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/internal/stamp"
	"emberd/memory"
)

// Device is what the names of entries end in, where those of the log have a device.
const Device = "vaultlog"

// The bounds of a journal.
const (
	MaxEntries = 5_000
	MaxBytes   = 256 << 20 // of all texts together
)

// atOnce is how many texts are synced at a time: a disk writes those together that wait together.
const atOnce = 16

// Note is what an entry did to one note. Before and After are the SHA-256 of its bytes in hex.
type Note struct {
	Path   string `json:"path"`             // after the entry
	From   string `json:"from,omitempty"`   // before the entry, if that was another path
	Before string `json:"before,omitempty"` // "" for a note that the entry created
	After  string `json:"after,omitempty"`  // "" for one that it removed
}

// Entry is one change.
type Entry struct {
	Tx     string       `json:"tx"` // as the journal of memories names entries, with Device
	Verb   string       `json:"verb"`
	At     time.Time    `json:"at"`
	By     memory.Actor `json:"by"`
	Undoes string       `json:"undoes,omitempty"` // the entry that it reverts
	Notes  []Note       `json:"notes"`
}

// Is reports whether a name is that of an entry.
func Is(tx string) bool { return strings.HasSuffix(tx, "-"+Device) }

// Digest returns the digest of a text as entries have it.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Journal is the journal in one folder.
type Journal struct {
	fs   durable.FS
	dir  string
	now  func() time.Time
	keep time.Duration

	mu      sync.Mutex       // guards the fields below, and the folder
	read    bool             // the folder was read
	clock   stamp.Clock      // of the entries
	entries []Entry          // oldest first
	sizes   map[string]int64 // of the texts, by digest
}

// Open returns the journal in a folder, which is made and read when it is needed.
func Open(fsys durable.FS, dir string, now func() time.Time, keep time.Duration) *Journal {
	j := &Journal{fs: fsys, dir: dir, now: now, keep: keep, clock: stamp.Clock{Now: now}}
	copy(j.clock.Dev[:], Device)
	return j
}

func (j *Journal) entryFile(tx string) string { return filepath.Join(j.dir, "entries", tx+".json") }
func (j *Journal) textFile(sum string) string { return filepath.Join(j.dir, "texts", sum) }

// Begin adds an entry, whose name, time and digests it sets, and the texts from before its notes change: the
// bytes of each note, nil for one that the entry creates. When Begin returns, all of it is on the disk.
func (j *Journal) Begin(e Entry, texts [][]byte) (Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.load(); err != nil {
		return e, err
	}
	at := j.clock.Next()
	e.Tx, e.At, e.Notes = at.String(), at.Time(), slices.Clone(e.Notes)
	for i, text := range texts {
		if text != nil {
			e.Notes[i].Before = Digest(text)
		}
	}
	if err := j.store(texts); err != nil {
		return e, err
	}
	data, err := json.Marshal(e)
	if err == nil {
		err = durable.ReplaceFile(j.fs, j.entryFile(e.Tx), data)
	}
	if err != nil {
		return e, fmt.Errorf("cannot record a change to a note: %w", err)
	}
	j.entries = append(j.entries, e)
	return e, j.prune()
}

// store writes the texts that the journal does not have, and syncs them together.
func (j *Journal) store(texts [][]byte) error {
	news := make(map[string][]byte)
	for _, text := range texts {
		sum := Digest(text)
		if _, known := j.sizes[sum]; text != nil && !known {
			news[sum] = text
		}
	}
	if len(news) == 0 {
		return nil
	}
	sums := slices.Collect(maps.Keys(news))
	failed := make([]error, len(sums))
	contain.Each(len(sums), atOnce, func(i int) {
		failed[i] = durable.ReplaceUnlisted(j.fs, j.textFile(sums[i]), news[sums[i]])
	})
	err := cmp.Or(append(failed, j.fs.SyncDir(filepath.Join(j.dir, "texts")))...)
	if err != nil {
		return fmt.Errorf("cannot store the text of a note: %w", err)
	}
	for sum, text := range news {
		j.sizes[sum] = int64(len(text))
	}
	return nil
}

// Drop removes an entry of which nothing was carried out.
func (j *Journal) Drop(tx string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = slices.DeleteFunc(j.entries, func(e Entry) bool { return e.Tx == tx })
	return errors.Join(j.remove(j.entryFile(tx)), j.sweep())
}

// Entries returns all entries, newest first.
func (j *Journal) Entries() ([]Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.load()
	all := slices.Clone(j.entries)
	slices.Reverse(all)
	return all, err
}

// Wrote reports whether the latest entry about a path left a note of this digest there.
func (j *Journal) Wrote(path, digest string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.load() != nil {
		return false
	}
	for _, e := range slices.Backward(j.entries) {
		for _, note := range e.Notes {
			if note.Path == path || note.From == path {
				return note.Path == path && note.After == digest
			}
		}
	}
	return false
}

// Undone returns the entries that were reverted by one that was not, of entries that are sorted newest first.
func Undone(all []Entry) map[string]bool {
	undone := make(map[string]bool)
	for _, e := range all {
		if e.Undoes != "" && !undone[e.Tx] {
			undone[e.Undoes] = true
		}
	}
	return undone
}

// Text returns a text from before a change.
func (j *Journal) Text(sum string) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	text, err := durable.ReadAll(j.fs, j.textFile(sum))
	if err == nil && Digest(text) != sum {
		err = errors.New("the stored text is damaged")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the earlier text of a note: %w", err)
	}
	return text, nil
}

// Erase removes the texts that drop reports. Their entries stay, and cannot be undone.
func (j *Journal) Erase(drop func(text []byte) bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	failed := j.load()
	for sum := range j.sizes {
		text, err := durable.ReadAll(j.fs, j.textFile(sum))
		if err == nil && drop(text) {
			if err = j.remove(j.textFile(sum)); err == nil {
				delete(j.sizes, sum)
			}
		}
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, j.fs.SyncDir(filepath.Join(j.dir, "texts")))
}

// Forget removes notes from the entries: those at one of the paths, those whose text from before drop reports, and
// what else is at the path of such a text. An entry without other notes goes, and so do the texts that no entry has.
func (j *Journal) Forget(paths []string, drop func(text []byte) bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	failed := j.load()
	texts := make(map[string]bool)
	for sum := range j.sizes {
		text, err := durable.ReadAll(j.fs, j.textFile(sum))
		texts[sum] = err == nil && drop(text)
		failed = errors.Join(failed, err)
	}
	paths = slices.Clone(paths)
	for _, e := range j.entries {
		for _, note := range e.Notes {
			if texts[note.Before] {
				paths = append(paths, note.Path, cmp.Or(note.From, note.Path))
			}
		}
	}
	at := func(note Note) bool { return slices.Contains(paths, note.Path) || slices.Contains(paths, note.From) }
	kept := make([]Entry, 0, len(j.entries))
	for _, e := range j.entries {
		is, err := j.without(e, at)
		if failed = errors.Join(failed, err); err != nil || len(is.Notes) > 0 {
			kept = append(kept, is)
		}
	}
	j.entries = kept
	return errors.Join(failed, j.fs.SyncDir(filepath.Join(j.dir, "entries")), j.sweep(),
		j.fs.SyncDir(filepath.Join(j.dir, "texts")))
}

// without removes notes from an entry and its file, and returns the remaining entry.
func (j *Journal) without(e Entry, drop func(Note) bool) (Entry, error) {
	left := e
	if left.Notes = slices.DeleteFunc(slices.Clone(e.Notes), drop); len(left.Notes) == len(e.Notes) {
		return e, nil
	}
	data, err := json.Marshal(left)
	switch {
	case len(left.Notes) == 0:
		err = j.remove(j.entryFile(e.Tx))
	case err == nil:
		err = durable.ReplaceFile(j.fs, j.entryFile(e.Tx), data)
	}
	if err != nil {
		return e, err
	}
	return left, nil
}

// load reads the folder once. A file that cannot be read as an entry is passed over.
func (j *Journal) load() error {
	if j.read {
		return nil
	}
	for _, sub := range []string{"entries", "texts"} {
		dir := filepath.Join(j.dir, sub)
		if err := errors.Join(durable.MkdirAll(j.fs, dir), durable.SweepTemps(j.fs, dir)); err != nil {
			return fmt.Errorf("cannot open the record of note changes: %w", err)
		}
	}
	files, err := j.fs.ReadDir(filepath.Join(j.dir, "entries"))
	texts, failed := j.fs.ReadDir(filepath.Join(j.dir, "texts"))
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("cannot open the record of note changes: %w", err)
	}
	j.entries, j.sizes = nil, make(map[string]int64)
	for _, f := range files {
		if e, ok := j.readEntry(f.Name()); ok {
			j.entries = append(j.entries, e)
		}
	}
	slices.SortFunc(j.entries, func(a, b Entry) int { return cmp.Compare(a.Tx, b.Tx) })
	for _, f := range texts {
		if info, err := f.Info(); err == nil {
			j.sizes[f.Name()] = info.Size()
		}
	}
	j.read = true
	return errors.Join(j.prune(), j.sweep()) // an entry that a crash kept from being written, or removed, has no texts
}

func (j *Journal) readEntry(name string) (e Entry, ok bool) {
	data, err := durable.ReadAll(j.fs, filepath.Join(j.dir, "entries", name))
	if err != nil || json.Unmarshal(data, &e) != nil || e.Tx+".json" != name {
		return e, false
	}
	at, err := stamp.Parse(e.Tx)
	if err != nil {
		return e, false
	}
	j.clock.Observe(at)
	return e, true
}

// prune removes the entries that are too old or too many, and then the texts that none has.
func (j *Journal) prune() error {
	var total int64
	for _, size := range j.sizes {
		total += size
	}
	n := 0
	for n < len(j.entries)-1 && (len(j.entries)-n > MaxEntries || total > MaxBytes ||
		j.now().Sub(j.entries[n].At) > j.keep) {
		for _, note := range j.entries[n].Notes {
			total -= j.sizes[note.Before] // at least, for another entry may have it too
		}
		n++
	}
	if n == 0 {
		return nil
	}
	var failed []error
	for _, e := range j.entries[:n] {
		failed = append(failed, j.remove(j.entryFile(e.Tx)))
	}
	j.entries = slices.Delete(j.entries, 0, n)
	return errors.Join(append(failed, j.sweep())...)
}

// sweep removes the texts that no entry has.
func (j *Journal) sweep() error {
	used := make(map[string]bool)
	for _, e := range j.entries {
		for _, note := range e.Notes {
			used[note.Before] = true
		}
	}
	var failed []error
	for sum := range j.sizes {
		if !used[sum] {
			failed = append(failed, j.remove(j.textFile(sum)))
			delete(j.sizes, sum)
		}
	}
	return errors.Join(failed...)
}

func (j *Journal) remove(name string) error {
	if err := j.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

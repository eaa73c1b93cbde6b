package notesync

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/watcher"
)

// confirmedFor is how long after a confirmation further deletions count as confirmed.
const confirmedFor = time.Minute

// NoteChanges is the durable queue of changes seen in notes, one for each memory. A change is
// on disk before the index has the note, so that a crash loses none.
//
// The goroutine that reads notes adds changes, the one goroutine of Task takes those that are
// due, and a request may confirm deletions or count. A change is in All while it waits, and in
// applying while Task applies it.
type NoteChanges struct {
	fs   durable.FS
	File string

	// Mu guards the fields below. Methods hold it, also while they write the file, so the
	// store's writer goroutine must not wait for it (see NoteSync.restoredMu). Code that holds
	// Mu takes at most the lock of notes.NoteIDs, and never updates the store. Code that has
	// locked a row may take it.
	Mu          sync.Mutex
	All         map[memory.ID]*NoteChange
	applying    map[memory.ID]*NoteChange    // being applied by Task
	batch       map[memory.ID]bool           // memories with changes in the current batch
	moved       map[string]string            // renames of the batch; nil between batches
	digests     map[string][sha256.Size]byte // of the renamed notes as they were read last, by new path
	confirmed   time.Time                    // when deletions were last confirmed
	confirmedBy *memory.Actor                // and by whom
	failed      error                        // error of the last write
}

// openNoteChanges reads the changes of the last run. They are due as if they were new.
func openNoteChanges(fsys durable.FS, file string) (*NoteChanges, error) {
	b := &NoteChanges{fs: fsys, File: file, All: make(map[memory.ID]*NoteChange),
		applying: make(map[memory.ID]*NoteChange), batch: make(map[memory.ID]bool)}
	left, err := b.load()
	for _, w := range left {
		b.All[w.ID], b.batch[w.ID] = w, true
	}
	return b, err
}

// load reads the file. If it is lost, only edits shortly before the last exit are not applied
// until the note changes again.
func (b *NoteChanges) load() (left []*NoteChange, err error) {
	data, err := core.LastState(b.fs, b.File)
	if err != nil || data == nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &left); err != nil {
		return nil, fmt.Errorf("%s has an invalid format: %w", b.File, err)
	}
	return slices.DeleteFunc(left, func(w *NoteChange) bool { return w == nil || !isID(w.ID) }), nil
}

func isID(id memory.ID) bool {
	parsed, err := memory.ParseID(string(id))
	return err == nil && parsed == id
}

// save writes all changes that are not applied. Mu must be held.
func (b *NoteChanges) save() {
	var all []*NoteChange
	for _, w := range b.All {
		all = append(all, w)
	}
	for id, w := range b.applying {
		if b.All[id] == nil {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b *NoteChange) int { return strings.Compare(string(a.ID), string(b.ID)) })
	data, err := json.Marshal(all)
	if err == nil {
		err = durable.ReplaceFile(b.fs, b.File, data)
	}
	b.failed = err
}

// begin marks the start of a batch with its renames, and the digests of the notes as they were read
// last.
func (b *NoteChanges) begin(moved []watcher.Move, digests map[string][sha256.Size]byte) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.moved, b.digests = make(map[string]string), make(map[string][sha256.Size]byte)
	for _, m := range moved {
		b.moved[m.From] = m.To
		if digest, known := digests[m.From]; known {
			b.digests[m.To] = digest
		}
	}
}

// add adds the changes that the index will get, given the current notes by ID and the digests of those
// that are gone.
func (b *NoteChanges) add(c *notes.NoteIDs, read []notes.Reading, gone []string,
	last map[string][sha256.Size]byte) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	told := false
	for _, path := range gone {
		if id, ok := c.At(path); ok {
			hash := ""
			if digest, known := last[path]; known {
				hash = hex.EncodeToString(digest[:])
			}
			b.markDeleted(id, path, hash)
			told = true
		} else if b.moves(path) {
			told = true
		}
	}
	away := b.deletedByPath()
	for _, r := range read {
		before, was := c.At(r.Doc.Path)
		now, err := memory.ParseID(r.Doc.MemoryID)
		is := err == nil
		if was && (!is || before != now) {
			b.getOrCreate(before)
		}
		if is {
			b.noteRead(b.getOrCreate(now), &r, before != now)
		}
		told = told || was || is
		if r.Note != nil && !was { // it is back, with or without an ID
			for _, w := range away[r.Doc.Path] {
				w.noteAdded(r.Doc.Path)
				told = true
			}
		}
	}
	if told {
		b.save()
	}
}

// noteRead records that a note with the ID of a memory was read. It is a renamed note only if its
// bytes are those that were read under the old name, since a new file may have inode, size and time
// of a deleted one.
func (b *NoteChanges) noteRead(w *NoteChange, r *notes.Reading, added bool) {
	path := r.Doc.Path
	w.Changed = including(w.Changed, path)
	if added && r.Note != nil {
		w.moveByContent(path, hex.EncodeToString(r.Note.Digest[:]))
	}
	if added {
		w.noteAdded(path)
	}
	if digest, renamed := b.digests[path]; renamed && r.Note != nil && r.Note.Digest == digest {
		w.Same = including(w.Same, path)
	}
}

// moves records that a note that appeared was renamed, with or without an ID.
func (b *NoteChanges) moves(path string) (told bool) {
	to, moved := b.moved[path]
	if !moved {
		return false
	}
	for _, w := range b.All {
		if slices.Contains(w.Added, path) {
			w.move(path, to)
			told = true
		}
	}
	return told
}

// deletedByPath returns the changes of deleted notes by path.
func (b *NoteChanges) deletedByPath() map[string][]*NoteChange {
	out := make(map[string][]*NoteChange)
	for _, w := range b.All {
		for _, path := range w.Removed {
			out[path] = append(out[path], w)
		}
	}
	return out
}

func (b *NoteChanges) markDeleted(id memory.ID, path, digest string) {
	w := b.getOrCreate(id)
	if to, moved := b.moved[path]; moved {
		w.move(path, to)
		w.setLast(path, digest)
	} else {
		w.noteRemoved(path, digest)
	}
	if time.Since(b.confirmed) < confirmedFor {
		w.confirm(b.confirmedBy)
	}
}

// getOrCreate returns the pending change of a memory and postpones it to the end of the batch.
func (b *NoteChanges) getOrCreate(id memory.ID) *NoteChange {
	w := b.All[id]
	if w == nil {
		w = &NoteChange{ID: id}
		b.All[id] = w
	}
	w.Due, w.Held, w.tries = time.Time{}, false, 0
	b.batch[id] = true
	return w
}

// Schedule makes memories due at a time. alive is true if they were restored.
func (b *NoteChanges) Schedule(ids []memory.ID, due time.Time, alive bool) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for _, id := range ids {
		reading := b.batch[id]
		w := b.getOrCreate(id)
		if w.Restored = w.Restored || alive; !reading {
			w.Due = due
			delete(b.batch, id)
		}
	}
	if len(ids) > 0 {
		b.save()
	}
}

// end marks the end of the batch, whose changes become due.
func (b *NoteChanges) end(due time.Time) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for id := range b.batch {
		if w := b.All[id]; w != nil {
			w.Due = due
		}
	}
	clear(b.batch)
	b.moved, b.digests = nil, nil
}

// reads reports whether a batch is being read.
func (b *NoteChanges) reads() bool {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.moved != nil
}

// Next returns when the first change is due, zero for none.
func (b *NoteChanges) Next() time.Time {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	var first time.Time
	for _, w := range b.All {
		if !w.Held && !w.Due.IsZero() && (first.IsZero() || w.Due.Before(first)) {
			first = w.Due
		}
	}
	return first
}

// takeDue returns the due changes in the order of IDs, together with the deletions that wait
// for confirmation, because there may be fewer of them by now.
func (b *NoteChanges) takeDue(now time.Time) []*NoteChange {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	var out, held []*NoteChange
	for _, w := range b.All {
		switch {
		case w.Held:
			held = append(held, w)
		case !w.Due.IsZero() && !w.Due.After(now):
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil
	}
	out = append(out, held...)
	for _, w := range out {
		delete(b.All, w.ID)
		b.applying[w.ID] = w
	}
	slices.SortFunc(out, func(a, b *NoteChange) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// ack removes an applied change.
func (b *NoteChanges) ack(w *NoteChange) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	delete(b.applying, w.ID)
}

// Forget drops the change of a memory, in the file too.
func (b *NoteChanges) Forget(id memory.ID) error {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.All[id] == nil {
		return nil
	}
	delete(b.All, id)
	delete(b.batch, id)
	b.save()
	return b.failed
}

// requeue returns a change to the queue, joined with later ones.
func (b *NoteChanges) requeue(w *NoteChange, due time.Time, held bool) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	delete(b.applying, w.ID)
	w.Due, w.Held = due, held
	w.tries++
	if later := b.All[w.ID]; later != nil {
		w.add(later)
		w.Due, w.Held, w.tries = later.Due, false, 0
	}
	b.All[w.ID] = w
}

// store writes the file after changes were applied.
func (b *NoteChanges) store() error {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.save()
	return b.failed
}

// confirm confirms all deletions, and those of the next minute, and returns how many were
// waiting.
func (b *NoteChanges) confirm(by memory.Actor, due time.Time) (held int) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.confirmed, b.confirmedBy = time.Now(), &by
	for _, w := range b.All {
		if len(w.Removed) > 0 {
			w.confirm(&by)
		}
		if w.Held {
			w.Held, w.Due = false, due
			held++
		}
	}
	b.save()
	return held
}

// laterDeletions returns how many notes are gone whose changes are not due yet. Notes that disappear one after
// another disappear together.
func (b *NoteChanges) laterDeletions() (n int) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for _, w := range b.All {
		if len(w.Removed) > 0 && len(w.Added) == 0 && len(w.Moved) == 0 && !w.Confirmed {
			n++
		}
	}
	return n
}

// Confirming reports whether a confirmed deletion waits to be applied, and since when.
func (b *NoteChanges) Confirming() (since time.Time, waits bool) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for _, some := range []map[memory.ID]*NoteChange{b.All, b.applying} {
		for _, w := range some {
			waits = waits || w.Confirmed && len(w.Removed) > 0
		}
	}
	return b.confirmed, waits
}

// Count returns how many memories wait, and how many of them for confirmation.
func (b *NoteChanges) Count() (waiting, held int) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for _, w := range b.All {
		if w.Held {
			held++
		}
	}
	return len(b.All) + len(b.applying), held
}

// Contains reports whether a memory has a pending change.
func (b *NoteChanges) Contains(id memory.ID) bool {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.All[id] != nil || b.applying[id] != nil
}

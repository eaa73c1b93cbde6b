package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// How long memories must have been left alone before the lists of them are written, and
// how long at most they wait while memories keep changing.
const (
	listQuiet  = 30 * time.Second
	listLatest = 5 * time.Minute
)

// lists are the notes in which emberd lists its memories, and when they are to be
// written. A note is one by its property [vault.ListKey] and not by its name, so that
// it stays one wherever a human moves it, and is none any more when a human says so.
type lists struct {
	fs     durable.FS
	file   string
	now    func() time.Time
	wake   chan struct{} // holds a token when due changed
	wanted map[string]string

	writing sync.Mutex // held through a writing of the lists; guards what follows
	had     listFile
	wrote   map[string]wroteList
	inbox   [sha256.Size]byte // digest of the inbox as emberd wrote it or looked at it last
	tries   map[string]int
	spares  []spare

	mu     sync.Mutex // guards what follows
	begun  time.Time  // the first change since the lists were written, zero if none
	due    time.Time  // zero for not before something changes
	again  time.Time  // what waits is tried then, whatever changes meanwhile; zero for nothing
	away   bool       // the vault was, when they were to be written
	own    string     // path of the note that is being written, and read because of that
	heard  bool       // something new was read in it meanwhile
	purged []memory.ID
	states map[string]op.ListStatus
}

// listFile is what the state folder remembers.
type listFile struct {
	Had map[string]hadList `json:"had,omitempty"`
	// Purged are memories that may still be in backups of lists.
	Purged []memory.ID `json:"purged,omitempty"`
	Inbox  inboxFile   `json:"inbox,omitzero"`
}

// hadList is where a list was seen last, and what the setting was when it was made: one
// that is gone while the setting stayed was deleted by a human.
type hadList struct {
	Setting string `json:"setting"`
	Path    string `json:"path"`
}

// wroteList is a list as this run wrote it last: its text, and the state of the file then.
type wroteList struct {
	note archiveNote
	text string
}

// spare is a backup that holds nothing but what this daemon wrote, and what stands in the
// note, too.
type spare struct {
	backup, kind, text string
}

// newLists goes on where the last run ended.
func newLists(opt *Options, dir string) *lists {
	l := &lists{
		fs: opt.FS, file: filepath.Join(opt.State, "lists", stateName("notes", dir)+".json"), now: opt.Now, wake: make(chan struct{}, 1),
		wanted: map[string]string{"index": opt.VaultIndex, "core": opt.VaultCore, inboxKind: opt.ReviewInbox},
		wrote:  make(map[string]wroteList), tries: make(map[string]int), states: make(map[string]op.ListStatus),
	}
	data, err := lastState(l.fs, l.file)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &l.had)
	}
	if err != nil {
		opt.Logger.Warn("a list of memories that was deleted from the vault may come back", "err", err)
	}
	if l.had.Had == nil {
		l.had.Had = make(map[string]hadList)
	}
	return l
}

// holdsList reports whether a note holds a list of memories.
func holdsList(note *vault.Note) bool {
	return note != nil && slices.Contains(vault.Lists(), note.List)
}

// wants reports whether a list is to be made at a path. It may have been made just now and
// not be read yet.
func (l *lists) wants(path string) bool {
	for _, wanted := range l.wanted {
		if path != "" && path == wanted {
			return true
		}
	}
	return false
}

// committed takes in that memories changed. The store waits for it.
func (l *lists) committed(entry *stm.Entry) {
	if entry.Verb == purgeVerb {
		l.forget(entry.IDs)
	}
	l.changed()
}

// forget has earlier versions of lists go that tell of memories which were purged. It may be
// told of the same twice.
func (l *lists) forget(ids []memory.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.purged = slices.Compact(slices.Sorted(slices.Values(append(l.purged, ids...))))
}

// changed has the lists written when nothing has changed for a while.
func (l *lists) changed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off() && len(l.purged) == 0 {
		return
	}
	now := l.now()
	if l.begun.IsZero() {
		l.begun = now
	}
	l.due = now.Add(listQuiet)
	if latest := l.begun.Add(listLatest); latest.Before(l.due) {
		l.due = latest
	}
	nudge(l.wake)
}

// off reports whether there are no lists.
func (l *lists) off() bool {
	for _, path := range l.wanted {
		if path != "" {
			return false
		}
	}
	return true
}

// later has them written at a time, if that is not sooner anyhow.
func (l *lists) later(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.again.IsZero() || at.Before(l.again) {
		l.again = at
	}
	nudge(l.wake)
}

// next is when they are to be written, the zero time for not before something changes.
func (l *lists) next() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due.IsZero() || !l.again.IsZero() && l.again.Before(l.due) {
		return l.again
	}
	return l.due
}

// begin takes what has been asked for.
func (l *lists) begin() (purged []memory.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	purged, l.purged = l.purged, nil
	l.begun, l.due, l.again = time.Time{}, time.Time{}, time.Time{}
	return purged
}

// tell takes in notes that hold lists, or did: what a human made of them may have to be
// written. What emberd wrote itself is no news.
func (l *lists) tell(known *archiveFolder, read []reading, gone []string) {
	news := slices.ContainsFunc(gone, func(path string) bool { return known.state(path).List != "" })
	ticked := false
	for _, r := range read {
		before := known.state(r.doc.Path)
		is := holdsList(r.note) && asArchived(r.note) != before
		if !is && (before.List == "" || holdsList(r.note)) || l.hears(r.doc.Path) {
			continue
		}
		news = true
		ticked = ticked || is && r.note.List == inboxKind
	}
	if news {
		l.changed()
	}
	if ticked { // which does not wait until memories rest
		l.later(l.now().Add(listQuiet))
	}
}

// read says that a batch of notes was read to its end, the first or another one.
func (l *lists) read(first bool) {
	l.mu.Lock()
	away := l.away
	l.away = false
	l.mu.Unlock()
	if first || away {
		l.changed()
	}
}

// hears takes in that something new was read in a note, and reports whether that may be
// what is being written to it.
func (l *lists) hears(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := path == l.own
	l.heard = l.heard || own
	return own
}

// attend says which note is about to be written, which the watcher may read before it is
// known what was written; "" for none. It reports whether something new was read in the
// one before.
func (l *lists) attend(path string) (heard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard, l.own, l.heard = l.heard, path, false
	return heard
}

// attended ends the writing of a note. What was read in it, and was not found to be what
// was written, is news.
func (l *lists) attended() {
	if l.attend("") {
		l.changed()
		l.later(l.now().Add(listQuiet))
	}
}

// told keeps what became of a list for status.
func (l *lists) told(kind string, s op.ListStatus) {
	s.Kind = kind
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[kind] = s
}

// untold drops what is known of a list that is none any more.
func (l *lists) untold(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.states, kind)
}

func (l *lists) status() []op.ListStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []op.ListStatus
	for _, kind := range slices.Sorted(maps.Keys(l.states)) {
		out = append(out, l.states[kind])
	}
	return out
}

// listStatus tells what became of the lists, and how old their notes are.
func (e *Engine) listStatus() []op.ListStatus {
	out := e.lists.status()
	for i := range out {
		if out[i].Kind == inboxKind && out[i].State != op.ListOther {
			out[i].Open = e.openItems()
		}
		if note := e.notes.archive.state(out[i].Path); note.List != "" {
			out[i].Modified = time.Unix(0, note.ModTime).UTC()
		}
	}
	return out
}

// remember is called with writing held.
func (l *lists) remember(change func(*listFile) bool) error {
	if !change(&l.had) {
		return nil
	}
	data, err := json.Marshal(l.had)
	if err == nil {
		err = durable.ReplaceFile(l.fs, l.file, data)
	}
	if err != nil {
		return fmt.Errorf("remember which lists are in the vault: %w", err)
	}
	return nil
}

// keepLists writes the lists when they are due, until ctx is done. No timer runs while
// nothing has changed.
func (e *Engine) keepLists(ctx context.Context) {
	const name = "lists of memories"
	defer e.chores.disarm(name)
	for ctx.Err() == nil {
		var due <-chan time.Time
		if at := e.lists.next(); at.IsZero() {
			e.chores.disarm(name)
		} else {
			wait := max(at.Sub(e.opt.Now()), time.Second).Round(time.Second)
			due = time.After(wait)
			e.chores.arm(name, wait)
		}
		select {
		case <-ctx.Done():
		case <-e.lists.wake:
		case <-due:
			e.writeLists(ctx)
		}
	}
}

// writeLists brings the notes to what they are to say now. What fails, or has to wait,
// is tried again by itself, later and later.
func (e *Engine) writeLists(ctx context.Context) {
	l := e.lists
	l.writing.Lock()
	defer l.writing.Unlock()
	purged := l.begin()
	err := l.remember(func(f *listFile) bool {
		f.Purged = append(f.Purged, purged...)
		return e.sawLists(f) || len(purged) > 0
	})
	texts, settled := e.listTexts()
	if texts != nil {
		for _, kind := range vault.Lists() {
			write := e.writeList
			if kind == inboxKind {
				write = e.writeInbox
			}
			ready, failed := write(ctx, kind, texts[kind])
			settled = settled && ready
			err = errors.Join(err, failed)
		}
	}
	err = errors.Join(err, e.tidyLists(settled))
	if ctx.Err() == nil {
		e.chores.settle("writing of lists of memories", err)
	}
}

// sawLists takes in where the lists are, whoever wrote them, and reports a change.
func (e *Engine) sawLists(f *listFile) (changed bool) {
	for _, kind := range vault.Lists() {
		paths := e.listPaths(kind)
		if len(paths) == 0 {
			continue
		}
		had := f.Had[kind]
		now := hadList{Setting: had.Setting, Path: paths[0]}
		if had.Setting == "" {
			now.Setting = e.lists.wanted[kind]
		}
		if now != had {
			f.Had[kind], changed = now, true
		}
	}
	return changed
}

// listPaths are the notes that hold a list, by path. Copies that sync tools made are none.
func (e *Engine) listPaths(kind string) []string {
	var out []string
	for _, note := range e.notes.archive.list() {
		if note.List == kind && !note.Copy {
			out = append(out, note.Path)
		}
	}
	return out
}

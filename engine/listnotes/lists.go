package listnotes

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/notename"
)

// MemoryLists are the notes in which emberd lists memories, and when to write them. The
// property [vault.ListKey] marks such a note, not its name: it stays a list wherever the user
// moves it, and is none once the user removes the property.
type MemoryLists struct {
	*core.Debounce // when lists are written

	fs     durable.FS
	File   string
	now    func() time.Time
	Wanted map[string]string

	projects string // folder of the lists of projects, "" for none

	Writers map[string]ListWriter // lists of other features, by kind
	Open    func() int            // returns the number of open review items
	// Waits returns what else waits for the user, as status shows it.
	Waits func(context.Context) []op.Waiting

	// writing is held while the lists are written and guards the fields down to mu. Writing the
	// review note applies ticked decisions, so writing is taken before row locks, and before
	// NoteWriter.Mu and mu.
	writing sync.Mutex
	Had     ListFile
	Wrote   map[string]WrittenList
	Inbox   [sha256.Size]byte // digest of the review note as emberd last wrote or read it
	tries   map[string]int
	spares  []spareBackup

	// mu guards the fields below. It is held only to read or set them; the store's writer
	// goroutine takes it.
	mu             sync.Mutex
	vaultAway      bool   // the vault was not available when lists were due
	writingPath    string // path of the note that is being written
	readInMeantime bool   // it was read with other content in the meantime
	purged         []memory.ID
	states         map[string]op.ListStatus
}

// ListWriter writes one list, and reports whether nothing is left to do.
type ListWriter func(ctx context.Context, kind string, list ListText) (ready bool, err error)

// ListFile is the file in the state folder.
type ListFile struct {
	Had map[string]seenList `json:"had,omitempty"`
	// Purged are memories that backups of lists may still contain.
	Purged []memory.ID `json:"purged,omitempty"`
	Inbox  InboxFile   `json:"inbox,omitzero"`
}

// seenList is where a list was last, and the setting when it was created. If it is gone and
// the setting is the same, the user deleted it.
type seenList struct {
	Setting string `json:"setting"`
	Path    string `json:"path"`
}

// WrittenList is a list as this run last wrote it: its text, and the state of the file.
type WrittenList struct {
	Note notes.ArchiveNote
	Text string
}

// spareBackup is a backup that contains only what this daemon wrote, and what the note
// contains too.
type spareBackup struct {
	backup, kind, text string
}

// NewLists continues from the file of the last run.
func NewLists(opt *core.Options, dir string) *MemoryLists {
	l := &MemoryLists{
		fs: opt.FS, File: filepath.Join(opt.State, "lists", notes.StateName("notes", dir)+".json"), now: opt.Now,
		Debounce: core.NewDebounce(opt.Now),
		Wanted:   map[string]string{"index": opt.VaultIndex, "core": opt.VaultCore, InboxKind: opt.ReviewInbox},
		projects: opt.VaultProjects,
		Wrote:    make(map[string]WrittenList), tries: make(map[string]int), states: make(map[string]op.ListStatus),
	}
	data, err := core.LastState(l.fs, l.File)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &l.Had)
	}
	if err != nil {
		opt.Logger.Warn("state of memory lists not read; emberd might write deleted lists again", "err", err)
	}
	if l.Had.Had == nil {
		l.Had.Had = make(map[string]seenList)
	}
	return l
}

// Wants reports whether emberd writes a list at a path. The note may be new and not read yet.
func (l *MemoryLists) Wants(path string) bool {
	for _, wanted := range l.Wanted {
		if path != "" && path == wanted {
			return true
		}
	}
	return l.projects != "" && strings.HasPrefix(path, l.projects+"/")
}

// setting returns the path that the settings want for a list, "" for none.
func (l *MemoryLists) setting(kind string) string {
	project, is := strings.CutPrefix(kind, vault.ProjectList)
	if !is || l.projects == "" {
		return l.Wanted[kind]
	}
	return path.Join(l.projects, notename.New(project, ""))
}

// Committed records changed memories. The store's writer goroutine calls it and waits.
func (l *MemoryLists) Committed(entry *stm.Entry) {
	if entry.Verb == core.PurgeVerb {
		l.Forget(entry.IDs)
	}
	l.Changed()
}

// Forget requests the removal of earlier versions of lists with purged memories. Repeated
// calls are harmless.
func (l *MemoryLists) Forget(ids []memory.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.purged = slices.Compact(slices.Sorted(slices.Values(append(l.purged, ids...))))
}

// Changed schedules the lists for when nothing has changed for a while.
func (l *MemoryLists) Changed() {
	l.mu.Lock()
	idle := l.off() && len(l.purged) == 0
	l.mu.Unlock()
	if !idle {
		l.Debounce.Changed()
	}
}

// off reports whether there are no lists.
func (l *MemoryLists) off() bool {
	for _, path := range l.Wanted {
		if path != "" {
			return false
		}
	}
	return l.projects == ""
}

// begin clears what is due, and returns what was purged. What is purged meanwhile is due once more.
func (l *MemoryLists) begin() (purged []memory.ID) {
	l.Begin()
	l.mu.Lock()
	defer l.mu.Unlock()
	purged, l.purged = l.purged, nil
	return purged
}

// Observe records notes that are or were lists: after the user's edit they may have to be
// written. It ignores what emberd wrote.
func (l *MemoryLists) Observe(known *notes.ArchiveFolder, read []notes.Reading, gone []string) {
	news := slices.ContainsFunc(gone, func(path string) bool { return known.State(path).List != "" })
	ticked := false
	for _, r := range read {
		before := known.State(r.Doc.Path)
		is := core.HoldsList(r.Note) && notes.AsArchived(r.Note) != before
		if !is && (before.List == "" || core.HoldsList(r.Note)) || l.recordRead(r.Doc.Path) {
			continue
		}
		news = true
		ticked = ticked || is && r.Note.List == InboxKind
	}
	if news {
		l.Changed()
	}
	if ticked { // a tick does not wait until memories stay unchanged
		l.Later(l.now().Add(core.Quiet))
	}
}

// Read records the end of a batch of notes; first is true for the first one.
func (l *MemoryLists) Read(first bool) {
	l.mu.Lock()
	away := l.vaultAway
	l.vaultAway = false
	l.mu.Unlock()
	if first || away {
		l.Changed()
	}
}

// recordRead records that a note was read, and reports whether it is the one that is being written.
func (l *MemoryLists) recordRead(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := path == l.writingPath
	l.readInMeantime = l.readInMeantime || own
	return own
}

// Attend sets the note that will be written, because the watcher may read it before the result
// of the write is known; "" for none. It returns whether the previous one was read in the
// meantime.
func (l *MemoryLists) Attend(path string) (heard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard, l.writingPath, l.readInMeantime = l.readInMeantime, path, false
	return heard
}

// Attended ends the write of a note. If the note was read with other content, the lists are
// scheduled again.
func (l *MemoryLists) Attended() {
	if l.Attend("") {
		l.Changed()
		l.Later(l.now().Add(core.Quiet))
	}
}

// setState records the state of a list for status.
func (l *MemoryLists) setState(kind string, s op.ListStatus) {
	s.Kind = kind
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[kind] = s
}

// dropState drops the state of a note that is no longer a list.
func (l *MemoryLists) dropState(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.states, kind)
}

func (l *MemoryLists) status() []op.ListStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []op.ListStatus
	for _, kind := range slices.Sorted(maps.Keys(l.states)) {
		out = append(out, l.states[kind])
	}
	return out
}

// ListStatus returns the state of the lists, and how old their notes are.
func (e *Lists) ListStatus() []op.ListStatus {
	out := e.Lists.status()
	for i := range out {
		if out[i].Kind == InboxKind && out[i].State != op.ListOther {
			out[i].Open = e.Lists.Open()
		}
		if note := e.Notes.Vault.Archive.State(out[i].Path); note.List != "" {
			out[i].Modified = time.Unix(0, note.ModTime).UTC()
		}
	}
	return out
}

// Remember changes the file. writing must be held.
func (l *MemoryLists) Remember(change func(*ListFile) bool) error {
	if !change(&l.Had) {
		return nil
	}
	data, err := json.Marshal(l.Had)
	if err == nil {
		err = durable.ReplaceFile(l.fs, l.File, data)
	}
	if err != nil {
		return fmt.Errorf("cannot save the state of the memory lists: %w", err)
	}
	return nil
}

// Task writes the lists when they are due. Without changes it has no timer.
func (e *Lists) Task() *core.Task {
	return &core.Task{Name: "lists of memories", First: e.Lists.Next(), Wake: e.Lists.Wake(), Rest: time.Second,
		Woken: func(time.Time) time.Time { return e.Lists.Next() },
		Do: func(ctx context.Context) time.Time {
			e.WriteLists(ctx)
			return e.Lists.Next()
		}}
}

// WriteLists writes all lists. A failed or postponed write is tried again automatically, after
// a longer wait each time.
func (e *Lists) WriteLists(ctx context.Context) {
	l := e.Lists
	l.writing.Lock()
	defer l.writing.Unlock()
	purged := l.begin()
	err := l.Remember(func(f *ListFile) bool {
		f.Purged = append(f.Purged, purged...)
		return e.updateListPaths(f) || len(purged) > 0
	})
	texts, settled := e.listTexts()
	if texts != nil {
		for _, kind := range slices.Sorted(maps.Keys(texts)) {
			write, special := l.Writers[kind]
			if !special {
				write = e.writeList
			}
			ready, failed := write(ctx, kind, texts[kind])
			settled = settled && ready
			err = errors.Join(err, failed)
		}
	}
	err = errors.Join(err, e.tidyLists(settled))
	if ctx.Err() == nil {
		e.Chores.Settle("writing memory lists", err)
	}
}

// updateListPaths records where the lists are, and reports a change.
func (e *Lists) updateListPaths(f *ListFile) (changed bool) {
	kinds := vault.Lists()
	for _, note := range e.Notes.Vault.Archive.List() {
		if strings.HasPrefix(note.List, vault.ProjectList) && !slices.Contains(kinds, note.List) {
			kinds = append(kinds, note.List)
		}
	}
	for _, kind := range kinds {
		paths := e.listPaths(kind)
		if len(paths) == 0 {
			continue
		}
		had := f.Had[kind]
		now := seenList{Setting: had.Setting, Path: paths[0]}
		if had.Setting == "" {
			now.Setting = e.Lists.setting(kind)
		}
		if now != had {
			f.Had[kind], changed = now, true
		}
	}
	return changed
}

// listPaths returns the notes that are a list of this kind, by path, without copies of sync
// tools.
func (e *Lists) listPaths(kind string) []string {
	var out []string
	for _, note := range e.Notes.Vault.Archive.List() {
		if note.List == kind && !note.Copy {
			out = append(out, note.Path)
		}
	}
	return out
}

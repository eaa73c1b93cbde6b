package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"emberd/engine/core"
	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/vault"
)

// maxTries is how often a note that makes emberd panic is tried in the same state.
const maxTries = 2

// maxBroken bounds how many such notes are remembered; the others are tried again.
const maxBroken = 10_000

// BrokenNotes are the notes that made emberd panic. It keeps them on disk, so that a restart does
// not try a note for ever. A note that changed is tried again. Any goroutine may use it.
//
// The file is JSON: an object with an entry for each path. Behind the path of a note whose
// embedding failed is a NUL, which no path contains; that note is read and has no embeddings.
//
//	{"Garden/Soil.md":{"size":120,"modified":1730635200000000000,"changed":1730635200000000000,
//	"inode":7,"tries":2,"fault":"9f8e7d6c"}}
type BrokenNotes struct {
	fs   durable.FS
	file string
	log  *slog.Logger

	mu    sync.Mutex // guards notes and the file
	notes map[string]brokenNote
}

// brokenNote is the state of a note when it made emberd panic.
type brokenNote struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Changed  int64  `json:"changed"`
	Inode    uint64 `json:"inode"`
	Tries    int    `json:"tries"`
	Fault    string `json:"fault"` // of the last try, as in the log
}

// sameState reports whether a note is as it was when it was last tried.
func (b *brokenNote) sameState(f vault.File) bool {
	return b.Size == f.Size && b.Modified == f.ModTime.UnixNano() && b.Changed == f.ChangeTime.UnixNano() &&
		b.Inode == f.Inode
}

func (b *brokenNote) reason() string {
	text := fmt.Sprintf("an internal error occurred; to see the details, search the daemon log for fault %s", b.Fault)
	if b.Tries < maxTries {
		return text + "; emberd retries once"
	}
	return text + "; emberd retries when the note changes"
}

// openBroken reads the list of a vault. A list that cannot be read is empty, and is logged.
func openBroken(opt *core.Options, name string) *BrokenNotes {
	b := &BrokenNotes{fs: opt.FS, file: filepath.Join(opt.State, "index", name+".json"), log: opt.Logger,
		notes: make(map[string]brokenNote)}
	data, err := core.LastState(b.fs, b.file)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &b.notes)
	}
	if err != nil {
		b.log.Warn("list of failed notes not read; emberd retries the notes", "err", err)
	}
	return b
}

// refused returns why a note is not tried in its current state, "" if it is. It reads the note's
// file information only if the note failed before.
func (b *BrokenNotes) refused(v *vault.Vault, key, path string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	note, failed := b.notes[key]
	if !failed || note.Tries < maxTries {
		return ""
	}
	if f, err := v.Stat(path); err != nil || !note.sameState(f) {
		return ""
	}
	return note.reason()
}

// failed records a panic at a note and returns whether and why it is not read.
func (b *BrokenNotes) failed(v *vault.Vault, key, path string, p *contain.Panic) Unread {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, _ := v.Stat(path) // a note that is gone has the zero state, and no note is in that
	note := b.notes[key]
	if !note.sameState(f) {
		note = brokenNote{Size: f.Size, Modified: f.ModTime.UnixNano(), Changed: f.ChangeTime.UnixNano(),
			Inode: f.Inode}
	}
	note.Tries, note.Fault = note.Tries+1, p.ID
	if _, known := b.notes[key]; known || len(b.notes) < maxBroken {
		b.notes[key] = note
		b.save()
	}
	return Unread{Why: note.reason(), Again: note.Tries < maxTries}
}

// worked removes notes from the list, because they were read or are gone.
func (b *BrokenNotes) worked(paths ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.notes)
	for _, path := range paths {
		delete(b.notes, path)
	}
	if len(b.notes) < before {
		b.save()
	}
}

// save writes the list. mu must be held.
func (b *BrokenNotes) save() {
	data, err := json.Marshal(b.notes)
	if err == nil {
		err = durable.ReplaceFile(b.fs, b.file, data)
	}
	if err != nil {
		b.log.Warn("list of failed notes not written; emberd retries the notes after a restart", "err", err)
	}
}

// maxNamed is how many broken notes a warning names one by one.
const maxNamed = 5

// Warnings returns a warning for each note that emberd failed on, by path.
func (b *BrokenNotes) Warnings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for i, path := range slices.Sorted(maps.Keys(b.notes)) {
		if i == maxNamed {
			return append(out, fmt.Sprintf("emberd skips %d more notes; to list them, run: emberd vault check",
				len(b.notes)-maxNamed))
		}
		note, lacks := b.notes[path], "was not read"
		if strings.HasSuffix(path, embedding) {
			lacks = "has no embeddings"
		}
		out = append(out, fmt.Sprintf("note %q %s: %s", strings.TrimSuffix(path, embedding), lacks, note.reason()))
	}
	return out
}

// Contain calls fn, which works on one note. After a panic it records the note as broken, and
// after maxTries in the same state it does not call fn. It returns why the note is refused, "" if
// fn returned, and the error of fn. fn must release its locks by defer.
func (n *VaultNotes) Contain(path string, fn func() error) (why Unread, err error) {
	return n.contain(path, path, fn)
}

// embedding ends the key of a note whose embedding failed.
const embedding = "\x00"

// ContainEmbedding is [VaultNotes.Contain] for embedding a note, which has tries of its own.
func (n *VaultNotes) ContainEmbedding(path string, fn func() error) (why Unread, err error) {
	if why, err = n.contain(path+embedding, path, fn); why.Why == "" && err == nil {
		n.Broken.worked(path + embedding)
	}
	return why, err
}

func (n *VaultNotes) contain(key, path string, fn func() error) (why Unread, err error) {
	root := n.Root.Load()
	if reason := n.Broken.refused(root, key, path); reason != "" {
		return Unread{Why: reason}, nil
	}
	err = contain.Do(n.Log, contain.Note, path, fn)
	if p := contain.Of(err); p != nil {
		return n.Broken.failed(root, key, path, p), nil
	}
	return Unread{}, err
}

// refused is the reading of a note that emberd failed on. After the last try the note leaves the
// index.
func refused(reading Reading, why Unread) Reading {
	out := Reading{gone: !why.Again, Unread: why}
	out.Doc.Path = reading.Doc.Path
	return out
}

// applyContained applies a batch. If that panics, it applies the notes one by one, and those that
// panic alone are refused. To apply a note twice changes nothing more than to apply it once.
func (n *VaultNotes) applyContained(ctx context.Context, read []Reading, gone []string) error {
	err := contain.Do(n.Log, contain.Note, fmt.Sprintf("a batch of %d notes", len(read)+len(gone)), func() error {
		return n.Apply(ctx, read, gone)
	})
	if contain.Of(err) == nil {
		return err
	}
	for _, path := range gone {
		if err := n.applyOne(ctx, Reading{}, path); err != nil {
			return err
		}
	}
	for i := range read {
		if err := n.applyOne(ctx, read[i], ""); err != nil {
			return err
		}
	}
	return nil
}

// applyOne applies one reading, or the deletion of a note.
func (n *VaultNotes) applyOne(ctx context.Context, read Reading, gone string) error {
	path := gone
	apply := func() error { return n.Apply(ctx, nil, []string{gone}) }
	if gone == "" {
		path = read.Doc.Path
		apply = func() error { return n.Apply(ctx, []Reading{read}, nil) }
	}
	why, err := n.Contain(path, apply)
	if err != nil || why.Why == "" {
		return err
	}
	err = contain.Do(n.Log, contain.Note, path, func() error {
		return n.Apply(ctx, []Reading{refused(Reading{Doc: read.Doc}, why)}, nil)
	})
	if contain.Of(err) == nil {
		return err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.Skipped[path] = why
	return nil
}

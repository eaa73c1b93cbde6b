package notes

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"emberd/engine/core"
	"emberd/ltm"
	"emberd/vault"
	"emberd/watcher"
)

// How many notes, and how many of their bytes, are read and indexed together. Twice as many
// are read ahead, which bounds the memory for it. Indexed notes are searchable, so searches
// work long before a first reading ends.
const (
	readAtOnce = 256
	readBytes  = 8 << 20
)

// Reading is the result of reading one path.
type Reading struct {
	Doc    ltm.Doc
	Note   *vault.Note // nil if it was not read
	gone   bool        // to remove from the index
	Unread             // with a reason if the note exists and could not be read
}

// Reconcile updates the index to the current vault. It may run again for the same batch: it
// reads every file at the time of its turn.
func (n *VaultNotes) Reconcile(ctx context.Context, b watcher.Batch) error {
	n.Reopen()
	n.Rereads.Begin()
	defer n.Rereads.End()
	b.Changed = append(b.Changed, n.retryable(b)...)
	n.expect(b)
	n.Follower.Begin(b.Moved)
	if len(b.Gone) > 0 {
		if err := n.applyContained(ctx, nil, b.Gone); err != nil {
			return err
		}
	}
	for read := range n.readAhead(ctx, b.Changed) {
		if ctx.Err() != nil {
			break
		}
		if err := n.TakeIn(ctx, read); err != nil {
			return err
		}
		n.waiting.Add(int64(-len(read)))
		n.countLag(read, b.Full)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	n.end()
	n.Vitals.Followed(b)
	if err := n.Archive.save(); err != nil {
		n.Log.Warn("list of archived notes not written; emberd reads the archive folder again at the next start", "err",
			err)
	}
	n.Mu.Lock()
	n.problem = ""
	n.Mu.Unlock()
	return nil
}

// end tells the follower that the batch has ended. If that panics at the end of the first batch, the
// next one counts as the first.
func (n *VaultNotes) end() {
	first, told := n.Complete.CompareAndSwap(false, true), false
	defer func() {
		if first && !told {
			n.Complete.Store(false)
		}
	}()
	n.Follower.End(first)
	told = true
}

// countLag records how long changes took until searches find them. A full scan does not count.
func (n *VaultNotes) countLag(read []Reading, full bool) {
	for i := range read {
		if note := read[i].Note; note != nil && !full {
			n.Vitals.Searchable(note.ChangeTime)
		}
	}
}

// retryable returns the unreadable notes to try again, without those that the batch contains.
func (n *VaultNotes) retryable(b watcher.Batch) []watcher.File {
	n.Mu.RLock()
	defer n.Mu.RUnlock()
	var out []watcher.File
	for name, skipped := range n.Skipped {
		if !skipped.Again || slices.Contains(b.Gone, name) {
			continue
		}
		if !slices.ContainsFunc(b.Changed, func(f watcher.File) bool { return f.Path == name }) {
			out = append(out, watcher.File{Path: name})
		}
	}
	return out
}

// expect updates the progress figures.
func (n *VaultNotes) expect(b watcher.Batch) {
	n.waiting.Store(int64(len(b.Changed)))
	if n.Complete.Load() {
		return
	}
	index, _ := n.Current()
	paths := make(map[string]bool)
	for f := range n.Known(index) {
		paths[f.Path] = true
	}
	for _, name := range b.Gone {
		delete(paths, name)
	}
	for _, f := range b.Changed {
		paths[f.Path] = true
	}
	n.expected.Store(int64(len(paths)))
}

// Portion returns how many of the files are read together, at least one.
func Portion(files []watcher.File) int {
	size := int64(0)
	for i, f := range files {
		if size += f.Size; i+1 == readAtOnce || size >= readBytes {
			return i + 1
		}
	}
	return len(files)
}

// readAhead yields the readings of files, a portion at a time and in order. While one portion
// is indexed, the next two are read on all processors: indexing keeps one processor busy for
// longer than the others take to read.
func (n *VaultNotes) readAhead(ctx context.Context, files []watcher.File) iter.Seq[[]Reading] {
	return func(yield func([]Reading) bool) {
		ctx, cancel := context.WithCancel(ctx)
		portions := make(chan []Reading, 1)
		var reader sync.WaitGroup
		reader.Go(func() {
			defer close(portions)
			for len(files) > 0 {
				part := files[:Portion(files)]
				files = files[len(part):]
				select {
				case portions <- n.ReadAll(ctx, part):
				case <-ctx.Done():
					return
				}
			}
		})
		defer reader.Wait()
		defer cancel()
		for read := range portions {
			if !yield(read) {
				return
			}
		}
	}
}

// ReadAll reads notes in parallel and returns them in order.
func (n *VaultNotes) ReadAll(ctx context.Context, files []watcher.File) []Reading {
	out := make([]Reading, len(files))
	var workers sync.WaitGroup
	step := runtime.GOMAXPROCS(0)
	for w := range min(step, len(files)) {
		workers.Go(func() {
			for i := w; i < len(files); i += step {
				out[i] = n.Read(ctx, files[i].Path)
			}
		})
	}
	workers.Wait()
	return out
}

// Read reads one note for the index. A note that cannot be read has a reason in the result.
func (n *VaultNotes) Read(ctx context.Context, name string) (out Reading) {
	why, _ := n.Contain(name, func() error {
		out = n.read(ctx, name)
		return nil
	})
	if why.Why != "" {
		return refused(Reading{Doc: ltm.Doc{Path: name}}, why)
	}
	return out
}

func (n *VaultNotes) read(ctx context.Context, name string) Reading {
	note, err := n.Root.Load().Read(ctx, name)
	if err == nil && core.HoldsList(note) {
		note.MemoryID, note.Carried = "", nil // a list contains many memories
	}
	if err == nil {
		return Reading{Doc: docOf(note), Note: note}
	}
	out := Reading{Doc: ltm.Doc{Path: name}}
	switch skipped, ok := errors.AsType[*vault.Skipped](err); {
	case ok:
		out.Unread = Unread{Why: string(skipped.Reason), Again: skipped.Reason == vault.Unsettled}
		out.gone = skipped.Reason != vault.Unsettled && skipped.Reason != vault.NotLocal
	case errors.Is(err, fs.ErrNotExist):
		// The watcher reports it when it is deleted.
	case ctx.Err() == nil:
		n.Log.Warn("note not read", "vault", n.Dir, "path", name, "error", err)
		out.Unread = Unread{Why: err.Error(), Again: true}
	}
	return out
}

// Apply writes a batch to the index or to the archive folder's list, and then to the data
// derived from them.
func (n *VaultNotes) Apply(ctx context.Context, read []Reading, gone []string) error {
	n.Follower.Read(read, gone)
	missing := gone
	for _, r := range read {
		if r.Note == nil && r.gone {
			gone = append(gone, r.Doc.Path)
		}
	}
	n.Follower.Listed(read, gone)
	index, _ := n.Current()
	put, removed := n.Archive.split(read, gone)
	if err := index.Update(ctx, put, removed); err != nil {
		return err
	}
	if err := indexArchived(ctx, n, read, gone); err != nil {
		return err
	}
	n.Archive.record(read, gone)
	purged := n.anyPurged(read, gone)
	if n.Follower.Indexed(read, gone, purged); purged {
		if err := n.Scrub(ctx); err != nil {
			return err
		}
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, name := range gone {
		n.unread.Delete(name)
		delete(n.Skipped, name)
		n.Carriers.lost(name)
		n.Follower.Lost(name)
		if n.Links != nil {
			n.Links.Remove(name)
		}
		if n.Moved != nil {
			n.Moved[name] = true
		}
	}
	var worked []string
	for _, r := range read {
		n.Remember(r)
		if r.Note != nil {
			worked = append(worked, r.Doc.Path)
		}
	}
	for _, path := range missing {
		worked = append(worked, path, path+embedding)
	}
	n.Broken.worked(worked...)
	return nil
}

// anyPurged reports whether one of the notes is of a purged memory, so that its earlier texts have to leave the files.
func (n *VaultNotes) anyPurged(read []Reading, gone []string) bool {
	return slices.ContainsFunc(gone, n.Follower.Purged) ||
		slices.ContainsFunc(read, func(r Reading) bool { return n.Follower.Purged(r.Doc.Path) })
}

// Scrub removes the texts of notes that are gone or were changed from the files of the index
// ([ltm.Index.Scrub]) and from memory.
func (n *VaultNotes) Scrub(ctx context.Context) error {
	n.excerpts.clear()
	index, _ := n.Current()
	return errors.Join(index.Scrub(ctx), n.archived().Scrub(ctx))
}

// Remember records the result of a reading. Mu must be held.
func (n *VaultNotes) Remember(r Reading) {
	delete(n.Skipped, r.Doc.Path)
	if r.Why != "" {
		n.Skipped[r.Doc.Path] = r.Unread
	}
	if r.Note != nil {
		n.Carriers.record(r.Note)
		n.unread.Delete(r.Note.Path)
	}
	if r.Note != nil && !core.HoldsList(r.Note) {
		n.Follower.Remembered(r.Note)
	}
	if r.Note != nil && n.Links != nil {
		n.Links.Add(r.Note.Path, r.Note.Aliases, Targets(r.Note))
		n.Follower.Linked(r.Note)
	}
	if r.Note != nil && n.Moved != nil {
		n.Moved[r.Note.Path] = true
	}
}

// Targets returns the targets of a note's links.
func Targets(note *vault.Note) []string {
	out := make([]string, 0, len(note.Links))
	for _, l := range note.Links {
		out = append(out, l.Target)
	}
	return out
}

// docOf converts a note to a document of the index.
func docOf(note *vault.Note) ltm.Doc {
	doc := ltm.Doc{Path: note.Path, Title: note.Title, Aliases: note.Aliases, MemoryID: note.MemoryID, Text: note.Text,
		Created: note.Created, Modified: note.Updated,
		Cursor: ltm.Cursor{Digest: note.Digest, Size: note.Size, ModTime: note.ModTime, ChangeTime: note.ChangeTime,
			Inode: note.Inode}}
	if stem := strings.TrimSuffix(path.Base(note.Path), path.Ext(note.Path)); stem != note.Title {
		doc.Aliases = append(slices.Clone(note.Aliases), stem)
	}
	for _, t := range note.Tags {
		doc.Tags = append(doc.Tags, tagOfNote(t.Name))
	}
	for _, s := range note.Sections {
		doc.Sections = append(doc.Sections, ltm.Section{HeadingPath: s.Path, Line: s.Line, Text: s.Text})
	}
	for _, p := range note.Properties {
		doc.Properties = append(doc.Properties, ltm.Property{Key: p.Key, Value: p.Value})
	}
	if note.MemoryID != "" {
		doc.Properties = append(doc.Properties, ltm.Property{Key: MemoryIDKey, Value: note.MemoryID})
	}
	for _, l := range note.Links {
		if l.Text != "" && l.Text != l.Target {
			doc.LinkText = append(doc.LinkText, l.Target)
		}
	}
	return doc
}

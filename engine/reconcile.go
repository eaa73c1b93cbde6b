package engine

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

	"emberd/ltm"
	"emberd/vault"
	"emberd/watcher"
)

// How many notes are read and indexed together, and how many bytes they may have
// together, which bounds the memory that takes; two times as many are read ahead. What is
// indexed is searchable, so a first reading can be searched long before it ends.
const (
	readAtOnce = 256
	readBytes  = 8 << 20
)

// reading is what became of one path.
type reading struct {
	doc    ltm.Doc
	note   *vault.Note // nil when it was not read
	gone   bool        // not in the index any more, or never
	unread             // with a reason if it is there and could not be read
}

// reconcile brings the index to what the vault holds now. It repeats without
// harm: what a batch names is read as it is when its turn comes.
func (n *notes) reconcile(ctx context.Context, b watcher.Batch) error {
	n.reopen()
	n.rereads.begin()
	defer n.rereads.end()
	b.Changed = append(b.Changed, n.again(b)...)
	n.expect(b)
	n.truth.begin(b.Moved)
	if len(b.Gone) > 0 {
		if err := n.apply(ctx, nil, b.Gone); err != nil {
			return err
		}
	}
	for read := range n.readAhead(ctx, b.Changed) {
		if ctx.Err() != nil {
			break
		}
		if err := n.takeIn(ctx, read); err != nil {
			return err
		}
		n.waiting.Add(int64(-len(read)))
		n.vitals.indexed(read, b.Full)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	first := n.complete.CompareAndSwap(false, true)
	if first {
		n.meaning.anything() // which notes there are is known now
	}
	n.truth.end()
	n.vitals.followed(b)
	n.lists.read(first)
	if err := n.archive.save(); err != nil {
		n.log.Warn("the notes of the archive folder will be read again at the next start", "err", err)
	}
	n.mu.Lock()
	n.problem = ""
	n.mu.Unlock()
	return nil
}

// again returns the notes that could not be read before, and are to be tried
// again, unless the batch tells of them.
func (n *notes) again(b watcher.Batch) []watcher.File {
	n.mu.RLock()
	defer n.mu.RUnlock()
	var out []watcher.File
	for name, skipped := range n.skipped {
		if !skipped.again || slices.Contains(b.Gone, name) {
			continue
		}
		if !slices.ContainsFunc(b.Changed, func(f watcher.File) bool { return f.Path == name }) {
			out = append(out, watcher.File{Path: name})
		}
	}
	return out
}

// expect keeps the figures that tell how far the reading is.
func (n *notes) expect(b watcher.Batch) {
	n.waiting.Store(int64(len(b.Changed)))
	if n.complete.Load() {
		return
	}
	index, _ := n.current()
	paths := make(map[string]bool)
	for f := range n.known(index) {
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

// portion returns how many of the files are read together, one at least.
func portion(files []watcher.File) int {
	size := int64(0)
	for i, f := range files {
		if size += f.Size; i+1 == readAtOnce || size >= readBytes {
			return i + 1
		}
	}
	return len(files)
}

// readAhead yields what becomes of files, a portion at a time and in order. While one is
// indexed the next two are read, on all processors: building a part of the index keeps one
// of them busy for longer than the others take to read the next.
func (n *notes) readAhead(ctx context.Context, files []watcher.File) iter.Seq[[]reading] {
	return func(yield func([]reading) bool) {
		ctx, cancel := context.WithCancel(ctx)
		portions := make(chan []reading, 1)
		var reader sync.WaitGroup
		reader.Go(func() {
			defer close(portions)
			for len(files) > 0 {
				part := files[:portion(files)]
				files = files[len(part):]
				select {
				case portions <- n.readAll(ctx, part):
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

// readAll reads notes in parallel and returns them in order.
func (n *notes) readAll(ctx context.Context, files []watcher.File) []reading {
	out := make([]reading, len(files))
	var workers sync.WaitGroup
	step := runtime.GOMAXPROCS(0)
	for w := range min(step, len(files)) {
		workers.Go(func() {
			for i := w; i < len(files); i += step {
				out[i] = n.read(ctx, files[i].Path)
			}
		})
	}
	workers.Wait()
	return out
}

func (n *notes) read(ctx context.Context, name string) reading {
	note, err := n.vault.Load().Read(ctx, name)
	if err == nil && holdsList(note) {
		note.MemoryID, note.Carried = "", nil // a list is of many memories
	}
	if err == nil {
		return reading{doc: docOf(note), note: note}
	}
	out := reading{doc: ltm.Doc{Path: name}}
	switch skipped, ok := errors.AsType[*vault.Skipped](err); {
	case ok:
		out.unread = unread{why: string(skipped.Reason), again: skipped.Reason == vault.Unsettled}
		out.gone = skipped.Reason != vault.Unsettled && skipped.Reason != vault.NotLocal
	case errors.Is(err, fs.ErrNotExist):
		// The watcher tells when it is gone for good.
	case ctx.Err() == nil:
		n.log.Warn("note not read", "vault", n.dir, "path", name, "error", err)
		out.unread = unread{why: err.Error(), again: true}
	}
	return out
}

// apply writes what was read to the index or the archive folder's list, and then to what
// is derived from them.
func (n *notes) apply(ctx context.Context, read []reading, gone []string) error {
	n.truth.tell(n.carriers, read, gone)
	for _, r := range read {
		if r.note == nil && r.gone {
			gone = append(gone, r.doc.Path)
		}
	}
	n.lists.tell(n.archive, read, gone)
	index, _ := n.current()
	put, removed := n.archive.split(read, gone)
	if err := index.Update(ctx, put, removed); err != nil {
		return err
	}
	n.archive.take(read, gone)
	n.meaning.saw(n.archive, read, gone)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range gone {
		delete(n.skipped, name)
		n.carriers.lost(name)
		n.entities.lost(name)
		if n.links != nil {
			n.links.Remove(name)
		}
		if n.moved != nil {
			n.moved[name] = true
		}
	}
	for _, r := range read {
		n.remember(r)
	}
	return nil
}

// remember is called with mu held.
func (n *notes) remember(r reading) {
	delete(n.skipped, r.doc.Path)
	if r.why != "" {
		n.skipped[r.doc.Path] = r.unread
	}
	if r.note != nil {
		n.carriers.saw(r.note)
	}
	if r.note != nil && !holdsList(r.note) {
		n.names.learnNote(r.note)
	}
	if r.note != nil && n.links != nil {
		n.links.Add(r.note.Path, r.note.Aliases, targets(r.note))
		n.namedBy(r.note)
	}
	if r.note != nil && n.moved != nil {
		n.moved[r.note.Path] = true
	}
}

func targets(note *vault.Note) []string {
	out := make([]string, 0, len(note.Links))
	for _, l := range note.Links {
		out = append(out, l.Target)
	}
	return out
}

// docOf turns a note into what the index takes.
func docOf(note *vault.Note) ltm.Doc {
	doc := ltm.Doc{Path: note.Path, Title: note.Title, Aliases: note.Aliases, MemoryID: note.MemoryID,
		Created: note.Created, Modified: note.Updated,
		Cursor: ltm.Cursor{Digest: note.Digest, Size: note.Size, ModTime: note.ModTime, ChangeTime: note.ChangeTime, Inode: note.Inode}}
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
		doc.Properties = append(doc.Properties, ltm.Property{Key: memoryIDKey, Value: note.MemoryID})
	}
	for _, l := range note.Links {
		if l.Text != "" && l.Text != l.Target {
			doc.LinkText = append(doc.LinkText, l.Target)
		}
	}
	return doc
}

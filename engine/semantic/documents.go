package semantic

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"emberd/internal/contain"
	"emberd/internal/text/chunk"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
	"emberd/vectors"
)

// piece is a text to embed.
type piece struct {
	key  vectors.Key
	text string
}

// pieces are the texts of one document.
type pieces struct {
	name string
	rest []piece // not handled yet
}

// textToEmbed returns the text of a memory to embed; for an archived memory it is the summary.
func textToEmbed(r *stm.Row) string {
	if r.Stage().Cold() {
		return strings.TrimSpace(r.Text())
	}
	return strings.TrimSpace(r.Content())
}

// DigestOfText returns the key of the embedding of a text of a memory.
func DigestOfText(text string) vectors.Key { return vectors.KeyOf(chunk.Memory(text)...) }

// DigestOfMemory returns the digest of the text to embed, which is the key of its embedding as a
// whole.
func DigestOfMemory(r *stm.Row) vectors.Key { return DigestOfText(textToEmbed(r)) }

// DigestOfParts returns the digest of a memory's document in the index: that of its text, with the
// version of the rules for passages if it may have some. So an index of an earlier version gets
// the passages of long memories, and its documents of short ones stay.
func (s *VectorIndex) DigestOfParts(r *stm.Row) vectors.Key {
	whole := DigestOfMemory(r)
	if s.isShort(textToEmbed(r)) {
		return whole
	}
	return vectors.KeyOf(chunk.TextVersion, string(whole[:]))
}

// MemoryDigest returns the digest of a memory's current text, false if there is no such
// memory.
func (e *Semantic) MemoryDigest(id memory.ID) (vectors.Key, bool) {
	r, ok := e.Stm.Get(id)
	if !ok {
		return vectors.Key{}, false
	}
	return DigestOfMemory(r), true
}

// NoteDigest returns the digest of a note's document, which includes the version of chunking.
func NoteDigest(digest [32]byte) vectors.Key {
	return vectors.KeyOf(chunk.Version, string(digest[:]))
}

// indexer updates a vector index.
type indexer struct {
	e        *Semantic
	on       *VectorIndex
	now      *pieces // of the current document, nil for none
	unsynced int     // embeddings not synced yet
	failed   int     // number of failed texts in a row
	failing  string  // provider that failed on a text, "" for none
}

// compare checks all memories and notes, and queues those without embeddings.
func (f *indexer) compare(ctx context.Context) error {
	m := f.e.Meaning
	m.Mu.Lock()
	m.changes, m.counting = embeddingChanges{begun: true}, true
	m.changes.clear()
	m.Mu.Unlock()
	if _, err := f.readOtherDevices(); err != nil {
		return err
	}
	lacking := make(map[string]bool)
	for doc := range f.on.Store.Missing() {
		lacking[doc.Name] = true
	}
	var t EmbedQueue
	t.Clear()
	seen := make(map[string]bool)
	look := func(name string, digest vectors.Key, at time.Time) {
		seen[name] = true
		doc, ok := f.on.Store.Doc(name)
		if ok && doc.Digest == digest && !lacking[name] {
			t.Covered++
			return
		}
		t.Add(name, at, false)
	}
	for r := range f.e.Stm.Rows() {
		look(MemoryDoc(r.ID()), f.on.DigestOfParts(r), r.UpdatedAt())
	}
	whole := true
	if f.e.Notes.Vault != nil {
		whole = f.e.Notes.Vault.Complete.Load()
		index, _ := f.e.Notes.Vault.Current()
		for path, c := range index.Known() {
			look(NoteDoc(path), NoteDigest(c.Digest), c.ModTime)
		}
	}
	var gone []string
	for doc := range f.on.Store.Docs() {
		// While the note index is built, it does not list all notes.
		if !seen[doc.Name] && (whole || !strings.HasPrefix(doc.Name, notePathMark)) {
			gone = append(gone, doc.Name)
		}
	}
	f.now = nil
	m.Mu.Lock()
	m.Todo, m.counting, m.looking = t, false, false
	m.purged = m.purged || slices.ContainsFunc(gone, f.wasPurged)
	m.Mu.Unlock()
	if err := f.forget(gone); err != nil {
		return err
	}
	return m.applyDeferredPurges(ctx)
}

// wasPurged reports whether a missing document was a memory that is not in the trash
// either. A missing note may have been the note of one.
func (f *indexer) wasPurged(name string) bool {
	id, is := strings.CutPrefix(name, memoryPrefix)
	if !is {
		return true
	}
	_, err := f.e.Stm.ReadTrashed(memory.ID(id))
	return err != nil
}

// readOtherDevices reads the embeddings of other devices, and reports whether some of theirs are
// gone.
func (f *indexer) readOtherDevices() (lost bool, err error) {
	if !f.e.Meaning.Shared {
		return false, nil
	}
	before := f.on.Store.Status().Vectors
	err = f.on.Store.Refresh()
	return f.on.Store.Status().Vectors < before, err
}

// forget removes documents from all open indexes.
func (f *indexer) forget(gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	for _, s := range f.e.Meaning.openIndexes() {
		if err := s.Store.Place(nil, gone); err != nil {
			return err
		}
	}
	return nil
}

// catchUp handles the recorded changes. It returns false if all documents have to be compared.
func (f *indexer) catchUp(ctx context.Context) (bool, error) {
	m := f.e.Meaning
	m.Mu.Lock()
	news := m.changes
	m.looking = news.all || len(news.memories)+len(news.notes) > 0
	m.changes = embeddingChanges{begun: true}
	m.changes.clear()
	m.Mu.Unlock()
	if news.all {
		return false, nil
	}
	if lost, err := f.readOtherDevices(); err != nil || lost {
		return !lost, err
	}
	var gone []string
	for id := range news.memories {
		name := MemoryDoc(id)
		if r, ok := f.e.Stm.Get(id); ok {
			f.scheduleChanged(name, f.on.DigestOfParts(r), r.UpdatedAt())
		} else {
			gone = append(gone, name)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(news.notes)) {
		if n := news.notes[path]; n.gone {
			gone = append(gone, NoteDoc(path))
		} else {
			f.scheduleChanged(NoteDoc(path), NoteDigest(n.digest), n.at)
		}
	}
	m.Mu.Lock()
	for _, name := range gone {
		_, had := f.on.Store.Doc(name)
		m.Todo.Gone(name, had)
		f.changed(name)
	}
	m.Mu.Unlock()
	err := f.forget(gone)
	m.Mu.Lock()
	m.looking = false // set last, so that a complete index has no deleted document
	m.Mu.Unlock()
	if err != nil {
		return true, err
	}
	return true, m.applyDeferredPurges(ctx)
}

// scheduleChanged queues a changed document.
func (f *indexer) scheduleChanged(name string, digest vectors.Key, at time.Time) {
	m := f.e.Meaning
	m.Mu.Lock()
	defer m.Mu.Unlock()
	doc, had := f.on.Store.Doc(name)
	if _, waits := m.Todo.open[name]; had && !waits && doc.Digest == digest {
		return // the embedded part did not change
	}
	m.Todo.Add(name, at, had)
	f.changed(name)
}

// changed drops the texts of a changed document.
func (f *indexer) changed(name string) {
	if f.now != nil && f.now.name == name {
		f.now = nil
	}
}

// readContained is read for a document whose text or tokenizer may make it panic. It returns nil
// then, so that the document waits until it changes or emberd starts again; a note is named in
// status and is not tried a third time. The vector store has the document as before.
func (f *indexer) readContained(ctx context.Context, name string) (out *pieces, err error) {
	read := func() (err error) {
		out, err = f.read(ctx, name)
		return err
	}
	if path, is := strings.CutPrefix(name, notePathMark); is && f.e.Notes.Vault != nil {
		_, err = f.e.Notes.Vault.ContainEmbedding(path, read)
		return out, err
	}
	if err = contain.Do(f.e.Opt.Logger, contain.Text, name, read); contain.Of(err) != nil {
		return nil, nil
	}
	return out, err
}

// read reads the texts of a document and records them in the vector store. It returns nil if
// the document does not exist or cannot be read now.
func (f *indexer) read(ctx context.Context, name string) (*pieces, error) {
	doc, out, err := f.cut(ctx, name)
	if err != nil || out == nil {
		return nil, err
	}
	if had, ok := f.on.Store.Doc(name); ok && had.Digest == doc.Digest && slices.Equal(had.Chunks, doc.Chunks) {
		return out, nil
	}
	return out, f.on.Store.Place([]vectors.Doc{*doc}, nil)
}

// cut returns a document and its texts, nil if it does not exist or cannot be read now.
func (f *indexer) cut(ctx context.Context, name string) (*vectors.Doc, *pieces, error) {
	doc, out := &vectors.Doc{Name: name}, &pieces{name: name}
	if id, is := strings.CutPrefix(name, memoryPrefix); is {
		r, ok := f.e.Stm.Get(memory.ID(id))
		if !ok {
			return nil, nil, nil
		}
		doc.Digest = f.on.DigestOfParts(r)
		for _, p := range f.on.PartsOfMemory(ctx, textToEmbed(r)) {
			out.add(doc, p.Text, DigestOfText(p.Text), p.Start)
		}
	} else {
		note, err := f.e.Notes.Vault.Root.Load().Read(ctx, strings.TrimPrefix(name, notePathMark))
		if err != nil {
			return nil, nil, ctx.Err() // the watcher reports when it can be read again
		}
		doc.Digest = NoteDigest(note.Digest)
		for _, c := range chunk.Cut(f.e.NoteToCut(ctx, note), f.on.Room(ctx)) {
			out.add(doc, c.Text, vectors.KeyOf(c.Identity...), c.Line)
		}
	}
	if ctx.Err() != nil { // the sizes are estimates
		return nil, nil, ctx.Err()
	}
	return doc, out, nil
}

// add adds a text to a document and its texts.
func (p *pieces) add(doc *vectors.Doc, text string, key vectors.Key, line int) {
	doc.Chunks = append(doc.Chunks, vectors.Chunk{Key: key, Line: line})
	p.rest = append(p.rest, piece{key, text})
}

// Room returns the size of a part that the model reads. Tokens that the model adds to every
// text do not count.
func (s *VectorIndex) Room(ctx context.Context) chunk.Options {
	empty := s.embedder.Tokens(ctx, "")
	return chunk.Options{Tokens: s.MostTokens() - empty, Count: func(text string) int {
		return max(s.embedder.Tokens(ctx, text)-empty, 0)
	}}
}

// MostTokens returns how many tokens of a text the model reads, which may be fewer than
// configured.
func (s *VectorIndex) MostTokens() int { return cmp.Or(s.Identity.MaxTokens, s.embedder.MaxTokens()) }

// NoteToCut returns a note as it is cut into parts: its Markdown if the file is unchanged,
// else its searchable text.
func (e *Semantic) NoteToCut(ctx context.Context, note *vault.Note) *chunk.Note {
	stem := strings.TrimSuffix(path.Base(note.Path), path.Ext(note.Path))
	out := &chunk.Note{Name: stem, Title: note.Title, Aliases: note.Aliases}
	if note.Title == stem {
		out.Title = ""
	}
	for _, t := range note.Tags {
		out.Tags = append(out.Tags, t.Name)
	}
	text, same := e.Notes.Vault.SameText(ctx, note)
	for _, s := range note.Sections {
		cut := chunk.Section{Path: s.Path, Line: s.Line}
		if same && s.End <= len(text) {
			cut.Markdown = text[s.Start:s.End]
		} else {
			cut.Markdown = strings.Repeat("#", s.Level) + " " + s.Heading + "\n" + s.Text
		}
		out.Sections = append(out.Sections, cut)
	}
	return out
}

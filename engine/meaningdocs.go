package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"emberd/internal/chunk"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
	"emberd/vectors"
)

// piece is a text that has, or is to have, a vector.
type piece struct {
	key  vectors.Key
	text string
}

// pieces are the texts of one document.
type pieces struct {
	name string
	rest []piece // that were not looked at yet
}

// textToEmbed is what is embedded of a memory: of one that is archived what is left of it.
func textToEmbed(r *stm.Row) string {
	if r.Stage().Cold() {
		return strings.TrimSpace(r.Text())
	}
	return strings.TrimSpace(r.Content())
}

func digestOfMemory(r *stm.Row) vectors.Key { return vectors.KeyOf(chunk.Memory(textToEmbed(r))...) }

// memoryDigest is that of a memory's text as it is now, false if there is none.
func (e *Engine) memoryDigest(id memory.ID) (vectors.Key, bool) {
	r, ok := e.stm.Get(id)
	if !ok {
		return vectors.Key{}, false
	}
	return digestOfMemory(r), true
}

func noteDigest(digest [32]byte) vectors.Key {
	return vectors.KeyOf(chunk.Version, string(digest[:]))
}

// filer brings a rack to what there is.
type filer struct {
	e        *Engine
	on       *rack
	now      *pieces // of the document that is being worked on, nil for none
	unsynced int     // vectors
	failed   int     // texts in a row
	failing  string  // provider that failed on a text, "" for none
}

// compare looks at everything there is and what of it has no vectors yet.
func (f *filer) compare(ctx context.Context) error {
	m := f.e.meaning
	m.mu.Lock()
	m.news, m.counting = meaningNews{begun: true}, true
	m.news.clear()
	m.mu.Unlock()
	if _, err := f.takeOthers(); err != nil {
		return err
	}
	lacking := make(map[string]bool)
	for doc := range f.on.store.Missing() {
		lacking[doc.Name] = true
	}
	var t todo
	t.clear()
	seen := make(map[string]bool)
	look := func(name string, digest vectors.Key, at time.Time) {
		seen[name] = true
		doc, ok := f.on.store.Doc(name)
		if ok && doc.Digest == digest && !lacking[name] {
			t.covered++
			return
		}
		t.add(name, at, false)
	}
	for r := range f.e.stm.Rows() {
		look(memoryDoc(r.ID()), digestOfMemory(r), r.UpdatedAt())
	}
	whole := true
	if f.e.notes != nil {
		whole = f.e.notes.complete.Load()
		index, _ := f.e.notes.current()
		for path, c := range index.Known() {
			look(noteDoc(path), noteDigest(c.Digest), c.ModTime)
		}
	}
	var gone []string
	for doc := range f.on.store.Docs() {
		// An index that is being built does not know yet which notes there are.
		if !seen[doc.Name] && (whole || !strings.HasPrefix(doc.Name, notePathMark)) {
			gone = append(gone, doc.Name)
		}
	}
	f.now = nil
	m.mu.Lock()
	m.todo, m.counting, m.looking = t, false, false
	m.purged = m.purged || slices.ContainsFunc(gone, f.purgedMeanwhile)
	m.mu.Unlock()
	if err := f.forget(gone); err != nil {
		return err
	}
	return m.settlePurges(ctx)
}

// purgedMeanwhile reports whether a document that is gone was a memory that is not in the
// trash either.
func (f *filer) purgedMeanwhile(name string) bool {
	id, is := strings.CutPrefix(name, memoryPrefix)
	if !is {
		return false
	}
	_, err := f.e.stm.Forgotten(memory.ID(id))
	return err != nil
}

// takeOthers takes in vectors that other devices have made, and reports whether some that
// they had made are gone.
func (f *filer) takeOthers() (lost bool, err error) {
	if !f.e.meaning.Shared {
		return false, nil
	}
	before := f.on.store.Status().Vectors
	err = f.on.store.Refresh()
	return f.on.store.Status().Vectors < before, err
}

// forget takes documents off all racks.
func (f *filer) forget(gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	for _, s := range f.e.meaning.racks() {
		if err := s.store.Place(nil, gone); err != nil {
			return err
		}
	}
	return nil
}

// catchUp looks at what changed. It reports false if everything has to be looked at.
func (f *filer) catchUp(ctx context.Context) (bool, error) {
	m := f.e.meaning
	m.mu.Lock()
	news := m.news
	m.looking = news.all || len(news.memories)+len(news.notes) > 0
	m.news = meaningNews{begun: true}
	m.news.clear()
	m.mu.Unlock()
	if news.all {
		return false, nil
	}
	if lost, err := f.takeOthers(); err != nil || lost {
		return !lost, err
	}
	var gone []string
	for id := range news.memories {
		name := memoryDoc(id)
		if r, ok := f.e.stm.Get(id); ok {
			f.look(name, digestOfMemory(r), r.UpdatedAt())
		} else {
			gone = append(gone, name)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(news.notes)) {
		if n := news.notes[path]; n.gone {
			gone = append(gone, noteDoc(path))
		} else {
			f.look(noteDoc(path), noteDigest(n.digest), n.at)
		}
	}
	m.mu.Lock()
	for _, name := range gone {
		_, had := f.on.store.Doc(name)
		m.todo.gone(name, had)
		f.changed(name)
	}
	m.mu.Unlock()
	err := f.forget(gone)
	m.mu.Lock()
	m.looking = false // only now: what is complete holds no vector of what is gone
	m.mu.Unlock()
	if err != nil {
		return true, err
	}
	return true, m.settlePurges(ctx)
}

// look has a document that changed wait for its vectors.
func (f *filer) look(name string, digest vectors.Key, at time.Time) {
	m := f.e.meaning
	m.mu.Lock()
	defer m.mu.Unlock()
	doc, had := f.on.store.Doc(name)
	if _, waits := m.todo.open[name]; had && !waits && doc.Digest == digest {
		return // what changed is not what is embedded
	}
	m.todo.add(name, at, had)
	f.changed(name)
}

// changed lets go of the texts of a document that is another by now.
func (f *filer) changed(name string) {
	if f.now != nil && f.now.name == name {
		f.now = nil
	}
}

// read takes the texts of a document, and has the store know which they are. It is nil for
// one that there is not, or that cannot be read now.
func (f *filer) read(ctx context.Context, name string) (*pieces, error) {
	var all []chunk.Chunk
	var digest vectors.Key
	if id, is := strings.CutPrefix(name, memoryPrefix); is {
		r, ok := f.e.stm.Get(memory.ID(id))
		if !ok {
			return nil, nil
		}
		digest = digestOfMemory(r)
		if text := textToEmbed(r); text != "" {
			all = []chunk.Chunk{{Text: text, Identity: chunk.Memory(text)}}
		}
	} else {
		note, err := f.e.notes.vault.Load().Read(ctx, strings.TrimPrefix(name, notePathMark))
		if err != nil {
			return nil, ctx.Err() // the watcher tells when it can be read again
		}
		digest = noteDigest(note.Digest)
		all = chunk.Cut(f.e.noteToCut(ctx, note), f.on.room(ctx))
		if ctx.Err() != nil { // the parts are estimates
			return nil, ctx.Err()
		}
	}
	doc, out := vectors.Doc{Name: name, Digest: digest}, &pieces{name: name}
	for _, c := range all {
		key := vectors.KeyOf(c.Identity...)
		doc.Chunks = append(doc.Chunks, vectors.Chunk{Key: key, Line: c.Line})
		out.rest = append(out.rest, piece{key, c.Text})
	}
	if had, ok := f.on.store.Doc(name); ok && had.Digest == doc.Digest && slices.Equal(had.Chunks, doc.Chunks) {
		return out, nil
	}
	return out, f.on.store.Place([]vectors.Doc{doc}, nil)
}

// room is what the model takes in. What it counts for every text alike is no part of one.
func (s *rack) room(ctx context.Context) chunk.Options {
	empty := s.embedder.Tokens(ctx, "")
	return chunk.Options{Tokens: s.mostTokens() - empty, Count: func(text string) int {
		return max(s.embedder.Tokens(ctx, text)-empty, 0)
	}}
}

// mostTokens is how much of a text the model takes in, which may be less than is set.
func (s *rack) mostTokens() int { return cmp.Or(s.identity.MaxTokens, s.embedder.MaxTokens()) }

// noteToCut is a note as it is cut: its Markdown where that is as it was read, else what is
// to be searched of it.
func (e *Engine) noteToCut(ctx context.Context, note *vault.Note) *chunk.Note {
	stem := strings.TrimSuffix(path.Base(note.Path), path.Ext(note.Path))
	out := &chunk.Note{Name: stem, Title: note.Title, Aliases: note.Aliases}
	if note.Title == stem {
		out.Title = ""
	}
	for _, t := range note.Tags {
		out.Tags = append(out.Tags, t.Name)
	}
	text, same := e.notes.sameText(ctx, note)
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

// sameText is the text of a note, false unless it is byte for byte what was read.
func (n *notes) sameText(ctx context.Context, note *vault.Note) (string, bool) {
	text, ok := n.textOf(ctx, note.Path)
	return text, ok && sha256.Sum256([]byte(text)) == note.Digest
}

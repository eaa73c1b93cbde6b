package engine

import (
	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/vault"
	"emberd/watcher"
)

// noteFollower passes the notes that package notes read to the features that use them.
type noteFollower struct{ e *Engine }

func (f *noteFollower) Begin(moved []watcher.Move) { f.e.Sync.Sync.Begin(moved) }

func (f *noteFollower) Read(read []notes.Reading, gone []string) {
	f.e.Sync.Sync.Observe(f.e.Notes.Vault.Carriers, read, gone)
	index, _ := f.e.Notes.Vault.Current()
	f.e.Links.Known.Observe(func(path string) bool { _, known := index.Cursor(path); return known }, read, gone)
}

func (f *noteFollower) Listed(read []notes.Reading, gone []string) {
	f.e.Lists.Lists.Observe(f.e.Notes.Vault.Archive, read, gone)
}

func (f *noteFollower) Indexed(read []notes.Reading, gone []string, purged bool) {
	if purged {
		f.e.Semantic.Meaning.PurgeNext()
	}
	f.e.Semantic.Meaning.Observe(f.e.Notes.Vault.Archive, read, gone)
}

func (f *noteFollower) Purged(path string) bool {
	id, carried := f.e.Notes.Vault.Carriers.At(path)
	return carried && f.e.Stm.Purged(id)
}

func (f *noteFollower) Lost(path string)            { f.e.Graph.Entities.Lost(path) }
func (f *noteFollower) Remembered(note *vault.Note) { f.e.Graph.Names.LearnNote(note) }

func (f *noteFollower) Linked(note *vault.Note) {
	if !f.e.Notes.Vault.InArchive(note.Path) {
		f.e.Graph.Entities.Put(graph.DocOfNote(note))
	}
}

func (f *noteFollower) AllLinked() { close(f.e.Graph.Entities.Read) }

func (f *noteFollower) End(first bool) {
	if first {
		f.e.Semantic.Meaning.ChangedAll() // all notes have been read
	}
	f.e.Sync.Sync.End()
	f.e.Lists.Lists.Read(first)
	if first {
		f.e.Links.Known.Changed()
	}
	if f.e.Notes.Vault.Back() {
		f.e.Promote.VaultBack()
	}
}

func (f *noteFollower) EndOfOne()                     { f.e.Sync.Sync.EndOfOne() }
func (f *noteFollower) Lists(path string) bool        { return f.e.Lists.Lists.Wants(path) }
func (f *noteFollower) Settling() (waiting, held int) { return f.e.Sync.Sync.Count() }

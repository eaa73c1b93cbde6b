package engine_test

import (
	"testing"

	"emberd/engine"
	"emberd/engine/semantic"
)

// wantWholeRack compares what has vectors with what there is.
func wantWholeRack(t testing.TB, e *engine.Engine) {
	t.Helper()
	want := make(map[string]bool)
	for r := range e.Stm.Rows() {
		want[semantic.MemoryDoc(r.ID())] = true
		if doc, _ := e.Semantic.Meaning.Building.Store.Doc(semantic.MemoryDoc(r.ID())); doc.Digest != e.Semantic.Meaning.Building.DigestOfParts(r) {
			t.Errorf("the vector of memory %s is of another text", r.ID())
		}
	}
	if e.Notes.Vault != nil {
		index, _ := e.Notes.Vault.Current()
		for path, c := range index.Known() {
			want[semantic.NoteDoc(path)] = true
			if doc, _ := e.Semantic.Meaning.Building.Store.Doc(semantic.NoteDoc(path)); doc.Digest != semantic.NoteDigest(c.Digest) {
				t.Errorf("the vectors of note %s are of another text", path)
			}
		}
	}
	for doc := range e.Semantic.Meaning.Building.Store.Docs() {
		if !want[doc.Name] {
			t.Errorf("%s has vectors", doc.Name)
		}
		delete(want, doc.Name)
	}
	for name := range want {
		t.Errorf("%s has no vectors", name)
	}
	for doc := range e.Semantic.Meaning.Building.Store.Missing() {
		t.Errorf("%s lacks vectors", doc.Name)
	}
	got := engineStatus(t, e).Meaning
	if all := e.Stm.Len() + wantedNotes(e); got.Covered != all || got.Total != all {
		t.Errorf("covered are %d of %d, want all %d", got.Covered, got.Total, all)
	}
}

// shelvesTheNotes reports whether all notes, as they are indexed, have their place among
// the vectors, and no others. A note is in the index a moment before it is told of.
func shelvesTheNotes(e *engine.Engine) bool {
	index, _ := e.Notes.Vault.Current()
	for path, c := range index.Known() {
		if doc, _ := e.Semantic.Meaning.Building.Store.Doc(semantic.NoteDoc(path)); doc.Digest != semantic.NoteDigest(c.Digest) {
			return false
		}
	}
	return e.Semantic.Meaning.Building.Store.Status().Docs == e.Stm.Len()+wantedNotes(e)
}

func wantedNotes(e *engine.Engine) int {
	if e.Notes.Vault == nil {
		return 0
	}
	index, _ := e.Notes.Vault.Current()
	return index.Status().Notes
}

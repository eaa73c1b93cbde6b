package engine

import "testing"

// wantWholeRack compares what has vectors with what there is.
func wantWholeRack(t testing.TB, e *Engine) {
	t.Helper()
	want := make(map[string]bool)
	for r := range e.stm.Rows() {
		want[memoryDoc(r.ID())] = true
		if doc, _ := e.meaning.filling.store.Doc(memoryDoc(r.ID())); doc.Digest != digestOfMemory(r) {
			t.Errorf("the vector of memory %s is of another text", r.ID())
		}
	}
	if e.notes != nil {
		index, _ := e.notes.current()
		for path, c := range index.Known() {
			want[noteDoc(path)] = true
			if doc, _ := e.meaning.filling.store.Doc(noteDoc(path)); doc.Digest != noteDigest(c.Digest) {
				t.Errorf("the vectors of note %s are of another text", path)
			}
		}
	}
	for doc := range e.meaning.filling.store.Docs() {
		if !want[doc.Name] {
			t.Errorf("%s has vectors", doc.Name)
		}
		delete(want, doc.Name)
	}
	for name := range want {
		t.Errorf("%s has no vectors", name)
	}
	for doc := range e.meaning.filling.store.Missing() {
		t.Errorf("%s lacks vectors", doc.Name)
	}
	got := engineStatus(t, e).Meaning
	if all := e.stm.Len() + wantedNotes(e); got.Covered != all || got.Total != all {
		t.Errorf("covered are %d of %d, want all %d", got.Covered, got.Total, all)
	}
}

// shelvesTheNotes reports whether all notes, as they are indexed, have their place among
// the vectors, and no others. A note is in the index a moment before it is told of.
func shelvesTheNotes(e *Engine) bool {
	index, _ := e.notes.current()
	for path, c := range index.Known() {
		if doc, _ := e.meaning.filling.store.Doc(noteDoc(path)); doc.Digest != noteDigest(c.Digest) {
			return false
		}
	}
	return e.meaning.filling.store.Status().Docs == e.stm.Len()+wantedNotes(e)
}

func wantedNotes(e *Engine) int {
	if e.notes == nil {
		return 0
	}
	index, _ := e.notes.current()
	return index.Status().Notes
}

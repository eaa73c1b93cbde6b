package ltm

import (
	"slices"

	index "github.com/blevesearch/bleve_index_api"
)

// Through returns the index restricted to the notes that sees accepts by path and tags: no other
// note is found, listed or counted, or changes a relevance. A search then looks at every note.
// Both are one index: close only one of them, and call Update and Check only on the one from Open.
func (x *Index) Through(sees func(path string, tags []string) bool) *Index {
	return &Index{sharedIndex: x.sharedIndex, sees: sees}
}

// shows reports whether the index has the note, which may be nil.
func (x *Index) shows(n *note) bool {
	return n != nil && n.path != scrubMark && (x.sees == nil || x.sees(n.path, n.tags))
}

// Shows reports whether the index has a note of that path.
func (x *Index) Shows(path string) bool {
	_, ok := x.Cursor(path)
	return ok
}

// Cursor returns the state in which the index has the note of that path, false if it has none.
func (x *Index) Cursor(path string) (Cursor, bool) {
	t := x.tables.Load().current
	number, ok := t.paths()[path]
	if !ok || !x.shows(t.note(number)) {
		return Cursor{}, false
	}
	return t.note(number).cursor, true
}

// only returns the table as if it had only the notes that shows accepts.
func (t *table) only(shows func(*note) bool) *table {
	some := &table{generation: t.generation, notes: make([]*note, len(t.notes)), paths: t.paths}
	for number, n := range t.notes {
		if shows(n) {
			some.notes[number] = n
			some.tally(n, 1)
		}
	}
	return some
}

// notesWith counts the notes that contain a term.
func (s *searcher) notesWith(term string) int {
	return s.countNotes(s.listsOf(nil, &queryTerm{text: term}))
}

// documentsWith counts the documents that contain a term.
func (s *searcher) documentsWith(term string) (n int) {
	for i, l := range s.listsOf(nil, &queryTerm{text: term}) {
		if in := &s.view.segments[i]; in.deleted == nil && s.index.sees == nil {
			n += l.count
		} else {
			s.each(i, &l, func(uint32) { n++ })
		}
	}
	return n
}

// seen returns those terms of the dictionary that a visible note contains, and counts the visible
// documents of each.
func (s *searcher) seen(entries []index.DictEntry) []index.DictEntry {
	if s.index.sees == nil {
		return entries
	}
	for i := range entries {
		entries[i].Count = uint64(s.documentsWith(entries[i].Term))
	}
	return slices.DeleteFunc(entries, func(e index.DictEntry) bool { return e.Count == 0 })
}

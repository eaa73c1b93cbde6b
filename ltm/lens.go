package ltm

import (
	"slices"

	index "github.com/blevesearch/bleve_index_api"
)

// Through returns the index as it looks to somebody for whom only those notes are there
// that sees accepts by path and tags: no other is found, listed or counted, nor does it
// leave a trace in relevances. A search looks at every note then. Both are one index; only
// one of them is to be closed, and neither Update nor Check is for the other.
func (x *Index) Through(sees func(path string, tags []string) bool) *Index {
	return &Index{kept: x.kept, sees: sees}
}

// shows reports whether a note, nil for none, is there.
func (x *Index) shows(n *note) bool { return n != nil && (x.sees == nil || x.sees(n.path, n.tags)) }

// Shows reports whether the index has a note of that path.
func (x *Index) Shows(path string) bool {
	t := x.tables.Load().current
	number, ok := t.paths()[path]
	return ok && x.shows(t.note(number))
}

// only is the table as if there were no other notes than those that shows accepts.
func (t *table) only(shows func(*note) bool) *table {
	some := &table{generation: t.generation, notes: make([]*note, len(t.notes)), sizes: t.sizes, paths: t.paths}
	for number, n := range t.notes {
		if shows(n) {
			some.notes[number] = n
			some.tally(n, 1)
		}
	}
	return some
}

// notesWith counts the notes that hold a term.
func (s *searcher) notesWith(term string) (int, error) {
	if s.index.sees == nil {
		return s.view.notesWith(term, &s.room)
	}
	list, err := s.postingsOf(nil, &weighed{text: term})
	return notesIn(list), err
}

// documentsWith counts the documents that hold a term.
func (s *searcher) documentsWith(term string) (int, error) {
	if s.index.sees == nil {
		return s.view.documentsWith(term, &s.room)
	}
	list, err := s.postingsOf(nil, &weighed{text: term})
	return len(list), err
}

// seen leaves of terms of the dictionary those that a note holds which is there, and
// counts the documents that do.
func (s *searcher) seen(entries []index.DictEntry) ([]index.DictEntry, error) {
	if s.index.sees == nil {
		return entries, nil
	}
	for i := range entries {
		n, err := s.documentsWith(entries[i].Term)
		if err != nil {
			return nil, err
		}
		entries[i].Count = uint64(n)
	}
	return slices.DeleteFunc(entries, func(e index.DictEntry) bool { return e.Count == 0 }), nil
}

package stm

import (
	"slices"

	"emberd/internal/words"
	"emberd/memory"
)

// Lens is what somebody sees of a store and may change in it.
type Lens struct {
	// Sees says of a memory, live or in the trash, whether it is there. It looks at the
	// row alone, for searches call it for every memory.
	Sees func(*Row) bool
	// May returns why a change may not be made, nil if it may. before is the memory as
	// it is, nil for a new one.
	May func(before *Row, c *Change) error
}

// Through returns the store as it looks through a lens: what that does not show is not
// there, be it asked for by id, listed, counted, searched or looked for in the trash, and
// leaves no trace in relevances. A search looks at every memory then. The log, its files,
// the journal, what is told of all devices and what was at an earlier moment know no lens.
// Both are one store; only one of them is to be closed.
func (s *Store) Through(l Lens) *Store {
	m := s.Memories
	m.sees = l.Sees
	return &Store{Memories: m, kept: s.kept, may: l.May}
}

// accepting narrows what accept, nil for everything, accepts to what is seen.
func (m *Memories) accepting(accept func(*Row) bool) func(*Row) bool {
	if accept == nil {
		return m.sees
	}
	return func(r *Row) bool { return m.sees(r) && accept(r) }
}

// part is the word index of what is seen.
func (m *Memories) part() *words.Part {
	return m.index.words.Load().Part(func(doc words.Doc) bool {
		cells := *m.index.byDoc.Load()
		if int(doc) >= len(cells) || cells[doc] == nil {
			return false // its place is stored right after its terms, and nobody was told of it yet
		}
		r := cells[doc].row.Load()
		return r.live() && m.sees(r)
	})
}

// unindexed counts the memories that are seen and have no place in the word index.
func (m *Memories) unindexed() (n int) {
	m.table.each(func(c *cell, r *Row) bool {
		if c.doc.Load() == 0 && m.sees(r) {
			n++
		}
		return true
	})
	return n
}

// hides reports whether a memory that is not live is none for who looks through a lens:
// one that the trash has not any more nobody can judge, so that it is none.
func (s *Store) hides(id memory.ID) bool {
	if s.sees == nil {
		return false
	}
	keys, err := s.unearth(id)
	if err != nil {
		return true
	}
	doc := encode(keys)
	h, err := hotOf(doc)
	return err != nil || !s.sees(&Row{key: id.Bytes(), doc: doc, hot: h})
}

// knows reports whether a memory is there, live or in the trash.
func (s *Store) knows(id memory.ID) bool {
	_, live := s.Get(id)
	return live || s.Trashed(id)
}

// allowed refuses a transaction with a change that may not be made. An id that a memory
// has which is not seen cannot be used for another.
func (s *Store) allowed(tx *Tx) error {
	if s.may == nil {
		return nil
	}
	for i := range tx.Changes {
		c := &tx.Changes[i]
		before := s.table.get(c.ID)
		if before != nil && !s.shows(before) || before == nil && s.buried(c.ID) && s.hides(c.ID) {
			return memory.Errorf(memory.Conflict, "memory %s cannot be saved under this id; leave the id out", c.ID).At("id")
		}
		if err := s.may(before, c); err != nil {
			return err
		}
	}
	return nil
}

// visible leaves of forgotten texts those of memories that are seen in the trash.
func (s *Store) visible(found []ForgottenText) []ForgottenText {
	return slices.DeleteFunc(found, func(f ForgottenText) bool { return s.hides(f.ID) })
}

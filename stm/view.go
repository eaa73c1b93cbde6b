package stm

import (
	"emberd/memory"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// View is what a caller can see of a store and change in it.
type View struct {
	// Sees reports whether a memory, live or in the trash, is visible. It looks at the
	// row alone, for searches call it for every memory.
	Sees func(*table.Row) bool
	// May returns why a change of a transaction may not be made, nil if it may. before is the
	// memory as it is, nil for a new one.
	May func(before *table.Row, tx *wal.Tx, c *wal.Change) error
}

// WithView returns the store as it looks through a view: what that does not show is not
// there, be it asked for by id, listed, counted, searched or looked for in the trash, and
// leaves no trace in relevances. A search looks at every memory then. The log, its files,
// the journal, what it reports of all devices and the past have no view.
// Both are one store; only one of them is to be closed.
func (s *Store) WithView(l View) *Store {
	m := s.MemorySet
	m.Sees = l.Sees
	v := &Store{MemorySet: m, wal: s.wal, complete: s.complete, vet: s.vet, may: l.May}
	v.Timeline = s.Timeline.In(m, v.Update)
	return v
}

// allowed refuses a transaction with a change that may not be made. An id that a memory
// has which is not seen cannot be used for another.
func (s *Store) allowed(tx *wal.Tx) error {
	if s.may == nil {
		return nil
	}
	for i := range tx.Changes {
		c := &tx.Changes[i]
		before := s.Table.Get(c.ID)
		if before != nil && !s.Shows(before) || before == nil && s.InTrash(c.ID) && s.IsHidden(c.ID) {
			return memory.Errorf(memory.Conflict, "cannot save a memory with the ID %s; omit the ID", c.ID).At("id")
		}
		if err := s.may(before, tx, c); err != nil {
			return err
		}
	}
	return nil
}

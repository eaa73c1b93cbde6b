package stm

import (
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// restored returns tx.Again and the IDs of memories that the changes restore although
// their text was deleted.
func (s *Store) restored(tx *wal.Tx, changes []record.Change) []memory.ID {
	lift := slices.Clone(tx.Again)
	for _, c := range changes {
		if cell := s.Table.Cell(c.ID.Bytes()); c.Op == record.OpPut && cell != nil &&
			cell.Row.Load().Rest().Forgot.Counts() {
			lift = append(lift, c.ID)
		}
	}
	slices.Sort(lift)
	return slices.Compact(lift)
}

// purgedPrint is the fingerprint that the purge of a memory leaves: of its text or,
// if that is not known any more, the one there is. One that was lifted stays so.
func (s *Store) purgedPrint(id memory.ID) *record.Fingerprint {
	if row := s.Table.Get(id); row != nil {
		return s.wal.Prints.PrintOf(row.Content())
	}
	if c := s.Table.Cell(id.Bytes()); c != nil {
		if f := c.Row.Load().Rest().Forgot; f != nil && !f.At.IsZero() {
			if f.Counts() {
				return &f.Print
			}
			return nil
		}
	}
	m, err := s.ReadTrashed(id)
	if err != nil {
		return nil // not in the trash any more
	}
	return s.wal.Prints.PrintOf(m.Content)
}

// Purged reports whether the memory was purged.
func (s *Store) Purged(id memory.ID) bool { return !s.Table.PurgedAt(id.Bytes()).IsZero() }

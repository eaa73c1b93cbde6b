package stm

import (
	"emberd/stm/table"
	"emberd/stm/wal"
)

// Use counts uses and accesses. Ids that do not exist are passed over, and so are memories
// that may not be changed through a view.
func (s *Store) Use(us ...table.Use) {
	for _, u := range us {
		key := u.ID.Bytes()
		cell := s.Table.Cell(key)
		if cell == nil || !cell.Row.Load().Live() || s.may != nil && s.may(cell.Row.Load(),
			new(wal.Tx), &wal.Change{ID: u.ID}) != nil {
			continue
		}
		at := u.At
		if at.IsZero() {
			at = s.wal.Now()
		}
		s.wal.Uses.Add(key, s.Table.Count1(cell, s.wal.Device, u, at.UnixMilli()))
	}
}

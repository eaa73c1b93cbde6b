package stm

import (
	"context"

	"emberd/memory"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// takeEdits writes the hand edits that were not taken before.
func (s *Store) takeEdits(edits []wal.ManualEdit) {
	for _, e := range edits {
		_, err := s.Update(context.Background(), []memory.ID{e.ID}, e.Key, func(rows []*table.Row) (*wal.Tx, error) {
			return e.Tx(rows[0]), nil
		})
		if err != nil {
			s.wal.Logger.Warn("manual edit of the log applied, but not written with a checksum", "id", e.ID, "error",
				err)
		}
	}
}

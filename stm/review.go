package stm

import (
	"context"
	"encoding/json"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// DecideStale takes a memory that waits, as it would be if all that waits were
// merged, or with keep false leaves a tombstone in its place. Either is an
// operation of this device, which the others follow. What waits of memories
// that were changed by the same request waits on.
func (s *Store) DecideStale(ctx context.Context, id memory.ID, keep bool, by memory.Actor) (wal.Receipt, error) {
	got, err := s.Update(ctx, []memory.ID{id}, "", func([]*table.Row) (*wal.Tx, error) {
		row := s.wal.Review.Preview(id)
		if row == nil {
			return nil, memory.Errorf(memory.NotFound,
				"memory %s does not need a decision; run: emberd doctor offline-device list", id).At("id")
		}
		if !keep {
			return &wal.Tx{Verb: "forget", By: by, Changes: []wal.Change{{ID: id, Delete: true, Was: row}}}, nil
		}
		set := map[string]json.RawMessage{}
		// The document was walked when it was merged.
		_ = record.EachField(row.JSON(), func(name, value []byte) bool {
			set[string(name)] = value
			return true
		})
		return &wal.Tx{Verb: "restore", By: by, Changes: []wal.Change{{ID: id, Set: set, Allowed: true}}}, nil
	})
	if err != nil {
		return got, err
	}
	_, err = s.wal.Refresh(ctx)
	return got, err
}

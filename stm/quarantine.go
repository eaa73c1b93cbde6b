package stm

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// Accept says that a damaged line is right. It counts at its own stamp: what of
// it was not written again since is written as a new transaction, and the line
// is remembered as accepted. The receipt has no entry when nothing was left to
// write. A crash in between leaves a line that can be accepted again.
func (s *Store) Accept(ctx context.Context, name string, by memory.Actor) (memory.ID, wal.Receipt, error) {
	q, err := s.wal.Quarantine.Named(name)
	if err != nil {
		return "", wal.Receipt{}, err
	}
	l, err := s.wal.Quarantine.Acceptable(q.Text)
	if err != nil {
		return "", wal.Receipt{}, memory.Errorf(memory.Invalid,
			"cannot accept damaged line %s: %w; drop the line, or save its text as a new memory", name, err).At("name")
	}
	id := l.Changes[0].ID
	got, err := s.Update(ctx, []memory.ID{id}, "", func([]*table.Row) (*wal.Tx, error) {
		set, err := s.heldBy(l)
		if err != nil || len(set) == 0 {
			return nil, err
		}
		return &wal.Tx{Verb: "accept", By: by, Changes: []wal.Change{{ID: id, Set: set, Allowed: true}}}, nil
	})
	if err != nil {
		return id, got, err
	}
	return id, got, s.wal.Quarantine.Decide(q, "accepted")
}

// Acceptance reports what accepting a damaged line would change now.
func (s *Store) Acceptance(q Quarantined) []history.Field {
	l, err := s.wal.Quarantine.Acceptable(q.Text)
	if err != nil {
		return nil
	}
	set, err := s.heldBy(l)
	if err != nil {
		return nil
	}
	var doc []byte
	if row := s.Table.Get(l.Changes[0].ID); row != nil {
		doc = row.JSON()
	}
	var out []history.Field
	for _, key := range slices.Sorted(maps.Keys(set)) {
		out = append(out, history.Field{Name: key, From: bytes.Clone(record.Member(doc, key)), To: set[key]})
	}
	return out
}

// heldBy returns the keys of a line that would hold if it had been read like any
// other, and have another value now.
func (s *Store) heldBy(l *record.Line) (map[string]json.RawMessage, error) {
	c := &l.Changes[0]
	row := &table.Row{Key: c.ID.Bytes()}
	if cell := s.Table.Cell(row.Key); cell != nil {
		row = cell.Row.Load()
	}
	at := l.Stamp
	if at.IsZero() { // a human wrote the line
		at = record.Stamp{T: uint64(s.wal.Now().UnixMilli()) << 16, Dev: s.wal.Device}
	}
	if !at.After(row.Rest().Tomb) {
		return nil, nil // forgotten since
	}
	if c.Op == record.OpSet && !row.Live() {
		return nil, memory.Errorf(memory.NotFound, "cannot accept the line, because memory %s is deleted "+
			"or missing; restore the memory first, or drop the line", c.ID).At("name")
	}
	set := map[string]json.RawMessage{}
	err := record.EachField(c.Data, func(name, value []byte) bool {
		key := string(name)
		// What came back from a copy has the stamp of the line, and is not what the line says now.
		switch holds := !row.StampOf(key).After(at); {
		case holds && (!row.Live() || !record.Same(row.Value(key), value)):
			set[key] = bytes.Clone(value)
		case !holds && !row.Live(): // a later change of a memory that is made only now
			set[key] = row.Value(key)
		}
		return true
	})
	return set, err
}

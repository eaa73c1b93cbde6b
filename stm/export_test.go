package stm

import (
	"context"

	"emberd/stm/wal"
)

// Wal returns the log below a store, to look at and to disturb.
func (s *Store) Wal() *wal.Log { return s.wal }

// OfLog returns a store over a log that was made by hand.
func OfLog(l *wal.Log) *Store { return &Store{MemorySet: l.MemorySet, wal: l} }

// Encoded returns a transaction as it waits for the writer.
func (s *Store) Encoded(tx *Tx) (*wal.Pending, error) { return s.pending(tx) }

// Enqueue hands a transaction to the writer and waits for the answer.
func (s *Store) Enqueue(ctx context.Context, p *wal.Pending) (Receipt, error) {
	return s.enqueue(ctx, p)
}

// IsCompact reports whether a store takes a value as it is.
func IsCompact(value []byte) bool { return isCompact(value) }

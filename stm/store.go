package stm

import (
	"context"

	"emberd/stm/history"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// Store is the short-term memory: log, table and word index. All methods may
// be called from any goroutine.
//
// A Store is a view: several can share one log, see [Store.WithView]. It has no lock of
// its own, and its fields do not change after Open or WithView. Update runs in the
// caller's goroutine: it acquires the locks of its memories in the order of their names,
// calls complete, vet and may while it holds them, and puts the change into the queue of the writer
// in package wal. From then on the locks belong to the writer, which releases them when
// the change is durable and visible, or refused; a caller whose context ends does not
// release them. Readers take no lock of a memory: they load the row, which never changes.
type Store struct {
	table.MemorySet // those that are live now
	history.Timeline
	wal      *wal.Log
	complete func(context.Context, *wal.Tx) error                     // nil adds nothing
	vet      func(*wal.Tx, []*table.Row) error                        // nil refuses nothing
	may      func(before *table.Row, tx *wal.Tx, c *wal.Change) error // nil lets all pass, see [Store.WithView]
}

// Open recovers the log under data, with what belongs to this machine under
// state, and starts the one goroutine that writes; Close ends it. The caller
// holds the lock that keeps other processes away. Damaged lines are counted in
// Status, never an error; a folder that cannot be read is one, and so is a log
// that is gone, which is [ErrLogGone].
func Open(data, state string, opt *wal.Options) (*Store, error) {
	o := opt.WithDefaults()
	l, edits, err := wal.OpenLog(data, state, &o)
	if err != nil {
		return nil, err
	}
	s := &Store{MemorySet: l.MemorySet, wal: l, complete: o.Complete, vet: o.Vet}
	s.Timeline = history.NewTimeline(l, s.MemorySet, s.Update, o.Purged)
	for _, w := range l.StatusNow().Warnings {
		o.Logger.Warn(w)
	}
	l.Start()
	s.takeEdits(edits)
	return s, nil
}

// Close writes what is queued, seals the segment and writes the snapshot. It
// may be called again.
func (s *Store) Close() error { return s.Shutdown(context.Background(), func(error) {}) }

// Shutdown is Close, but writes the snapshot only as long as ctx lasts. The earlier one stays
// if that is too short, and the next start reads what came after it. Before the snapshot, when
// all else is done, it calls closed with what failed until then.
func (s *Store) Shutdown(ctx context.Context, closed func(error)) error {
	return s.wal.Close(ctx, closed)
}

package wal

import (
	"cmp"
	"context"
	"fmt"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/repair"
	"emberd/stm/table"
)

// repurge purges again, before any copy is looked into, the memories that are known to be purged although no file
// has the purge any more.
func (r *recovery) repurge(known map[[16]byte]record.Stamp) {
	held := table.NewTable()
	for key, at := range known {
		l := record.Line{Stamp: at, Tx: at, Changes: []record.Change{{Op: record.OpPurge,
			ID: memory.IDFromBytes(key)}}}
		if err := repair.Apply(held, &l); err != nil {
			r.unexpected(&l, err)
		}
	}
	r.purges = repair.Missing(held, r.s.Table)
	r.bringBack(r.purges)
}

// bringBack merges lines that are in no file, until they are written.
func (r *recovery) bringBack(lines []record.Line) {
	for i := range lines {
		l := &lines[i]
		r.clock.Observe(l.Stamp)
		if err := r.s.Table.Fetch(l); err != nil {
			r.failed = cmp.Or(r.failed, err)
			continue
		}
		if err := repair.Apply(r.s.Table, l); err != nil {
			r.unexpected(l, err)
		}
		for _, c := range l.Changes {
			r.s.Words.Drop(r.s.Table.Claim(c.ID.Bytes()))
		}
	}
}

// writePurges writes the purges that the log had lost, so that other devices learn of them, too.
func (f *found) writePurges(ctx context.Context, h healer) error {
	if len(f.purges) == 0 {
		return nil
	}
	if err := h.write(ctx, f.purges); err != nil {
		return fmt.Errorf("cannot yet write the permanent deletions that are missing from the log: %w", err)
	}
	h.Logger.Warn("permanent deletions were missing from the log; writing them again", "memories", len(f.purges))
	f.purges = nil
	return nil
}

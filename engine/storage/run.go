package storage

import (
	"context"
	"time"

	"emberd/engine/core"
)

// SnapshotDelay is how long a change waits before a snapshot is considered, unless a quarter of all has changed.
// Snapshots only make the next start faster and take documents out of memory, so they need a change to be worth it.
const SnapshotDelay = time.Minute

// BuildIndex builds the word index and logs how long it took. Until then searches scan.
func (e *Storage) BuildIndex(ctx context.Context) {
	start := time.Now()
	err := e.Stm.BuildIndex(ctx)
	if ctx.Err() != nil {
		return
	}
	e.Chores.Settle("word index", err)
	if err != nil {
		e.Opt.Logger.Error("word index incomplete; searches scan all memories", "err", err)
		return
	}
	e.Indexed.Store(true)
	e.Opt.Logger.Debug("word index complete", "memories", e.Stm.Len(), "took", time.Since(start))
	e.Changed()
}

// Tasks returns the tasks that write snapshots, compact the log and make backups, some time after a change.
// Without a change they have no timer, unless a compaction is to be finished or tried again.
func (e *Storage) Tasks() []*core.Task {
	c := Compactor{E: e, made: e.Started}
	changed, backup := make(chan struct{}, 1), make(chan struct{}, 1)
	return []*core.Task{
		{Name: "snapshot", Wake: e.Dirty, Woken: e.snapshotDue, Do: func(ctx context.Context) time.Time {
			e.writeSnapshot(ctx)
			if e.Promote.Writing != nil {
				e.Promote.Writing.Nudge() // backups of notes expire
			}
			core.Nudge(changed)
			core.Nudge(backup)
			return time.Time{}
		}},
		{Name: compactionJob, First: e.Opt.Now(), Wake: changed, Woken: e.After(0), Do: c.look},
		e.backupTask(backup),
	}
}

// snapshotDue returns when the snapshot task is due after a change.
func (e *Storage) snapshotDue(before time.Time) time.Time {
	if _, now := e.Stm.SnapshotDue(); now {
		return e.Opt.Now()
	}
	return e.After(SnapshotDelay)(before)
}

func (e *Storage) writeSnapshot(ctx context.Context) {
	if due, _ := e.Stm.SnapshotDue(); !due {
		return
	}
	err := e.Stm.WriteSnapshot(ctx)
	if ctx.Err() != nil {
		return
	}
	e.Chores.Settle("snapshot", err)
	if err != nil {
		e.Opt.Logger.Error("snapshot not written; the next start takes longer", "err", err)
	}
}

// Package storage maintains the files of the log: word index, snapshots, compaction and
// backups.
//
// Guarantee: a backup contains all that the store knew at one moment, whatever the files of the log had lost
// by then. Compaction loses no live memory, and no
// version within the retention time.
package storage

import (
	"sync/atomic"

	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/op"
)

// Storage has the operations of this package for callers with the same permissions.
type Storage struct {
	*core.View
	*State

	Promote *promote.Promote
}

// State is what all views share.
type State struct {
	Compacted atomic.Pointer[op.Compaction] // last compaction of this run
	Backups   Backups
}

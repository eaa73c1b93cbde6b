package wal

import (
	"path/filepath"
	"sync/atomic"

	"emberd/internal/metrics"
	"emberd/stm/record"
)

// counters that status reads while the writer works.
type counters struct {
	bytes     atomic.Int64
	dead      deadBytes
	lastUse   atomic.Int64 // bytes of the latest own use line, dead once there is another
	changes   atomic.Int64
	LastSeq   atomic.Uint64 // sequence number of the last record
	newest    atomic.Uint64 // the clock of the log
	reserved  atomic.Uint32 // highest segment number
	unsealed  atomic.Uint32 // lowest segment number that may still be written
	cloned    atomic.Bool   // another emberd writes in the folder of this device
	repaired  atomic.Int64  // own numbers that were missing at the start and are not missed any more
	Rewritten atomic.Int64  // how often something was merged or removed that may be old
	trouble   atomic.Pointer[writeError]
	inDoubt   atomic.Bool            // something was answered with doubt and is not settled
	shortage  atomic.Pointer[string] // why saves, but not deletes, are refused
	activeIn  atomic.Pointer[string]
}

// counts is what only [Store.Measure] tells.
type counts struct {
	batches  atomic.Uint64 // of lines that were written and, as durability has it, synced
	appended atomic.Uint64 // bytes of them
	syncs    metrics.Histogram
	unsynced atomic.Uint64 // syncs that failed
}

// activeName is the base name of the segment that is being written, "" if there is none.
func (s *Log) activeName() string {
	if name := s.activeIn.Load(); name != nil {
		return *name
	}
	return ""
}

// foldable are the dead bytes less those by lines of the segment that is being written. What
// these superseded in other files a compaction leaves there: it does not read them.
func (s *Log) foldable() int64 {
	name := s.activeName()
	if name == "" {
		return s.dead.sum(everywhere)
	}
	active := s.FileOf(filepath.Join(s.OwnDir(), name))
	return s.dead.sum(func(file uint32) bool { return file != active })
}

// countDead counts what a line of this device makes superfluous: what it supersedes
// is in the log twice, what it deletes once besides the copy to restore it from,
// and of the use lines the last one says it all.
func (s *Log) countDead(l *record.Line) {
	if l.Op == record.OpUse {
		s.dead.add(l.At.File, s.lastUse.Swap(int64(l.At.N)))
		return
	}
	for _, c := range l.Changes {
		switch c.Op {
		case record.OpDelete:
			s.dead.add(l.At.File, int64(len(c.Prev)))
		case record.OpSet:
			s.dead.add(l.At.File, 2*int64(len(c.Prev)))
		}
	}
}

// notePast reports a line that an answer can lack: one that purges, or that is as
// old as the moment, since it waited for the disk or came in the same millisecond.
func (s *Log) notePast(l *record.Line) {
	if l.Purges() || l.Stamp.Time().UnixMilli() <= s.Asked.Load() {
		s.Rewritten.Add(1)
	}
}

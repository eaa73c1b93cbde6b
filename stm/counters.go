package stm

import "sync/atomic"

// counters that status reads while the writer works.
type counters struct {
	bytes     atomic.Int64
	dead      atomic.Int64 // bytes of own files that compaction would take away, about
	lastUse   atomic.Int64 // bytes of the latest own use line, dead once there is another
	changes   atomic.Int64
	lastSeq   atomic.Uint64 // sequence number of the last record
	newest    atomic.Uint64 // the clock of the log
	reserved  atomic.Uint32 // highest segment number
	unsealed  atomic.Uint32 // lowest segment number that may still be written
	cloned    atomic.Bool   // somebody else writes in our folder
	rewritten atomic.Int64  // how often something was merged or removed that may be old
	trouble   atomic.Pointer[trouble]
	inDoubt   atomic.Bool            // something was answered with doubt and is not settled
	shortage  atomic.Pointer[string] // why saves, but not deletes, are refused
	activeIn  atomic.Pointer[string]
}

// waste counts what a line of this device makes superfluous: what it supersedes
// is in the log twice, what it deletes once besides the copy to restore it from,
// and of the use lines the last one says it all.
func (s *Store) waste(l *line) {
	if l.op == opUse {
		s.dead.Add(s.lastUse.Swap(int64(l.at.n)))
		return
	}
	for _, c := range l.changes {
		switch c.op {
		case opDelete:
			s.dead.Add(int64(len(c.prev)))
		case opSet:
			s.dead.Add(2 * int64(len(c.prev)))
		}
	}
}

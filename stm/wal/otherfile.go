package wal

import (
	"io/fs"
	"time"

	"emberd/stm/record"
)

// otherFile is a log file that this device did not write, as it was when it was read last.
type otherFile struct {
	look    fileMark        // zero for one that is to be read again in any case
	end     int64           // behind its last whole line
	sum     uint32          // CRC-32C of what is before end
	count   record.Recovery // of its lines, those that were passed over
	due     time.Time
	problem fileProblem
	upto    int64 // of one that is garbled: what follows was not read
}

// fileProblem is why a file deserves a look.
type fileProblem string

const (
	sound      fileProblem = ""
	unreadable fileProblem = "cannot be read"
	shorter    fileProblem = "is shorter than it was"
	vanished   fileProblem = "is gone, and no compacted file stands for it"
	garbled    fileProblem = "is too much garbage"
	replacedBy fileProblem = "needs no look: a compacted file stands for it"
)

// mark reports how far the file was read, for the snapshot; false when a later
// start has to read all of it again.
func (f *otherFile) mark(name string) (fileMark, bool) {
	m := fileMark{name: name, size: f.end, growing: true, sum: f.sum}
	return m, f.count.PassedOver() == 0 && f.problem != garbled && f.look != fileMark{}
}

// unchanged reports whether the file need not be looked into.
func (f *otherFile) unchanged(name string, info fs.FileInfo, now time.Time) bool {
	return f.look == markOf(name, info) && now.Sub(info.ModTime()).Abs() > record.Racy && !f.isDue(now)
}

// stoodFor reports whether a file is one that a compacted file stands for, as it
// was when that was found.
func (f *otherFile) stoodFor(name string, info fs.FileInfo) bool {
	return f.problem == replacedBy && f.look == markOf(name, info)
}

func (f *otherFile) isDue(now time.Time) bool { return !f.due.IsZero() && !now.Before(f.due) }

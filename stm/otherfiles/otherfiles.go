// Package otherfiles keeps what is known of the log files that this device did not write: those of other
// devices, and copies that a sync tool put into the folder of this one.
//
// Such files are only ever read, and may change in any way at any time: a sync tool makes, replaces, shortens
// and removes them. A [File] tells how far one was read and whether it must be looked into again. What was
// merged from a file stays, whatever happens to the file; [Files.LostSince] says since when something that was
// merged may be in no file any more, and with that who keeps it.
package otherfiles

import (
	"io"
	"io/fs"
	"time"

	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/snapshot"
)

// A File is a log file that this device did not write, as it was when it was read last. The zero value is a
// file that has not been read.
type File struct {
	Look    snapshot.Mark   // zero for one that is to be read again in any case
	End     int64           // behind its last whole line
	Sum     uint32          // CRC-32C of what is before End
	Count   record.Recovery // of its lines, those that were passed over
	Due     time.Time       // when a line that is held back may be taken, zero for none
	Problem Problem
	Upto    int64 // of one that is garbled: what follows was not read
	Had     Had   // of one that has lost something
}

// Had is what was read of a file before it lost some of that.
type Had struct {
	End int64
	Sum uint32
}

// isIn reports whether the file has it again.
func (h Had) isIn(r io.ReaderAt) bool { return h.End > 0 && extent.SumOf(r, h.End) == h.Sum }

// Problem is why a file deserves a look.
type Problem string

// A file that was replaced has no problem: it needs no look.
const (
	Sound      Problem = ""
	Unreadable Problem = "cannot be read"
	Shorter    Problem = "is shorter than before"
	Altered    Problem = "no longer begins with the same data"
	Vanished   Problem = "is missing, and no compacted file replaces it"
	Garbled    Problem = "has too many invalid lines"
	Replaced   Problem = "was replaced by a compacted file"
)

// Mark reports how far the file was read, for the snapshot; false when a later
// start has to read all of it again.
func (f *File) Mark(name string) (snapshot.Mark, bool) {
	m := snapshot.Mark{Name: name, Size: f.End, Growing: true, Sum: f.Sum}
	return m, f.Count.PassedOver() == 0 && f.Problem != Garbled && f.Look != snapshot.Mark{}
}

// HasLost reports whether it does not hold what was read of it. Until that is written again, the snapshot says
// how far it was read before, so that the next start finds the same.
func (f *File) HasLost() bool { return f.Problem == Shorter || f.Problem == Altered }

// Unchanged reports whether the file need not be looked into.
func (f *File) Unchanged(name string, info fs.FileInfo, now time.Time) bool {
	return f.Look == snapshot.MarkOf(name, info) && now.Sub(info.ModTime()).Abs() > record.Racy && !f.IsDue(now)
}

// StoodFor reports whether a file is one that a compacted file stands for, as it
// was when that was found.
func (f *File) StoodFor(name string, info fs.FileInfo) bool {
	return f.Problem == Replaced && f.Look == snapshot.MarkOf(name, info)
}

// IsDue reports whether a line of it that was held back may be taken.
func (f *File) IsDue(now time.Time) bool { return !f.Due.IsZero() && !now.Before(f.Due) }

// Next reports where to continue reading: behind the last whole line if the file
// still begins as it did, else at the beginning, which does no harm.
func (f *File) Next(r io.ReaderAt, size int64, now time.Time) File {
	if f.Had.isIn(r) {
		return File{}
	}
	problem, had := f.Problem, f.Had
	if !f.HasLost() {
		problem, had = Sound, Had{f.End, f.Sum}
	}
	switch {
	case size < f.End:
		return File{Problem: Shorter, Had: had}
	case f.End == 0 || f.IsDue(now):
		return File{Problem: problem, Had: f.Had}
	case extent.SumOf(r, f.End) != f.Sum:
		return File{Problem: Altered, Had: had}
	}
	next := *f
	next.Problem, next.Count.TornTail, next.Count.NulTail = problem, 0, 0 // the end is read again
	return next
}

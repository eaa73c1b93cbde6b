package wal

import (
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/snapshot"
)

// otherFile is a log file that this device did not write, as it was when it was read last.
type otherFile struct {
	look    snapshot.Mark   // zero for one that is to be read again in any case
	end     int64           // behind its last whole line
	sum     uint32          // CRC-32C of what is before end
	count   record.Recovery // of its lines, those that were passed over
	due     time.Time
	problem fileProblem
	upto    int64 // of one that is garbled: what follows was not read
	had     had   // of one that has lost something
}

// had is what was read of a file before it lost some of that.
type had struct {
	end int64
	sum uint32
}

// isIn reports whether the file has it again.
func (h had) isIn(r io.ReaderAt) bool { return h.end > 0 && extent.SumOf(r, h.end) == h.sum }

// fileProblem is why a file deserves a look.
type fileProblem string

const (
	sound      fileProblem = ""
	unreadable fileProblem = "cannot be read"
	shorter    fileProblem = "is shorter than it was"
	altered    fileProblem = "does not begin as it did"
	vanished   fileProblem = "is gone, and no compacted file stands for it"
	garbled    fileProblem = "is too much garbage"
	replacedBy fileProblem = "needs no look: a compacted file stands for it"
)

// mark reports how far the file was read, for the snapshot; false when a later
// start has to read all of it again.
func (f *otherFile) mark(name string) (snapshot.Mark, bool) {
	m := snapshot.Mark{Name: name, Size: f.end, Growing: true, Sum: f.sum}
	return m, f.count.PassedOver() == 0 && f.problem != garbled && f.look != snapshot.Mark{}
}

// hasLost reports whether it does not hold what was read of it. Until that is written again, the snapshot says
// how far it was read before, so that the next start finds the same.
func (f *otherFile) hasLost() bool { return f.problem == shorter || f.problem == altered }

// next reports where to continue reading: behind the last whole line if the file
// still begins as it did, else at the beginning, which does no harm.
func (f *otherFile) next(r io.ReaderAt, size int64, now time.Time) otherFile {
	if f.had.isIn(r) {
		return otherFile{}
	}
	problem, was := f.problem, f.had
	if !f.hasLost() {
		problem, was = sound, had{f.end, f.sum}
	}
	switch {
	case size < f.end:
		return otherFile{problem: shorter, had: was}
	case f.end == 0 || f.isDue(now):
		return otherFile{problem: problem, had: f.had}
	case extent.SumOf(r, f.end) != f.sum:
		return otherFile{problem: altered, had: was}
	}
	next := *f
	next.problem, next.count.TornTail, next.count.NulTail = problem, 0, 0 // the end is read again
	return next
}

// unchanged reports whether the file need not be looked into.
func (f *otherFile) unchanged(name string, info fs.FileInfo, now time.Time) bool {
	return f.look == snapshot.MarkOf(name, info) && now.Sub(info.ModTime()).Abs() > record.Racy && !f.isDue(now)
}

// stoodFor reports whether a file is one that a compacted file stands for, as it
// was when that was found.
func (f *otherFile) stoodFor(name string, info fs.FileInfo) bool {
	return f.problem == replacedBy && f.look == snapshot.MarkOf(name, info)
}

func (f *otherFile) isDue(now time.Time) bool { return !f.due.IsZero() && !now.Before(f.due) }

// foreignFiles is what is known of the log files that this device did not write:
// those of other devices, and copies that a sync tool put into our folder. They
// are only ever read. What was merged from them stays, whatever becomes of them.
type foreignFiles struct {
	refreshing sync.Mutex // held by Refresh

	mu    sync.Mutex               // guards what follows
	files map[string]*otherFile    // by path; a folder that cannot be listed is one too
	lost  time.Time                // since when a line that was read may be in no file, zero if none
	kept  map[string][]record.Kept // what headers say, by path
}

// lose takes note that a file does not hold any more what was read of it.
func (o *foreignFiles) lose(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost.IsZero() {
		o.lost = now
	}
}

// lostSince is since when a line may be in no file.
func (o *foreignFiles) lostSince() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// regained takes the files as they are: all that was read of them is in some file again. It
// returns those that are gone.
func (o *foreignFiles) regained() (gone []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost = time.Time{}
	for name, f := range o.files {
		switch f.problem {
		case vanished:
			gone = append(gone, name)
			delete(o.files, name)
		case shorter, altered:
			f.problem, f.had, f.look = sound, had{}, snapshot.Mark{} // the snapshot is to say how far it goes now
		}
	}
	return gone
}

func (o *foreignFiles) get(name string) otherFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.files[name]; f != nil {
		return *f
	}
	return otherFile{}
}

func (o *foreignFiles) set(name string, f otherFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[string]*otherFile{}
	}
	o.files[name] = &f
}

// unreadable keeps what is known of the file but for how it looked.
func (o *foreignFiles) unreadable(name string) {
	f := o.get(name)
	f.look, f.problem = snapshot.Mark{}, unreadable
	o.set(name, f)
}

// replaced reports whether a compacted file of the same folder covers the name.
// The lock is held.
func (o *foreignFiles) replaced(name string) bool {
	n := record.ParseName(filepath.Base(name))
	if n.Kind == record.Odd {
		return true // a conflict copy that was merged and is tidied away
	}
	for other, f := range o.files {
		if filepath.Dir(other) == filepath.Dir(name) && f.problem == sound &&
			record.ParseName(filepath.Base(other)).Covers(n) {
			return true
		}
	}
	return false
}

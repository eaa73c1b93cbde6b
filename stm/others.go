package stm

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// others is what is known of the log files that this device did not write:
// those of other devices, and copies that a sync tool put into our folder. They
// are only ever read. What was merged from them stays, whatever becomes of them.
type others struct {
	refreshing sync.Mutex // held by Refresh

	mu    sync.Mutex            // guards files
	files map[string]*otherFile // by path; a folder that cannot be listed is one too
}

// otherFile is one such file as it was when it was read last.
type otherFile struct {
	look  fileMark // zero for one that is to be read again in any case
	end   int64    // behind its last whole line
	sum   uint32   // CRC-32C of what is before end
	count Recovery // of its lines, those that were passed over
	due   time.Time
	flaw  flaw
}

// flaw is why a file deserves a look.
type flaw string

const (
	sound      flaw = ""
	unreadable flaw = "cannot be read"
	shorter    flaw = "is shorter than it was"
	vanished   flaw = "is gone, and no compacted file stands for it"
	replacedBy flaw = "needs no look: a compacted file stands for it"
)

// racy is how old a file must be for its size and time to be believed: within
// one tick of the file system's clock a file can change and look the same.
const racy = 2 * time.Second

// isLog reports whether a directory entry is a log file that is read at start:
// under any name but a hidden one, so that a sync tool's conflict copy is too.
func isLog(e fs.DirEntry) bool {
	return isLogFile(e) && parseFileName(e.Name()).kind != History
}

// isCopy reports whether a name is none that emberd gives: s-00000042.sync-conflict-….jsonl,
// "s-00000042 2.jsonl", "s-00000042 (conflicted copy).jsonl".
func isCopy(name string) bool {
	return parseFileName(filepath.Base(name)).kind == Odd
}

// ours reports whether a log file was written by this device, under a name of
// its own giving.
func (s *Store) ours(name string) bool {
	return filepath.Base(filepath.Dir(name)) == s.device.String() && !isCopy(name)
}

// deviceOf names the device in whose folder a file is, with its host if known.
func (s *Store) deviceOf(name string) string {
	dir := filepath.Base(filepath.Dir(name))
	if dir == "stm" {
		dir = filepath.Base(name)
	}
	if dev, ok := parseDevice(dir); ok {
		if known := s.peers.get(dev).Name; known != "" {
			return fmt.Sprintf("%s (%s)", dir, known)
		}
	}
	return dir
}

func (o *others) get(name string) otherFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.files[name]; f != nil {
		return *f
	}
	return otherFile{}
}

func (o *others) set(name string, f otherFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[string]*otherFile{}
	}
	o.files[name] = &f
}

// unreadable keeps what is known of the file but for how it looked.
func (o *others) unreadable(name string) {
	f := o.get(name)
	f.look, f.flaw = fileMark{}, unreadable
	o.set(name, f)
}

// mark says how far the file was read, for the snapshot; false when a later
// start has to read all of it again.
func (f *otherFile) mark(name string) (fileMark, bool) {
	m := fileMark{name: name, size: f.end, growing: true, sum: f.sum}
	return m, f.count.passedOver() == 0 && f.look != fileMark{}
}

// unchanged reports whether the file need not be looked into.
func (f *otherFile) unchanged(name string, info fs.FileInfo, now time.Time) bool {
	return f.look == markOf(name, info) && now.Sub(info.ModTime()) > racy && !f.isDue(now)
}

// stoodFor reports whether a file is one that a compacted file stands for, as it
// was when that was found.
func (f *otherFile) stoodFor(name string, info fs.FileInfo) bool {
	return f.flaw == replacedBy && f.look == markOf(name, info)
}

func (f *otherFile) isDue(now time.Time) bool { return !f.due.IsZero() && !now.Before(f.due) }

// hold keeps a line back that is stamped too far ahead.
func (r *recovery) hold(l *line) {
	r.count.Future++
	if due := l.stamp.Time().Add(-maxSkew); r.file.due.IsZero() || due.Before(r.file.due) {
		r.file.due = due
	}
}

// setAside takes what was counted in a file that is not ours out of the totals
// of the start: it may be on its way here, and is counted as it is now.
func (r *recovery) setAside(name string, info fs.FileInfo, in *lineReader, before Recovery) {
	f := otherFile{look: markOf(name, info), end: in.end, sum: in.sum, due: r.file.due, count: r.count.transient(before)}
	applied, duplicate, edited := r.count.Applied, r.count.Duplicate, r.count.HandEdited
	r.count = before
	r.count.Applied, r.count.Duplicate, r.count.HandEdited = applied, duplicate, edited
	r.s.others.set(name, f)
	r.finish(name, &f)
}

// finish takes note of a file that was read to its end: numbers that a
// compacted one stands for count as met if nothing in it is damaged.
func (r *recovery) finish(name string, f *otherFile) {
	if m, ok := f.mark(name); ok {
		r.s.snapshot.marks[name] = m
	} else {
		delete(r.s.snapshot.marks, name)
	}
	r.covered(name, f)
	r.file = fileRead{}
}

// covered adds the numbers that the header of an undamaged file gives up, or,
// if the file has come whole, stands for.
func (r *recovery) covered(name string, f *otherFile) {
	h, found := r.s.headerOf(name)
	dev, ok := parseDevice(h.Dev)
	if !found || !ok || dev == r.s.device || f.count.passedOver() > 0 {
		return
	}
	for _, lost := range h.Lost {
		r.seen.add(dev, lost[0], lost[1])
	}
	if r.file.sealed && h.Last >= h.First && h.First > 0 {
		r.seen.add(dev, h.First, h.Last)
	}
}

// transient are the counts of what a file holds now, in contrast to what
// reading it did.
func (r Recovery) transient(before Recovery) Recovery {
	return Recovery{TornTail: r.TornTail - before.TornTail, NulTail: r.NulTail - before.NulTail,
		Quarantined: r.Quarantined - before.Quarantined, Future: r.Future - before.Future, Unknown: r.Unknown - before.Unknown}
}

func (r Recovery) plus(o Recovery) Recovery {
	r.TornTail += o.TornTail
	r.NulTail += o.NulTail
	r.Quarantined += o.Quarantined
	r.Future += o.Future
	r.Unknown += o.Unknown
	return r
}

// vanished flags the files of others that an earlier run read and that are
// gone, unless a compacted file stands for them.
func (s *Store) vanished() {
	s.filesMu.RLock()
	names := slices.Clone(s.files)
	s.filesMu.RUnlock()
	for _, name := range names {
		if name != "" && !s.ours(name) && s.others.get(name) == (otherFile{}) {
			s.others.set(name, otherFile{flaw: vanished})
		}
	}
	s.others.mu.Lock()
	defer s.others.mu.Unlock()
	maps.DeleteFunc(s.others.files, func(name string, f *otherFile) bool {
		return f.flaw == vanished && s.others.replaced(name)
	})
}

// replaced reports whether a compacted file of the same folder covers the name.
// The lock is held.
func (o *others) replaced(name string) bool {
	n := parseFileName(filepath.Base(name))
	if n.kind == Odd {
		return true // a conflict copy that was merged and is tidied away
	}
	for other, f := range o.files {
		if filepath.Dir(other) == filepath.Dir(name) && f.flaw == sound && parseFileName(filepath.Base(other)).covers(n) {
			return true
		}
	}
	return false
}

// othersNow sums up the lines that are passed over in the files of others, and what
// they are flagged for, in sentences.
func (s *Store) othersNow() (sum Recovery, failed int, warnings []string) {
	s.others.mu.Lock()
	files := maps.Clone(s.others.files)
	s.others.mu.Unlock()
	say := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, base, dev := files[name], filepath.Base(name), s.deviceOf(name)
		sum = sum.plus(f.count)
		switch {
		case f.flaw == unreadable:
			failed++
		case f.flaw == shorter, f.flaw == vanished:
			say("log file %s of device %s %s; what was merged from it stays here: let the sync tool finish, or restore the file on that device", base, dev, f.flaw)
		}
		if f.count.Quarantined > 0 {
			say("log file %s of device %s has %d damaged lines that are passed over; it is read again when it changes: if it stays so, look whether the sync tool is done, or restore the file on that device", base, dev, f.count.Quarantined)
		}
		if isCopy(name) && strings.HasSuffix(base, ".jsonl") && f.flaw == sound {
			say("%s in the folder of device %s is a sync tool's copy of a log file; it is merged and does no harm: emberd compact on that device takes it in, and then it may be deleted", base, dev)
		}
	}
	return sum, failed, warnings
}

// numbers are the sequence numbers met, by device.
type numbers struct {
	mu sync.Mutex // guards by
	by map[Device]*ranges
}

func newNumbers() *numbers { return &numbers{by: map[Device]*ranges{}} }

// of returns the numbers of one device. It is for recovery, which is alone.
func (n *numbers) of(dev Device) *ranges {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.by[dev] == nil {
		n.by[dev] = &ranges{}
	}
	return n.by[dev]
}

// add takes note of lo to hi and reports whether any of them is new.
func (n *numbers) add(dev Device, lo, hi uint64) bool {
	r := n.of(dev)
	n.mu.Lock()
	defer n.mu.Unlock()
	return r.add(lo, hi)
}

// clone copies all.
func (n *numbers) clone() map[Device]*ranges {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make(map[Device]*ranges, len(n.by))
	for dev, r := range n.by {
		out[dev] = &ranges{spans: slices.Clone(r.spans)}
	}
	return out
}

// contiguous returns for every device the highest number up to which none is
// missing.
func (n *numbers) contiguous() map[Device]uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make(map[Device]uint64, len(n.by))
	for dev, r := range n.by {
		out[dev] = r.unbroken()
	}
	return out
}

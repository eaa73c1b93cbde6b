package wal

import (
	"io/fs"
	"path/filepath"
	"slices"

	"emberd/stm/otherfiles"
	"emberd/stm/record"
	"emberd/stm/snapshot"
)

// foreign is 0 for this device's folder and 1 for others.
func (s *Log) foreign(d fs.DirEntry) int {
	if d.Name() == s.Device.String() {
		return 0
	}
	return 1
}

// tell says that reading ended early. Such a file is looked at again when it changes.
func (read *fileRead) tell(f *otherfiles.File) {
	if read.garbled {
		f.Problem, f.Upto = otherfiles.Garbled, read.upto
	}
}

// hold keeps a line back that is stamped too far ahead.
func (r *recovery) hold(l *record.Line) {
	r.count.Future++
	if due := l.Stamp.Time().Add(-record.MaxSkew); r.file.due.IsZero() || due.Before(r.file.due) {
		r.file.due = due
	}
}

// setAside takes what was counted in a file that is not ours out of the totals
// of the start: it may be on its way here, and is counted as it is now.
func (r *recovery) setAside(name string, info fs.FileInfo, in *record.LineReader, before record.Recovery) {
	f := otherfiles.File{Look: snapshot.MarkOf(name, info), End: in.End, Sum: in.Sum, Due: r.file.due,
		Count: r.count.Transient(before)}
	if known := r.s.others.Get(name); known.HasLost() {
		f.Problem, f.Had = known.Problem, known.Had
	}
	r.file.tell(&f)
	applied, duplicate, edited := r.count.Applied, r.count.Duplicate, r.count.HandEdited
	r.count = before
	r.count.Applied, r.count.Duplicate, r.count.HandEdited = applied, duplicate, edited
	r.s.others.Set(name, f)
	r.finish(name, &f)
}

// finish takes note of a file that was read to its end: numbers that a
// compacted one stands for count as met if nothing in it is damaged.
func (r *recovery) finish(name string, f *otherfiles.File) {
	m, ok := f.Mark(name)
	switch {
	case f.HasLost():
	case ok:
		r.s.Snapshot.marks[name] = m
	default:
		delete(r.s.Snapshot.marks, name)
	}
	r.covered(name, f)
	r.file = fileRead{}
}

// covered adds the numbers that the header of an undamaged file gives up, or, if the file has come whole, stands for.
func (r *recovery) covered(name string, f *otherfiles.File) {
	h, found := r.s.HeaderOf(name)
	dev, ok := record.ParseDevice(h.Dev)
	if !found || !ok || dev == r.s.Device || f.Count.PassedOver() > 0 || f.Problem == otherfiles.Garbled {
		return
	}
	r.s.others.Keeps(name, h.Kept)
	numbers := h.Lost
	if r.file.sealed && h.First > 0 && h.Fits(record.ParseName(filepath.Base(name))) {
		numbers = append(numbers, h.Accounted().Spans...)
	}
	for _, span := range numbers {
		r.seen.Add(dev, span[0], span[1])
	}
}

// vanished flags the files of others that an earlier run read and that are
// gone, unless a compacted file stands for them.
func (s *Log) vanished() {
	s.FilesMu.RLock()
	names := slices.DeleteFunc(slices.Clone(s.Files), func(name string) bool { return name == "" || s.Ours(name) })
	s.FilesMu.RUnlock()
	s.others.Vanish(names, s.Now())
}

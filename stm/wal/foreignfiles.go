package wal

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"emberd/stm/record"
	"emberd/stm/snapshot"
)

// deviceOf names the device in whose folder a file is, with its host if known.
func (s *Log) deviceOf(name string) string {
	dir := filepath.Base(filepath.Dir(name))
	if dir == "stm" {
		dir = filepath.Base(name)
	}
	if dev, ok := record.ParseDevice(dir); ok {
		if known := s.Peers.Get(dev).Name; known != "" {
			return fmt.Sprintf("%s (%s)", dir, known)
		}
	}
	return dir
}

// foreign is 0 for this device's folder and 1 for others.
func (s *Log) foreign(d fs.DirEntry) int {
	if d.Name() == s.Device.String() {
		return 0
	}
	return 1
}

// note takes over that reading ended early. Such a file is looked at again when it changes.
func (f *otherFile) note(read *fileRead) {
	if read.garbled {
		f.problem, f.upto = garbled, read.upto
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
	f := otherFile{look: snapshot.MarkOf(name, info), end: in.End, sum: in.Sum, due: r.file.due,
		count: r.count.Transient(before)}
	if known := r.s.others.get(name); known.hasLost() {
		f.problem, f.had = known.problem, known.had
	}
	f.note(&r.file)
	applied, duplicate, edited := r.count.Applied, r.count.Duplicate, r.count.HandEdited
	r.count = before
	r.count.Applied, r.count.Duplicate, r.count.HandEdited = applied, duplicate, edited
	r.s.others.set(name, f)
	r.finish(name, &f)
}

// finish takes note of a file that was read to its end: numbers that a
// compacted one stands for count as met if nothing in it is damaged.
func (r *recovery) finish(name string, f *otherFile) {
	m, ok := f.mark(name)
	switch {
	case f.hasLost():
	case ok:
		r.s.Snapshot.marks[name] = m
	default:
		delete(r.s.Snapshot.marks, name)
	}
	r.covered(name, f)
	r.file = fileRead{}
}

// covered adds the numbers that the header of an undamaged file gives up, or, if the file has come whole, stands for.
func (r *recovery) covered(name string, f *otherFile) {
	h, found := r.s.HeaderOf(name)
	dev, ok := record.ParseDevice(h.Dev)
	if !found || !ok || dev == r.s.Device || f.count.PassedOver() > 0 || f.problem == garbled {
		return
	}
	r.s.others.keeps(name, h.Kept)
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
	names := slices.Clone(s.Files)
	s.FilesMu.RUnlock()
	for _, name := range names {
		if name != "" && !s.Ours(name) && s.others.get(name) == (otherFile{}) {
			s.others.set(name, otherFile{problem: vanished})
		}
	}
	s.others.mu.Lock()
	maps.DeleteFunc(s.others.files, func(name string, f *otherFile) bool {
		return f.problem == vanished && s.others.replaced(name)
	})
	lost := slices.ContainsFunc(slices.Collect(maps.Values(s.others.files)), func(f *otherFile) bool {
		return f.problem == vanished || f.hasLost()
	})
	s.others.mu.Unlock()
	if lost {
		s.others.lose(s.Now())
	}
}

// othersNow sums up the lines that are passed over in the files of others, and what
// they are flagged for, in sentences.
func (s *Log) othersNow() (sum record.Recovery, failed int, warnings []string) {
	s.others.mu.Lock()
	files := maps.Clone(s.others.files)
	s.others.mu.Unlock()
	say := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, base, dev := files[name], filepath.Base(name), s.deviceOf(name)
		sum = sum.Plus(f.count)
		switch {
		case f.problem == unreadable:
			failed++
		case f.hasLost() && f.count.Quarantined == 0, f.problem == vanished:
			say("log file %s of device %s %s; what was merged from it stays here: let the sync tool finish, or "+
				"restore the file on that device", base, dev, f.problem)
		case f.problem == garbled:
			say("log file %s of device %s is not read from byte %d on, since too much of it is no log; it is read "+
				"again when it changes: if it stays so, look whether the sync tool is done, remove the file, or "+
				"restore it on that device", base, dev, f.upto)
		}
		switch {
		case f.count.Quarantined > 0 && s.IsFormer(filepath.Dir(name)):
			say("log file %s, which this device wrote as %s before a backup was restored, has %d damaged lines that "+
				"are passed over; to decide about them, run: emberd doctor quarantine list", base,
				filepath.Base(filepath.Dir(name)), f.count.Quarantined)
		case f.count.Quarantined > 0:
			say("log file %s of device %s has %d damaged lines that are passed over; it is read again when it "+
				"changes: if it stays so, look whether the sync tool is done, or restore the file on that device",
				base, dev, f.count.Quarantined)
		}
		if record.IsCopy(name) && strings.HasSuffix(base, ".jsonl") && f.problem == sound {
			say("%s in the folder of device %s is a sync tool's copy of a log file; it is merged and does no harm: "+
				"emberd compact on that device takes it in, and then it may be deleted", base, dev)
		}
	}
	return sum, failed, warnings
}

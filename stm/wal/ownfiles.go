package wal

import (
	"path/filepath"
	"slices"
	"sync"

	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/snapshot"
)

// ownFiles is what is known of the files of this device while the log runs.
type ownFiles struct {
	mu    sync.Mutex               // guards what follows
	looks map[string]snapshot.Mark // how those looked that were found to be whole, by base name
	short []extent.ShortFile       // that the start found short, or that nothing could make good
	hurt  []extent.ShortFile       // that were damaged since, and are to be made good
}

// looked takes note that a file is whole as it looks now.
func (o *ownFiles) looked(m snapshot.Mark) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.looks == nil {
		o.looks = map[string]snapshot.Mark{}
	}
	o.looks[filepath.Base(m.Name)] = m
}

func (o *ownFiles) isAsItLooked(m snapshot.Mark) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.looks[filepath.Base(m.Name)] == m
}

func (o *ownFiles) damaged() []extent.ShortFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hurt
}

// shortAtStart returns the files of which something may be missed.
func (o *ownFiles) shortAtStart() []extent.ShortFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.short)
}

// leave says which files something may be missed of.
func (o *ownFiles) leave(short []extent.ShortFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.short = short
}

// take remembers files that were damaged, less those that are told already.
func (o *ownFiles) take(short []extent.ShortFile) []extent.ShortFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurt = slices.DeleteFunc(short, func(f extent.ShortFile) bool {
		return slices.ContainsFunc(o.short, func(g extent.ShortFile) bool {
			return g.Name == f.Name && g.Now == f.Now && g.Change == f.Change
		})
	})
	return o.hurt
}

// settled ends the repair of damaged files. Those that are left, and those of which the start missed something
// already, stay short.
func (o *ownFiles) settled(left []extent.ShortFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range left {
		o.short = slices.DeleteFunc(o.short, func(g extent.ShortFile) bool { return g.Name == f.Name })
	}
	o.short, o.hurt = append(o.short, left...), nil
}

// compareFiles finds the files of this device that do not hold what was written to them. Of those that look
// as they did when they were found to hold it, and of the active segment, it does not read the bytes.
func (s *Log) compareFiles() []extent.ShortFile {
	all := s.extents.All()
	read := map[string]snapshot.Mark{}
	for base, e := range all {
		name := filepath.Join(s.OwnDir(), base)
		info, err := s.FS.Lstat(name)
		if err != nil || e.Sum == 0 {
			continue
		}
		look := snapshot.MarkOf(name, info)
		if active := s.activeIn.Load(); active != nil && *active == base || s.own.isAsItLooked(look) ||
			e.MTime == look.MTime && e.Inode == look.Inode {
			e.Sum = 0
			all[base] = e
			continue
		}
		read[base] = look
	}
	short := extent.ShortFiles(s.FS, s.OwnDir(), all)
	for _, f := range short {
		delete(read, f.Name)
	}
	for base, look := range read {
		s.own.looked(look)
		if e := all[base]; e.MTime != 0 { // it was copied; that costs one reading
			_ = healer{s}.noteMade(base, e)
		}
	}
	return short
}

// LookAtFiles looks at the files of this device, and asks for a Refresh if one is damaged, which it reports.
func (s *Log) LookAtFiles() bool {
	if info, err := s.FS.Lstat(s.OwnDir()); err != nil || device.InodeOf(info) != s.Writer.dirInode {
		return false // the writer tells that the folder is gone
	}
	hurt := s.own.take(slices.DeleteFunc(s.compareFiles(), func(f extent.ShortFile) bool {
		now, known := s.extents.Of(f.Name)
		return !known || now.Bytes != f.Was.Bytes // it was removed on purpose
	}))
	if len(hurt) > 0 {
		s.Snapshot.fresh.Store(false)
		s.damaged()
	}
	return len(hurt) > 0
}

// damaged asks for a Refresh.
func (s *Log) damaged() {
	if s.onDamage != nil {
		s.onDamage()
	}
}

// madeGood settles the files that were damaged while the log ran: what they held and memory knew is in the log
// again. Where the start missed something of one already, that stays missed.
func (h healer) madeGood(hurt []extent.ShortFile, back *comparison) {
	if len(hurt) == 0 {
		return
	}
	h.letGo()
	h.found.mu.Lock()
	h.found.tell(back.lines, theDaemon)
	h.found.mu.Unlock()
	var left, whole []extent.ShortFile
	for _, f := range hurt {
		isShort := func(g extent.ShortFile) bool { return g.Name == f.Name }
		if slices.ContainsFunc(h.own.shortAtStart(), isShort) {
			left = append(left, f)
		} else {
			whole = append(whole, f)
		}
	}
	h.own.settled(append(left, h.settleExtents(whole)...))
	h.Logger.Warn("files of the log were damaged while emberd ran; what they lacked is written again from memory",
		"files", hurt, "lines", back.Lines, "memories", back.Memories, "records", back.Covered)
}

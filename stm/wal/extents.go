package wal

import (
	"fmt"
	"path/filepath"
	"slices"

	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/snapshot"
)

// compareFiles finds the files of this device that do not hold what was written to them.
func (h healer) compareFiles() []extent.ShortFile {
	all, read := h.toBeRead()
	short := extent.ShortFiles(h.FS, h.OwnDir(), all)
	for _, f := range short {
		delete(read, f.Name)
	}
	for base, look := range read {
		h.own.looked(look)
		if e := all[base]; e.MTime != 0 { // it was copied; if this fails, it is read again
			_ = h.noteMade(base, e)
		}
	}
	return short
}

// toBeRead returns all extents, and how those files look of which the bytes are to be compared. The others have no
// checksum in their extents: the active segment, and what looks as it did when it was found to be whole.
func (h healer) toBeRead() (all map[string]extent.Extent, read map[string]snapshot.Mark) {
	all, read = h.extents.All(), map[string]snapshot.Mark{}
	for base, e := range all {
		name := filepath.Join(h.OwnDir(), base)
		info, err := h.FS.Lstat(name)
		if err != nil || e.Sum == 0 {
			continue
		}
		look := snapshot.MarkOf(name, info)
		active := h.activeIn.Load()
		if active != nil && *active == base || h.own.isAsItLooked(look) ||
			e.MTime == look.MTime && e.Inode == look.Inode {
			e.Sum = 0
			all[base] = e
			continue
		}
		read[base] = look
	}
	return all, read
}

// LookAtFiles looks at the files of this device, and asks for a Refresh if one is damaged, which it reports.
func LookAtFiles(s *Log) bool {
	h := healer{s}
	if info, err := h.FS.Lstat(h.OwnDir()); err != nil || device.InodeOf(info) != h.Writer.dirInode {
		return false // the writer tells that the folder is gone
	}
	hurt := h.own.take(slices.DeleteFunc(h.compareFiles(), func(f extent.ShortFile) bool {
		now, known := h.extents.Of(f.Name)
		return !known || now.Bytes != f.Was.Bytes // it was removed on purpose
	}))
	if len(hurt) > 0 {
		h.Snapshot.fresh.Store(false)
		h.own.damagedNow()
	}
	return len(hurt) > 0
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

// noteMade remembers a file that a compaction made, and how it looks.
func (h healer) noteMade(base string, e extent.Extent) error {
	info, err := h.FS.Lstat(filepath.Join(h.OwnDir(), base))
	if err != nil {
		return fmt.Errorf("look at a file of the log: %w", err)
	}
	e.MTime, e.Inode = info.ModTime().UnixNano(), device.InodeOf(info)
	return h.extents.Note(base, e)
}

// settleExtents takes the files that are short as they are, once nothing of them is missed any
// more. Nothing but a history makes good what was in one.
func (h healer) settleExtents(short []extent.ShortFile) (left []extent.ShortFile) {
	for _, f := range short {
		if record.ParseName(f.Name).Kind == record.History {
			left = append(left, f)
			continue
		}
		if err := h.acceptExtent(f); err != nil {
			h.Logger.Warn("a file that was made good is still missed", "file", f.Name, "error", err)
		}
	}
	return left
}

// acceptExtent makes what a file is now what it is expected to be.
func (h healer) acceptExtent(f extent.ShortFile) error {
	if f.Now < 0 {
		return h.extents.Forget(f.Name)
	}
	name := filepath.Join(h.OwnDir(), f.Name)
	return h.extents.Note(f.Name, extent.Extent{Bytes: f.Now, Sum: extent.Sum(h.FS, name, f.Now)})
}

// rebuildExtents makes anew what is damaged of how far files were written, from the files as they are.
func rebuildExtents(h healer) {
	for base, name := range extent.Damaged(h.FS, h.State, h.Device) {
		h.Logger.Warn("how far a file of the log was written cannot be read, and is taken from the file", "file", base,
			"damaged", name)
		f := extent.ShortFile{Name: base, Now: -1}
		if info, err := h.FS.Lstat(filepath.Join(h.OwnDir(), base)); err == nil {
			f.Now = info.Size()
		}
		err := device.KeepDamaged(h.FS, h.State, name)
		if err == nil {
			err = h.acceptExtent(f)
		}
		if err != nil {
			h.Logger.Warn("what is damaged of state/written is not made anew", "file", name, "error", err)
		}
	}
}

// take takes over what the start found.
func (w *Writer) take(r *recovery) {
	w.S.found.purges, w.S.found.lines = r.purges, r.healed
	w.S.found.before = r.before
	w.S.own.leave(r.short)
	w.S.missedBefore.Store(w.S.found.missedBefore())
	w.S.found.tell(r.returned, otherDevices)
	back := len(r.damaged) == 0 || r.regained.Count() >= r.count.Quarantined
	w.S.found.sound = r.count.Gaps == 0 && r.count.Quarantined+r.count.TornTail > 0 && back
	w.lost = append(w.lost, r.regained.Spans...)
}

// noteExtent remembers how far the active segment is written. That it cannot be costs only that
// a shorter segment may go unnoticed.
func (w *Writer) noteExtent() {
	if s := w.active; s != nil {
		w.note1(s.name, extent.Extent{Bytes: s.size, Sum: s.sum, Last: w.S.LastSeq.Load(), Change: w.changed,
			At: record.Stamp{T: w.S.newest.Load(), Dev: w.S.Device}})
	}
}

func (w *Writer) note1(name string, e extent.Extent) {
	if err := w.S.extents.Note(name, e); err != nil {
		w.S.Logger.Debug("extent not kept", "file", name, "error", err)
	}
}

package wal

import (
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
)

// LookAtFiles looks at the files of this device, and asks for a Refresh if one is damaged, which it reports.
func LookAtFiles(s *Log) bool {
	if info, err := s.FS.Lstat(s.OwnDir()); err != nil || device.InodeOf(info) != s.Writer.dirInode {
		return false // the writer tells that the folder is gone
	}
	hurt := s.own.Look(s.activeName())
	if len(hurt) > 0 {
		s.Snapshot.fresh.Store(false)
		s.own.AskForRepair()
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
	h.own.Repaired(hurt)
	h.Logger.Warn("log files were damaged while emberd was running; writing the missing records again from RAM",
		"files", hurt, "lines", back.Lines, "memories", back.Memories, "records", back.Covered)
}

// take takes over what the start found.
func (w *Writer) take(r *recovery) {
	w.S.found.purges, w.S.found.lines = r.purges, r.healed
	w.S.own.Miss(r.short)
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
	if err := w.S.own.Note(name, e); err != nil {
		w.S.Logger.Debug("write position of a log file not stored", "file", name, "error", err)
	}
}

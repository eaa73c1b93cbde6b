package wal

import (
	"path/filepath"

	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
)

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
	w.S.found.purges, w.S.found.lines, w.S.found.short = r.purges, r.healed, r.short
	w.S.found.before = r.before
	w.S.missedBefore.Store(w.S.found.missedBefore())
	w.S.found.tell(r.returned, otherDevices)
	back := len(r.damaged) == 0 || r.regained.Count() >= r.count.Quarantined
	w.S.found.sound = r.count.Gaps == 0 && r.count.Quarantined > 0 && back
	w.lost = append(w.lost, r.regained.Spans...)
}

// noteExtent remembers how far the active segment is written. That it cannot be costs only that
// a shorter segment may go unnoticed.
func (w *Writer) noteExtent() {
	if s := w.active; s != nil {
		w.note1(s.name, extent.Extent{Bytes: s.size, Sum: s.sum, Last: w.S.LastSeq.Load(),
			At: record.Stamp{T: w.S.newest.Load(), Dev: w.S.Device}})
	}
}

func (w *Writer) note1(name string, e extent.Extent) {
	if err := w.S.extents.Note(name, e); err != nil {
		w.S.Logger.Debug("extent not kept", "file", name, "error", err)
	}
}

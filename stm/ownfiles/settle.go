package ownfiles

import (
	"fmt"
	"path/filepath"
	"slices"

	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
)

// Repaired ends the repair of damaged files. Those that nothing could make good are missed, and so are those
// that were missed before: a repair from memory does not know what they held at the start.
func (o *Files) Repaired(hurt []extent.ShortFile) {
	before := o.Missed()
	var left, whole []extent.ShortFile
	for _, f := range hurt {
		if slices.ContainsFunc(before, func(g extent.ShortFile) bool { return g.Name == f.Name }) {
			left = append(left, f)
		} else {
			whole = append(whole, f)
		}
	}
	left = append(left, o.accept(whole)...)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range left {
		o.missed = slices.DeleteFunc(o.missed, func(g extent.ShortFile) bool { return g.Name == f.Name })
	}
	o.missed, o.hurt = append(o.missed, left...), nil
}

// Settle takes the missed files as they are, since nothing of them is missed any more. Nothing but a history
// makes good what was in one.
func (o *Files) Settle() { o.Miss(o.accept(o.Missed())) }

// AcceptLoss takes the missed files as they are, although something of them is lost.
func (o *Files) AcceptLoss() error {
	for _, f := range o.Missed() {
		if err := o.expect(f); err != nil {
			return err
		}
	}
	o.Miss(nil)
	return nil
}

// accept takes short files as they are, and returns those that stay missed.
func (o *Files) accept(short []extent.ShortFile) (left []extent.ShortFile) {
	for _, f := range short {
		if record.ParseName(f.Name).Kind == record.History {
			left = append(left, f)
			continue
		}
		if err := o.expect(f); err != nil {
			o.home.Logger.Warn("a repaired log file is still recorded as missing", "file", f.Name, "error", err)
		}
	}
	return left
}

// expect makes what a file is now what it is expected to be.
func (o *Files) expect(f extent.ShortFile) error {
	if f.Now < 0 {
		return o.Forget(f.Name)
	}
	name := filepath.Join(o.home.OwnDir(), f.Name)
	return o.Note(f.Name, extent.Extent{Bytes: f.Now, Sum: extent.Sum(o.home.FS, name, f.Now)})
}

// NoteMade remembers a file that a compaction made, given by its base name.
func (o *Files) NoteMade(base string) error {
	name := filepath.Join(o.home.OwnDir(), base)
	info, err := o.home.FS.Lstat(name)
	if err != nil {
		return err
	}
	made, _ := o.home.HeaderOf(name)
	return o.noteComplete(base, extent.Extent{Bytes: info.Size(), Sum: extent.Sum(o.home.FS, name, info.Size()),
		Last: made.Last})
}

// noteComplete remembers a file that is not written any more, and how it looks.
func (o *Files) noteComplete(base string, e extent.Extent) error {
	info, err := o.home.FS.Lstat(filepath.Join(o.home.OwnDir(), base))
	if err != nil {
		return fmt.Errorf("cannot read a log file: %w", err)
	}
	e.MTime, e.Inode = info.ModTime().UnixNano(), device.InodeOf(info)
	return o.Note(base, e)
}

// ReturnHistories copies from the log under data the histories that are missed, if they are there byte for
// byte as a compaction made them, and returns their paths. What was purged is in none of these: a purge gives
// the histories that it rewrites other names.
func (o *Files) ReturnHistories(data string) (names []string, err error) {
	var left []extent.ShortFile
	for _, f := range o.Missed() {
		back := false
		if err == nil && record.ParseName(f.Name).Kind == record.History {
			back, err = o.returnHistory(data, f)
		}
		if back {
			names = append(names, filepath.Join(o.home.OwnDir(), f.Name))
			continue
		}
		left = append(left, f)
	}
	o.Miss(left)
	return names, err
}

// returnHistory copies a history, and reports whether it did.
func (o *Files) returnHistory(data string, f extent.ShortFile) (bool, error) {
	own := o.home.OwnDir()
	from := filepath.Join(data, "stm", filepath.Base(own), f.Name)
	back, err := extent.Copy(o.home.FS, from, filepath.Join(own, f.Name), f.Was)
	if !back || err != nil {
		return false, err
	}
	return true, o.noteComplete(f.Name, f.Was)
}

// Rebuild makes anew what is damaged of how far files were written, from the files as they are.
func (o *Files) Rebuild() {
	h := o.home
	for base, name := range extent.Damaged(h.FS, h.State, h.Device) {
		h.Logger.Warn("cannot read the write position of a log file; using the size of the file", "file", base,
			"damaged", name)
		f := extent.ShortFile{Name: base, Now: -1}
		if info, err := h.FS.Lstat(filepath.Join(h.OwnDir(), base)); err == nil {
			f.Now = info.Size()
		}
		err := device.KeepDamaged(h.FS, h.State, name)
		if err == nil {
			err = o.expect(f)
		}
		if err != nil {
			h.Logger.Warn("damaged write position of a log file not rebuilt", "file", name, "error", err)
		}
	}
}

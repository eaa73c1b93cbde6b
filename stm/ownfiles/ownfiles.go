// Package ownfiles finds out which log files of this device do not hold what was written to them.
//
// Package extent remembers how far each file was written; here the files are compared with that, at a start
// and while the log runs. A file is one of three:
//
//	whole      as it was written, or on purpose not there; nothing to do
//	damaged    it was whole when the log was opened; a repair writes again what only memory holds of it
//	missed     something of it may be lost: the start found it short, or no repair could make it good
//
// A file that was found whole is not read again while it looks as it did then.
package ownfiles

import (
	"path/filepath"
	"slices"
	"sync"

	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/snapshot"
)

// Files are the log files of this device. Any goroutine may use it.
type Files struct {
	*extent.Files // how far each was written
	home          *device.Home
	ask           func() // for a repair, must not wait; can be nil

	mu     sync.Mutex               // guards what follows
	looks  map[string]snapshot.Mark // how those looked that were found to be whole, by base name
	missed []extent.ShortFile
	hurt   []extent.ShortFile // that are damaged
}

// Open returns the files of a device. ask, if not nil, is called when one of them is found damaged.
func Open(h *device.Home, ask func()) (*Files, error) {
	written, err := extent.Open(h.FS, h.State, h.Device)
	return &Files{Files: written, home: h, ask: ask}, err
}

// Damaged returns the files that are to be made good.
func (o *Files) Damaged() []extent.ShortFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hurt
}

// AskForRepair says that a file is damaged.
func (o *Files) AskForRepair() {
	if o.ask != nil {
		o.ask()
	}
}

// Missed returns the files of which something may be missed.
func (o *Files) Missed() []extent.ShortFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.missed)
}

// Miss sets which files something may be missed of.
func (o *Files) Miss(short []extent.ShortFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.missed = short
}

// Look compares the files and returns those that were damaged since the start. active is the base name of the
// segment that is being written, "" for none.
func (o *Files) Look(active string) []extent.ShortFile {
	short := slices.DeleteFunc(o.Short(active), func(f extent.ShortFile) bool {
		now, known := o.Of(f.Name)
		return !known || now.Bytes != f.Was.Bytes // it was removed on purpose
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurt = slices.DeleteFunc(short, func(f extent.ShortFile) bool {
		return slices.ContainsFunc(o.missed, func(g extent.ShortFile) bool {
			return g.Name == f.Name && g.Now == f.Now && g.Change == f.Change
		})
	})
	return o.hurt
}

// Short returns the files that do not hold what was written to them.
func (o *Files) Short(active string) []extent.ShortFile {
	all, read := o.toBeRead(active)
	short := extent.ShortFiles(o.home.FS, o.home.OwnDir(), all)
	for _, f := range short {
		delete(read, f.Name)
	}
	for base, look := range read {
		o.looked(base, look)
		if e := all[base]; e.MTime != 0 { // it was copied; if this fails, it is read again
			_ = o.noteComplete(base, e)
		}
	}
	return short
}

// toBeRead returns all extents, and how those files look of which the bytes are to be compared. The others have no
// checksum in their extents: the active segment, and what looks as it did when it was found to be whole.
func (o *Files) toBeRead(active string) (all map[string]extent.Extent, read map[string]snapshot.Mark) {
	all, read = o.All(), map[string]snapshot.Mark{}
	for base, e := range all {
		name := filepath.Join(o.home.OwnDir(), base)
		info, err := o.home.FS.Lstat(name)
		if err != nil || e.Sum == 0 {
			continue
		}
		look := snapshot.MarkOf(name, info)
		if active == base || o.isAsItLooked(base, look) || e.MTime == look.MTime && e.Inode == look.Inode {
			e.Sum = 0
			all[base] = e
			continue
		}
		read[base] = look
	}
	return all, read
}

// looked takes note that a file is whole as it looks now.
func (o *Files) looked(base string, m snapshot.Mark) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.looks == nil {
		o.looks = map[string]snapshot.Mark{}
	}
	o.looks[base] = m
}

func (o *Files) isAsItLooked(base string, m snapshot.Mark) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.looks[base] == m
}

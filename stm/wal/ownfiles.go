package wal

import (
	"path/filepath"
	"slices"
	"sync"

	"emberd/stm/extent"
	"emberd/stm/snapshot"
)

// ownFiles is what is known of the files of this device while the log runs.
type ownFiles struct {
	ask func() // for a Refresh, must not wait; can be nil

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

// damagedNow asks for a repair.
func (o *ownFiles) damagedNow() {
	if o.ask != nil {
		o.ask()
	}
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

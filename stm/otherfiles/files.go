package otherfiles

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"emberd/stm/record"
	"emberd/stm/snapshot"
)

// Files are all files that this device did not write. The zero value knows none. Any goroutine may use it.
type Files struct {
	mu    sync.Mutex               // guards what follows
	files map[string]*File         // by path; a folder that cannot be listed is one too
	lost  time.Time                // since when a line that was read may be in no file, zero if none
	kept  map[string][]record.Kept // what headers say, by path
}

// Get returns what is known of a file, the zero value if nothing is.
func (o *Files) Get(name string) File {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.get(name)
}

func (o *Files) get(name string) File {
	if f := o.files[name]; f != nil {
		return *f
	}
	return File{}
}

// Set says what is known of a file.
func (o *Files) Set(name string, f File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set(name, f)
}

func (o *Files) set(name string, f File) {
	if o.files == nil {
		o.files = map[string]*File{}
	}
	o.files[name] = &f
}

// SetUnreadable keeps what is known of the file except how it looked.
func (o *Files) SetUnreadable(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.get(name)
	f.Look, f.Problem = snapshot.Mark{}, Unreadable
	o.set(name, f)
}

// Lose takes note that a file does not hold any more what was read of it.
func (o *Files) Lose(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lose(now)
}

func (o *Files) lose(now time.Time) {
	if o.lost.IsZero() {
		o.lost = now
	}
}

// LostSince is since when a line may be in no file, zero if none is.
func (o *Files) LostSince() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// Regained takes the files as they are: all that was read of them is in some file again. It
// returns those that are gone.
func (o *Files) Regained() (gone []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost = time.Time{}
	for name, f := range o.files {
		switch f.Problem {
		case Vanished:
			gone = append(gone, name)
			delete(o.files, name)
		case Shorter, Altered:
			f.Problem, f.Had, f.Look = Sound, Had{}, snapshot.Mark{} // the snapshot is to say how far it goes now
		}
	}
	return gone
}

// Missing flags the files that were there before and are not among those that are present, and forgets the
// trouble of folders that can be listed again.
func (o *Files) Missing(present map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, f := range o.files {
		switch {
		case !present[name]:
			*f = File{Problem: Vanished}
		case filepath.Ext(name) != ".jsonl":
			delete(o.files, name)
		}
	}
}

// Vanish flags those of some files that an earlier run read and that were not met since, unless a compacted
// file stands for them.
func (o *Files) Vanish(names []string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range names {
		if o.get(name) == (File{}) {
			o.set(name, File{Problem: Vanished})
		}
	}
	maps.DeleteFunc(o.files, func(name string, f *File) bool { return f.Problem == Vanished && o.replaced(name) })
	for _, f := range o.files {
		if f.Problem == Vanished || f.HasLost() {
			o.lose(now)
		}
	}
}

// replaced reports whether a compacted file of the same folder covers the name.
// The lock is held.
func (o *Files) replaced(name string) bool {
	n := record.ParseName(filepath.Base(name))
	if n.Kind == record.Odd {
		return true // a conflict copy that was merged and is tidied away
	}
	for other, f := range o.files {
		if filepath.Dir(other) == filepath.Dir(name) && f.Problem == Sound &&
			record.ParseName(filepath.Base(other)).Covers(n) {
			return true
		}
	}
	return false
}

// Due is when the first line that is held back may be taken, zero if none is.
func (o *Files) Due() (first time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.files {
		if !f.Due.IsZero() && (first.IsZero() || f.Due.Before(first)) {
			first = f.Due
		}
	}
	return first
}

// Keeps remembers what the header of a file says that its device keeps.
func (o *Files) Keeps(name string, kept []record.Kept) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		o.kept = map[string][]record.Kept{}
	}
	if o.kept[name] = kept; len(kept) == 0 {
		delete(o.kept, name)
	}
}

// Claims returns what headers say that devices keep, by path.
func (o *Files) Claims() map[string][]record.Kept {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.kept)
}

// all returns the names of the files in order, and what is known of them.
func (o *Files) all() (names []string, files map[string]File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	files = make(map[string]File, len(o.files))
	for name, f := range o.files {
		files[name] = *f
	}
	return slices.Sorted(maps.Keys(files)), files
}
